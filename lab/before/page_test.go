package before_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/features"
)

// page is the page that this package belongs to.
const page = "../../docs/coming-from.md"

// packages maps the page's section headings to packages.
var packages = map[string][]string{
	"errgroup": {"golang.org/x/sync/errgroup"},
	"conc": {
		"github.com/sourcegraph/conc", "github.com/sourcegraph/conc/pool", "github.com/sourcegraph/conc/iter",
		"github.com/sourcegraph/conc/stream", "github.com/sourcegraph/conc/panics",
	},
	"ants": {"github.com/panjf2000/ants/v2"},
	"pond": {"github.com/alitto/pond/v2"},
	"rill": {"github.com/destel/rill"},
}

var (
	quoted     = regexp.MustCompile("`[^`]+`")
	identifier = regexp.MustCompile(`\w+`)
	bold       = regexp.MustCompile(`\*\*[^*]+\*\*`)
	italic     = regexp.MustCompile(`\*([^*\n]+)\*`)

	// exported matches functions and methods, including those of interfaces, in what "go doc -all" prints.
	exported = regexp.MustCompile(`(?m)^(?:func (?:\(.*?\) )?|\t)([A-Z]\w*)[\[(]`)
)

// A new version of a library fails here if it exports something new.
func TestPageNamesEveryFunction(t *testing.T) {
	sections := sections(t)
	for name, paths := range packages {
		named := identifier.FindAllString(strings.Join(quoted.FindAllString(sections[name], -1), " "), -1)
		for _, path := range paths {
			text, err := exec.Command("go", "doc", "-all", path).Output()
			functions := exported.FindAllSubmatch(text, -1)
			if err != nil || len(functions) == 0 {
				t.Fatalf("%s exports no function: %v", path, err)
			}
			for _, m := range functions {
				if f := string(m[1]); !slices.Contains(named, f) {
					t.Errorf("%s: %s of %s is not in the section on %s; say what it becomes, or that nothing does", page, f, path, name)
				}
			}
		}
	}
}

func TestPageNamesRowsThatExist(t *testing.T) {
	table, err := features.All()
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, section := range sections(t) {
		for _, m := range italic.FindAllStringSubmatch(bold.ReplaceAllString(section, ""), -1) {
			rows++
			if !slices.ContainsFunc(table.Features, func(f features.Feature) bool { return f.Name == m[1] }) {
				t.Errorf("%s: *%s* is no row of the table of features", page, m[1])
			}
		}
	}
	if rows == 0 {
		t.Errorf("%s names no row of the table of features", page)
	}
}

// sections returns the sections of the page by heading, without code blocks.
func sections(t *testing.T) map[string]string {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	heading, fenced := "", false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if h, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.TrimSpace(h)
		} else if !fenced {
			out[heading] += line
		}
	}
	return out
}

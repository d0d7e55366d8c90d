package before_test

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
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
)

// A new version of a library fails here if it exports something new.
func TestPageNamesEveryFunction(t *testing.T) {
	sections := sections(t)
	for name, paths := range packages {
		var named []string
		for _, code := range quoted.FindAllString(sections[name], -1) {
			named = append(named, identifier.FindAllString(code, -1)...)
		}
		for _, path := range paths {
			for _, f := range functions(t, path) {
				if !slices.Contains(named, f) {
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
	known := map[string]bool{}
	for _, f := range table.Features {
		known[f.Name] = true
	}
	rows := 0
	for _, section := range sections(t) {
		for _, m := range italic.FindAllStringSubmatch(bold.ReplaceAllString(section, ""), -1) {
			rows++
			if !known[m[1]] {
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

// functions returns the names of a package's exported functions and methods,
// including those of interfaces.
func functions(t *testing.T, path string) []string {
	t.Helper()
	where, err := build.Import(path, ".", 0)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range where.GoFiles {
		file, err := parser.ParseFile(fset, where.Dir+"/"+name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := doc.NewFromFiles(fset, files, path)
	if err != nil {
		t.Fatal(err)
	}
	out := names(p.Funcs)
	for _, typ := range p.Types {
		out = slices.Concat(out, names(typ.Funcs), names(typ.Methods), required(typ.Decl))
	}
	if len(out) == 0 {
		t.Fatalf("%s exports no function", path)
	}
	return out
}

// names returns the names of functions.
func names(funcs []*doc.Func) []string {
	var out []string
	for _, f := range funcs {
		out = append(out, f.Name)
	}
	return out
}

// required returns the methods of an interface type.
func required(d *ast.GenDecl) []string {
	var out []string
	for _, s := range d.Specs {
		i, ok := s.(*ast.TypeSpec).Type.(*ast.InterfaceType)
		if !ok {
			continue
		}
		for _, m := range i.Methods.List {
			for _, name := range m.Names {
				out = append(out, name.Name)
			}
		}
	}
	return out
}

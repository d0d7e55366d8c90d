package house

import (
	"go/ast"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unfenced returns the lines of a Markdown text, with those of fenced blocks empty.
func unfenced(text string) []string {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		edge := strings.HasPrefix(strings.TrimSpace(line), fence)
		if fenced || edge {
			lines[i] = ""
		}
		fenced = fenced != edge
	}
	return lines
}

func TestLinksLeadSomewhere(t *testing.T) {
	with := func(text string) map[string]string {
		return map[string]string{"docs/a.md": text, "docs/b c.md": "# B: the `c`\n", "x.go": "package x\n", "docs/design/a.md": ""}
	}
	verify(t, deadLinks,
		sample{"clean", with("[b](b%20c.md#b-the-c) [w](https://example.org/a.md) [#](#part-two) [x](../x.go#L3) [d](design/) [/](/x.go) ![i](<b c.md>)\n\n[r]: ../x.go\n\n## Part *two*\n"), ""},
		sample{"code", with("`[a](none.md)`\n" + fence + "\n[a](none.md)\n" + fence + "\n"), ""},
		sample{"anchor", with("[p](#part)\n"), "docs/a.md:1: the link to #part leads nowhere"},
		sample{"anchor elsewhere", with("[p](b%20c.md#c)\n"), "docs/a.md:1: the link to b%20c.md#c leads nowhere"},
		sample{"dead", with("\n[`b`](b.md)\n"), "docs/a.md:2: the link to b.md leads nowhere"},
	)
}

var (
	// link is an inline link or image, or the definition of a reference.
	link = regexp.MustCompile(`\]\((?:<([^>]*)>|([^)\s]+))|^ {0,3}\[[^\]]+\]:\s+(\S+)`)
	// span is code in a line.
	span = regexp.MustCompile("`[^`]*`")
)

// deadLinks checks that relative links in Markdown files lead to files of the repository.
func deadLinks(t *tree) []string {
	var bad []string
	for _, f := range t.markdown() {
		for i, line := range unfenced(f.text) {
			for _, m := range link.FindAllStringSubmatch(span.ReplaceAllString(line, "code"), -1) {
				if target := m[1] + m[2] + m[3]; !f.leads(target) {
					bad = append(bad, f.on(i+1, "the link to %s leads nowhere", target))
				}
			}
		}
	}
	return bad
}

// leads reports whether a link in f leads out of the repository, or to a file and a heading
// of it.
func (f *file) leads(target string) bool {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return err == nil
	}
	name := path.Join(f.dir(), u.Path)
	if rest, ok := strings.CutPrefix(u.Path, "/"); ok {
		name = path.Clean(rest)
	}
	if u.Path == "" {
		name = f.path
	}
	if u.Fragment == "" || path.Ext(name) != ".md" {
		_, err = fs.Stat(f.tree.fsys, name)
		return err == nil
	}
	text, err := fs.ReadFile(f.tree.fsys, name)
	return err == nil && slices.Contains(anchors(string(text)), u.Fragment)
}

var (
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	// dropped is what an anchor leaves out of a heading.
	dropped = regexp.MustCompile(`\]\([^)]*\)|[^\p{L}\p{N} _-]`)
)

// anchors returns the names by which links reach the headings of a Markdown text.
func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(strings.Join(unfenced(text), "\n"), -1) {
		out = append(out, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), ""), " ", "-"))
	}
	return out
}

var (
	testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	// quotedTest is a test in backticks, with the file that a link on it leads to.
	quotedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)(?:/[^`]*)?`(?:\\]\\(([^)#]*)[^)]*\\))?")
)

// guarantees is how many guarantees the library gives, on their page.
const (
	guarantees     = 11
	guaranteesPage = "docs/guarantees.md"
)

func TestGuaranteesNameTheirTests(t *testing.T) {
	with := func(readme string) map[string]string {
		return map[string]string{"README.md": readme, guaranteesPage: strings.Repeat("| a | `TestA` |\n", guarantees), "a_test.go": "package stint\n\nfunc TestA() {}\n", "par/b_test.go": "package par\n\nfunc FuzzB() {}\n"}
	}
	verify(t, namedTests,
		sample{"clean", with("`TestA`, `TestA/sub`, [`FuzzB`](par/b_test.go), `Testing`\n"), ""},
		sample{"gone", with("\n`TestGone`\n"), "README.md:2: TestGone"},
		sample{"one guarantee", map[string]string{guaranteesPage: "| a | `TestA` |\n", "a_test.go": "package stint\n\nfunc TestA() {}\n"}, "docs/guarantees.md:1: 1 guarantees"},
		sample{"wrong file", with("[`TestA`](par/b_test.go)\n"), "README.md:1: TestA"},
		sample{"security", one("SECURITY.md", "## What a role can do\n\n| role | it can |\n|---|---|\n| `x` | all |\n"), "SECURITY.md:5: no test"},
		sample{"doc", one("internal/conformance/doc.go", "// Package a does.\n//\n// See TestGone.\npackage a\n"), "internal/conformance/doc.go:3: TestGone"},
	)
}

// namedTests checks that a test of each guarantee is named, and that the tests which the page of guarantees, ARCHITECTURE.md, SECURITY.md, READMEs
// and doc.go files name exist, where links on them lead.
func namedTests(t *tree) []string {
	tests := map[string][]string{}
	for _, f := range t.golang(func(f *file) bool { return f.test() && f.module() != "lab" }) {
		for _, d := range f.syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil {
				tests[d.Name.Name] = append(tests[d.Name.Name], f.path)
			}
		}
	}
	var bad []string
	for _, f := range t.files {
		isDoc := path.Base(f.path) == "doc.go" && f.module() == "."
		if !isDoc && f.path != "ARCHITECTURE.md" && f.path != "SECURITY.md" && f.path != guaranteesPage && (path.Base(f.path) != "README.md" || f.module() == "lab") {
			continue
		}
		heading, rows := "", 0
		for i, line := range strings.Split(f.text, "\n") {
			if strings.HasPrefix(line, "## ") {
				heading = line
			}
			if strings.HasPrefix(line, "|") && quotedTest.MatchString(line) {
				rows++
			}
			if inRoles := f.path == "SECURITY.md" && heading == "## What a role can do"; inRoles && strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| role") && !quotedTest.MatchString(line) {
				bad = append(bad, f.on(i+1, "no test of what the role can do"))
			}
			if isDoc {
				line = testName.ReplaceAllString(line, "`$0`")
			}
			for _, m := range quotedTest.FindAllStringSubmatch(line, -1) {
				if files := tests[m[1]]; len(files) == 0 || m[2] != "" && !slices.Contains(files, path.Join(f.dir(), m[2])) {
					bad = append(bad, f.on(i+1, "%s is not a test there; it is in %q", m[1], files))
				}
			}
		}
		if f.path == guaranteesPage && rows != guarantees {
			bad = append(bad, f.on(1, "%d guarantees with a test, want %d", rows, guarantees))
		}
	}
	return bad
}

func TestReadmesNameWhatExists(t *testing.T) {
	with := func(readme string) map[string]string {
		return map[string]string{"par/README.md": readme, "par/a.go": "package par\n\ntype team struct{ mu int }\n\nfunc (t *team) lead() {}\n", "README.md": "`gone`\n"}
	}
	verify(t, goneNames,
		sample{"clean", with("`team.lead`, `lead()`, `mu`, `-count 5`, `x + 1`, `go test`\n" + fence + "\n`gone`\n" + fence + "\n"), ""},
		sample{"gone", with("\n`follow` the lead\n"), "par/README.md:2: follow is the name of nothing"},
		sample{"gone method", with("`team.follow`\n"), "par/README.md:1: team.follow is the name of nothing"},
	)
}

// identifier is a span that can be the name of something in Go code.
var identifier = regexp.MustCompile("`((?:[A-Za-z_]\\w*\\.)*([A-Za-z_]\\w*))(?:\\(\\))?`")

// goneNames checks that each name in the READMEs of packages, and in ARCHITECTURE.md, is in
// the code: as a name, or as a word of a string.
func goneNames(t *tree) []string {
	known := map[string]bool{}
	for _, f := range t.golang(all) {
		known[strings.TrimSuffix(path.Base(f.path), ".go")] = true
		for n := range ast.Preorder(f.syntax) {
			switch n := n.(type) {
			case *ast.Ident:
				known[n.Name] = true
			case *ast.BasicLit:
				for _, word := range regexp.MustCompile(`\w+`).FindAllString(n.Value, -1) {
					known[word] = true
				}
			}
		}
	}
	var bad []string
	for _, f := range t.markdown() {
		if f.path != "ARCHITECTURE.md" && (path.Base(f.path) != "README.md" || f.dir() == "." || f.dir() == "docs") {
			continue
		}
		for i, line := range unfenced(f.text) {
			for _, m := range identifier.FindAllStringSubmatch(line, -1) {
				if !known[m[2]] {
					bad = append(bad, f.on(i+1, "%s is the name of nothing", m[1]))
				}
			}
		}
	}
	return bad
}

func TestStepsAreDocumented(t *testing.T) {
	with := func(text string) map[string]string {
		return map[string]string{".ci/run": "step_a() {\n}\nstep_b() { :; }\n", "CONTRIBUTING.md": text}
	}
	verify(t, hiddenSteps,
		sample{"clean", with("steps: a, b, c.\n"), ""},
		sample{"hidden", with("steps: b.\n"), "CONTRIBUTING.md:1: does not name the step a"},
	)
}

// hiddenSteps checks that CONTRIBUTING.md names all steps of the gate.
func hiddenSteps(t *tree) []string {
	text := map[string]string{}
	for _, f := range t.files {
		text[f.path] = f.text
	}
	var bad []string
	for _, m := range regexp.MustCompile(`(?m)^step_(\w+)\(\)`).FindAllStringSubmatch(text[".ci/run"], -1) {
		if !regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(text["CONTRIBUTING.md"]) {
			bad = append(bad, "CONTRIBUTING.md:1: does not name the step "+m[1])
		}
	}
	return bad
}

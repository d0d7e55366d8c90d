package house

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guarantees is how many guarantees the library gives. The README lists them
// under a heading with that word, each with the tests that hold it.
const guarantees = 11

// testName is a test or a fuzz target, named in prose.
var testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)

// quotedTest is a test in backticks, perhaps the text of a link to its file.
var quotedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)(?:/[^`]*)?`(?:\\]\\(([^)#]*)[^)]*\\))?")

func TestNamedTestsExist(t *testing.T) {
	with := func(readme, doc string) map[string]string {
		return map[string]string{
			"README.md":     readme,
			"doc.go":        doc + "package stint\n",
			"a_test.go":     "package stint\n\nfunc TestA() {}\n",
			"par/b_test.go": "package par\n\nfunc FuzzB() {}\n\nfunc (x) TestM() {}\n",
		}
	}
	page := func(name, text string) map[string]string {
		files := with("", "")
		files[name] = text
		return files
	}
	verify(t, namedTests,
		sample{"clean", with("`TestA`, `TestA/sub`, [`FuzzB`](par/b_test.go)\n", "// Package stint: TestA.\n"), ""},
		sample{"prose", with("TestGone is history; `Testing`, `go test`\n", ""), ""},
		sample{"cluster", map[string]string{"cluster/go.mod": "", "cluster/a_test.go": "package cluster\n\nfunc TestC() {}\n", "README.md": "`TestC`\n"}, ""},
		sample{"lab", map[string]string{"lab/go.mod": "", "lab/a_test.go": "package lab\n\nfunc TestL() {}\n", "README.md": "`TestL`\n"}, "README.md:1: `TestL`"},
		sample{"gone", with("\n`TestGone`\n", ""), "README.md:2: `TestGone`"},
		sample{"method", with("`TestM`\n", ""), "README.md:1: `TestM`"},
		sample{"wrong file", with("[`TestA`](par/b_test.go)\n", ""), "README.md:1: `TestA` is in a_test.go, the link leads to par/b_test.go"},
		sample{"doc", with("", "// Package stint does.\n//\n// See TestGone.\n"), "doc.go:3: `TestGone`"},
		sample{"architecture", page("ARCHITECTURE.md", "`TestA`, `TestGone`\n"), "ARCHITECTURE.md:1: `TestGone`"},
		sample{"pitfalls", page("pitfalls_test.go", "package stint\n\n// 1 TestA\n// 2 TestGone\n"), "pitfalls_test.go:4: `TestGone`"},
		sample{"another test", page("c_test.go", "package stint\n\n// TestGone was here.\n"), ""},
	)
}

// namedTests checks that the tests which README.md, ARCHITECTURE.md, doc.go files
// and the table of pitfalls name exist in the root module or those of cluster, and that links on them
// lead to their files.
func namedTests(t *tree) []string {
	var bad []string
	tests := t.tests()
	for _, f := range t.files {
		switch {
		case f.path == "README.md" || f.path == "ARCHITECTURE.md":
			for i, line := range strings.Split(f.text, "\n") {
				for _, m := range quotedTest.FindAllStringSubmatch(line, -1) {
					bad = append(bad, f.testExists(i+1, m[1], m[2], tests)...)
				}
			}
		case f.path == "pitfalls_test.go" || path.Base(f.path) == "doc.go" && t.library(f):
			for _, c := range f.syntax.Comments {
				for i, line := range strings.Split(f.text[f.offset(c.Pos()):f.offset(c.End())], "\n") {
					for _, name := range testName.FindAllString(line, -1) {
						bad = append(bad, f.testExists(f.line(c.Pos())+i, name, "", tests)...)
					}
				}
			}
		}
	}
	return bad
}

// testExists checks one name of a test, and the link on it if there is one.
func (f *file) testExists(line int, name, link string, tests map[string][]string) []string {
	where := tests[name]
	switch {
	case len(where) == 0:
		return []string{f.on(line, "`%s` is no test of the root module, nor of cluster; write it, or name the one that is meant", name)}
	case link != "" && !slices.Contains(where, path.Clean(link)):
		return []string{f.on(line, "`%s` is in %s, the link leads to %s; correct the link", name, strings.Join(where, " and "), link)}
	}
	return nil
}

// tests returns the tests and fuzz targets of the root module and of cluster, with the files
// that hold one of that name.
func (t *tree) tests() map[string][]string {
	out := map[string][]string{}
	named := func(f *file) bool {
		module := t.module(f.path)
		return f.test() && (module == "." || covers("cluster/...", module))
	}
	for _, f := range t.golang(named) {
		for _, d := range f.syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && testName.MatchString(d.Name.Name) {
				out[d.Name.Name] = append(out[d.Name.Name], f.path)
			}
		}
	}
	return out
}

func TestGuaranteesNameTheirTests(t *testing.T) {
	with := func(rows ...string) map[string]string {
		return map[string]string{"README.md": "# stint\n\n- no guarantee\n\n## What is guaranteed\n\nIt is:\n\n" + strings.Join(rows, "\n") + "\n\n### Not guaranteed\n\n## Costs\n\n- none\n"}
	}
	try(t, guaranteed(2),
		sample{"table", with("| what | test |", "|---|---|", "| one | `TestA` |", "| two | [`TestB`](b_test.go) |"), ""},
		sample{"list", with("1. one", "   and more: `TestA`", "2. two: `TestB`"), ""},
		sample{"missing", map[string]string{}, "README.md:1: missing"},
		sample{"no heading", map[string]string{"README.md": "# stint\n"}, "README.md:1: no heading with the word guarantee"},
		sample{"no test", with("- one", "- two: `TestB`"), "README.md:9: a guarantee without a test"},
		sample{"too few", with("- one: `TestA`"), "README.md:5: 1 guarantees, want 2"},
	)
	hold(t, guaranteed(guarantees))
}

// heading is a heading of Markdown.
var heading = regexp.MustCompile(`^(#+) +(.*)`)

// guaranteed checks that the README lists the guarantees, a table row or a
// list item each, and names a test in each. Their section ends at the next
// heading of any level.
func guaranteed(want int) func(*tree) []string {
	return func(t *tree) []string {
		readme := t.file("README.md")
		if readme == nil {
			return []string{"README.md:1: missing; write it, the guarantees are listed there"}
		}
		lines := strings.Split(readme.text, "\n")
		top := slices.IndexFunc(lines, func(line string) bool {
			m := heading.FindStringSubmatch(line)
			return m != nil && strings.Contains(strings.ToLower(m[2]), "guarantee")
		})
		if top < 0 {
			return []string{"README.md:1: no heading with the word guarantee; list the guarantees under one, each with its tests"}
		}
		var bad []string
		items := items(lines, top+1)
		for _, it := range items {
			if !quotedTest.MatchString(it.text) {
				bad = append(bad, readme.on(it.line, "a guarantee without a test; name in backticks the test that holds it"))
			}
		}
		if len(items) != want {
			bad = append(bad, readme.on(top+1, "%d guarantees, want %d; list each once, or correct the number in the house test", len(items), want))
		}
		return bad
	}
}

// item begins an item of a list, or a row of a table.
var item = regexp.MustCompile(`^([-*+] |\d+[.)] |\|)`)

// An entry is an item of a list with the lines that go on with it, or a row of
// a table.
type entry struct {
	text string
	line int
}

// items returns the entries from a line on to the next heading. The head of a
// table and the line below it are none.
func items(lines []string, from int) []entry {
	var out []entry
	for i, line := range lines[from:] {
		switch {
		case heading.MatchString(line):
			return out
		case strings.HasPrefix(line, "|-") || strings.HasPrefix(line, "| -") || strings.HasPrefix(line, "|:"):
			out = out[:max(len(out)-1, 0)]
		case item.MatchString(line):
			out = append(out, entry{line, from + i + 1})
		case len(out) > 0 && line != "":
			out[len(out)-1].text += "\n" + line
		}
	}
	return out
}

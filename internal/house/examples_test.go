package house

import (
	"go/ast"
	"go/doc"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unshown are exported names without an Example, with the reason.
var unshown = map[string]string{
	"cluster.Replicas": "needs three servers; the tests of cluster have them",
	"cluster.Start":    "is for packages that embed a server; embedded.Open calls it",
}

// hosts are where the Examples of a package are, if not beside it. A file of Examples there
// that refers to a function shows it.
var hosts = map[string]string{
	"cluster": "cluster/embedded/...", // has no server
}

func TestExamples(t *testing.T) {
	with := func(examples string) map[string]string {
		return map[string]string{
			"par/a.go":      "package par\n\n// F does.\nfunc F[T any]() {}\n\n// T is.\ntype T struct{}\n",
			"par/a_test.go": "package par_test\n\n" + examples,
		}
	}
	const output = "{\n\t// Output:\n}\n\n"
	verify(t, examples,
		sample{"clean", with("func ExampleF() " + output + "func ExampleT_M() " + output), ""},
		sample{"no output", with("func ExampleF() " + output + "func ExampleT() {}"), "par/a_test.go:7: ExampleT has no output"},
		sample{"function", with("func ExampleFoo() " + output + "func ExampleT() " + output), "par/a.go:4: par.F has no Example"},
		sample{"comment", map[string]string{"internal/a/a.go": "package a\n\nfunc F() {}\n"}, "internal/a/a.go:3: a.F has no comment"},
		sample{"host", map[string]string{"cluster/a.go": "package cluster\n\n// F does.\nfunc F() {}\n", "cluster/embedded/example_test.go": use("cluster") + "func ExampleOpen() {\n\tcluster.F()\n\t// Output:\n}\n"}, ""},
	)
}

// examples checks that each exported function and type of a released module has a comment,
// that each of the packages callers import has an Example, and that Examples are run. An
// Example of a method shows its type. How a comment begins is for staticcheck.
func examples(t *tree) []string {
	var bad []string
	for _, f := range t.golang(func(f *file) bool { return slices.Contains(released, f.module()) }) {
		for _, e := range doc.Examples(f.syntax) {
			if e.Output == "" && !e.EmptyOutput && f.test() {
				bad = append(bad, f.at(e.Code, "Example%s has no output, so it is never run", e.Name))
			}
		}
		for _, d := range f.syntax.Decls {
			id, comment := declared(d)
			if f.test() || id == nil || !id.IsExported() || f.syntax.Name.Name == "main" {
				continue
			}
			name := f.syntax.Name.Name + "." + id.Name
			_, isFunc := d.(*ast.FuncDecl)
			if comment == nil {
				bad = append(bad, f.at(id, "%s has no comment", name))
			}
			if slices.Contains(public, f.dir()) && unshown[name] == "" && (isFunc || hosts[f.dir()] == "") && !f.shows(id.Name) {
				bad = append(bad, f.at(id, "%s has no Example", name))
			}
		}
	}
	return bad
}

// shows reports whether an Example shows a name of the package of f.
func (f *file) shows(name string) bool {
	example := regexp.MustCompile(`(?m)^func Example` + name + `(_\w*)?\(`)
	use := regexp.MustCompile(`\b` + f.syntax.Name.Name + `\.` + name + `\b`)
	return slices.ContainsFunc(f.tree.golang((*file).test), func(g *file) bool {
		return g.dir() == f.dir() && example.MatchString(g.text) ||
			hosts[f.dir()] != "" && covers(hosts[f.dir()], g.dir()) && strings.HasPrefix(path.Base(g.path), "example") && use.MatchString(g.text)
	})
}

// fence begins and ends a block of code in Markdown.
const fence = "```"

func TestCodeInTextsIsCompiled(t *testing.T) {
	in := func(code string) map[string]string {
		return map[string]string{
			"docs/a.md":     "# stint\n\n" + fence + "go\n" + code + fence + "\n\n" + fence + "sh\nls\n" + fence + "\n",
			"par/a_test.go": "package par_test\n\nfunc ExampleF() {\n\tf()\n\t// Output:\n\t// 1\n}\n\n// TestF does.\nfunc TestF(t *testing.T) {\n\tg(t)\n}\n",
		}
	}
	verify(t, codeInTexts,
		sample{"example", in("f()\n"), ""},
		sample{"test", in("func TestF(t *testing.T) {\n\tg(t)\n}\n"), ""},
		sample{"file", in("package par_test\n\nfunc ExampleF() {\n\tf()\n\t// Output:\n\t// 1\n}\n\n// TestF does.\nfunc TestF(t *testing.T) {\n\tg(t)\n}\n"), ""},
		sample{"other", in("f(1)\n"), "docs/a.md:4: no Example, declaration or file has this code"},
	)
}

// outputComment is the end of an Example.
var outputComment = regexp.MustCompile(`(?im)^\s*//\s*(unordered )?output:(.*\n?\s*//)*.*\s*\z`)

// tidy returns the words of code, without the output comment.
func tidy(code string) string {
	return strings.Join(strings.Fields(outputComment.ReplaceAllString(strings.TrimSpace(code), "")), " ")
}

// codeInTexts checks that each Go block of README.md, ARCHITECTURE.md and docs is the body
// of an Example, a declaration, or a file: it is compiled, and the output of an Example is checked.
func codeInTexts(t *tree) []string {
	known := map[string]bool{}
	for _, f := range t.golang(func(f *file) bool { return slices.Contains(released, f.module()) || f.module() == "lab" }) {
		known[tidy(f.source(f.syntax.Package, f.syntax.FileEnd))] = true
		for _, d := range f.syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(d.Name.Name, "Example") {
				known[tidy(f.source(d.Body.Lbrace+1, d.Body.Rbrace))] = true
			}
			known[tidy(f.source(d.Pos(), d.End()))] = true
			if _, comment := declared(d); comment != nil {
				known[tidy(f.source(comment.Pos(), d.End()))] = true
			}
		}
	}
	var bad []string
	for _, f := range t.markdown() {
		if f.dir() != "docs" && f.path != "README.md" && f.path != "ARCHITECTURE.md" {
			continue
		}
		line := 1
		for i, part := range strings.Split(f.text, fence) {
			if code, ok := strings.CutPrefix(part, "go\n"); ok && i%2 == 1 && !known[tidy(code)] {
				bad = append(bad, f.on(line+1, "no Example, declaration or file has this code; make the two the same"))
			}
			line += strings.Count(part, "\n")
		}
	}
	return bad
}

// declared returns the name of a function or a type, and its comment.
func declared(d ast.Decl) (*ast.Ident, *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name, d.Doc
		}
	case *ast.GenDecl:
		if d.Tok == token.TYPE && len(d.Specs) == 1 {
			return d.Specs[0].(*ast.TypeSpec).Name, d.Doc
		}
	}
	return nil, nil
}

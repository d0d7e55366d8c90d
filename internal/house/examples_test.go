package house

import (
	"go/ast"
	"go/doc"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestExamplesAreChecked(t *testing.T) {
	one := func(body string) map[string]string {
		return map[string]string{"par/a_test.go": "package par\n\nfunc ExampleF() {\n" + body + "}\n"}
	}
	verify(t, unchecked,
		sample{"output", one("\tf()\n\t// Output: 1\n"), ""},
		sample{"empty", one("\tf()\n\t// Output:\n"), ""},
		sample{"unordered", one("\tf()\n\t// Unordered output: 1\n"), ""},
		sample{"none", one("\tf()\n"), "par/a_test.go:3: ExampleF has no output"},
		sample{"not last", one("\t// Output: 1\n\tf()\n\t// End.\n"), "par/a_test.go:3: ExampleF has no output"},
		sample{"other module", map[string]string{"cluster/go.mod": "", "cluster/a_test.go": "package cluster\n\nfunc ExampleF() {}\n"}, "cluster/a_test.go:3: ExampleF has no output"},
		sample{"lab", map[string]string{"lab/go.mod": "", "lab/a_test.go": "package lab\n\nfunc ExampleF() {}\n"}, ""},
	)
}

// unchecked checks that each Example of what callers import has an output,
// without which it is compiled but not run.
func unchecked(t *tree) []string {
	var bad []string
	for _, f := range t.golang(func(f *file) bool { return f.test() && slices.Contains(released, t.module(f.path)) }) {
		for _, e := range doc.Examples(f.syntax) {
			if e.Output == "" && !e.EmptyOutput {
				d := f.function("Example" + e.Name)
				bad = append(bad, f.at(d, "Example%s has no output, so it is never run; end it with an // Output: comment", e.Name))
			}
		}
	}
	return bad
}

// function returns the declaration of a function of f.
func (f *file) function(name string) ast.Node {
	for _, d := range f.syntax.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == name {
			return d
		}
	}
	return f.syntax.Name
}

// unshown are exported names without an Example, with the reason, as
// "par.Range".
var unshown = map[string]string{
	"cluster.Replicas": "needs three servers; the tests of cluster have them",
}

// guests are packages whose Examples are in others. One that calls a function shows it,
// and types are shown by what takes and returns them.
var guests = map[string]string{
	"cluster": "cluster/embedded/...", // has no server, and so nothing to run on
}

func TestEverythingHasAnExample(t *testing.T) {
	with := func(examples string) map[string]string {
		return map[string]string{
			"par/a.go":      "package par\n\nfunc F[T any]() {}\n\ntype T struct{}\n\nfunc (T) M() {}\n\nfunc G() {}\n",
			"par/a_test.go": "package par_test\n\n" + examples,
		}
	}
	try(t, unexampled(map[string]string{"par.G": "why"}),
		sample{"clean", with("func ExampleF() {}\n\nfunc ExampleT() {}\n"), ""},
		sample{"suffix", with("func ExampleF_twice() {}\n\nfunc ExampleT_M_twice() {}\n"), ""},
		sample{"function", with("func ExampleFoo() {}\n\nfunc ExampleT() {}\n"), "par/a.go:3: par.F has no Example"},
		sample{"type", with("func ExampleF() {}\n"), "par/a.go:5: par.T has no Example"},
		sample{"unused row", with("func ExampleF() {}\n\nfunc ExampleT() {}\n\nfunc ExampleG() {}\n"), "par.G has an Example by now"},
	)
	hold(t, unexampled(unshown))
}

// unexampled checks that each exported function and type of the public
// packages has an Example. For a type the Example of a method is enough.
func unexampled(unshown map[string]string) func(*tree) []string {
	return func(t *tree) []string {
		var bad []string
		for _, dir := range public {
			if guests[dir] != "" {
				continue
			}
			shown := t.examples(dir)
			for _, f := range t.golang(func(f *file) bool { return f.dir() == dir && !f.test() }) {
				for _, id := range f.functionsAndTypes() {
					has := slices.ContainsFunc(shown, func(e string) bool {
						return e == id.Name || strings.HasPrefix(e, id.Name+"_")
					})
					bad = append(bad, f.exampled(id, has, unshown, "write func Example"+id.Name+" in a test file of its package")...)
				}
			}
		}
		return bad
	}
}

// exampled compares whether a name of f has an Example with the list of those that
// need none.
func (f *file) exampled(id *ast.Ident, has bool, unshown map[string]string, advice string) []string {
	name := f.syntax.Name.Name + "." + id.Name
	switch listed := unshown[name] != ""; {
	case !has && !listed:
		return []string{f.at(id, "%s has no Example; %s", name, advice)}
	case has && listed:
		return []string{f.at(id, "%s has an Example by now; remove it from the list", name)}
	}
	return nil
}

// examples returns the names of a package's Examples, without the word.
func (t *tree) examples(dir string) []string {
	var names []string
	for _, f := range t.golang(func(f *file) bool { return f.dir() == dir && f.test() }) {
		for _, e := range doc.Examples(f.syntax) {
			names = append(names, e.Name)
		}
	}
	return names
}

func TestGuestsAreShown(t *testing.T) {
	with := func(body string) map[string]string {
		return map[string]string{
			"cluster/a.go":       "package cluster\n\nfunc F() {}\n\ntype T struct{}\n\nfunc (T) M() {}\n\nfunc G() {}\n",
			"cluster/a_test.go":  "package cluster\n\nfunc ExampleF() {}\n",
			"embedded/a_test.go": use("cluster") + "\nfunc ExampleOpen() {\n\t" + body + "\n}\n\nfunc TestF() { cluster.F() }\n",
			"other/a_test.go":    use("cluster") + "\nfunc ExampleF() { cluster.F() }\n",
		}
	}
	try(t, unvisited(map[string]string{"cluster": "embedded/..."}, map[string]string{"cluster.G": "why"}),
		sample{"clean", with("cluster.F()"), ""},
		sample{"inside", with("go func() { f(cluster.F[int]) }()"), ""},
		sample{"not called", with("F()"), "cluster/a.go:3: cluster.F has no Example; call it in one of embedded/..."},
		sample{"unused row", with("cluster.F(cluster.G)"), "cluster.G has an Example by now"},
	)
	hold(t, unvisited(guests, unshown))
}

// unvisited checks that each exported function of the guests is called by an Example of
// the packages that show it.
func unvisited(guests, unshown map[string]string) func(*tree) []string {
	return func(t *tree) []string {
		var bad []string
		for dir, host := range guests {
			called := t.called(host, dir)
			for _, f := range t.golang(func(f *file) bool { return f.dir() == dir && !f.test() }) {
				for _, id := range f.functionsAndTypes() {
					if _, ok := f.function(id.Name).(*ast.FuncDecl); ok {
						bad = append(bad, f.exampled(id, called[id.Name], unshown, "call it in one of "+host)...)
					}
				}
			}
		}
		return bad
	}
}

// called returns the names of the package in dir that Examples of host refer to.
func (t *tree) called(host, dir string) map[string]bool {
	names := map[string]bool{}
	for _, f := range t.golang(func(f *file) bool { return f.test() && covers(host, f.dir()) }) {
		for _, e := range doc.Examples(f.syntax) {
			ast.Inspect(f.function("Example"+e.Name), func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && f.refers(sel, path.Join(modulePath, dir)) {
					names[sel.Sel.Name] = true
				}
				return true
			})
		}
	}
	return names
}

// functionsAndTypes returns the exported ones that f declares; methods are no
// functions here.
func (f *file) functionsAndTypes() []*ast.Ident {
	var out []*ast.Ident
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if d.Tok == token.TYPE {
					out = append(out, s.(*ast.TypeSpec).Name)
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(id *ast.Ident) bool { return !id.IsExported() })
}

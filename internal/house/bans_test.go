package house

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// polling are the calls that wait for a moment instead of an event.
var polling = []string{"Sleep", "After", "Tick", "NewTicker"}

// pollers are the library files that may use one, with the reason.
var pollers = map[string]string{}

func TestNothingPolls(t *testing.T) {
	small := map[string]string{"a.go": "why"}
	try(t, polls(small),
		sample{"listed", map[string]string{"a.go": start("time.Sleep(1)")}, ""},
		sample{"not ours", map[string]string{"a.go": start("time.After(1)"), "lab/go.mod": "", "lab/a.go": start("time.Sleep(1)"), "a_test.go": start("time.Sleep(1)")}, ""},
		sample{"sleep", map[string]string{"a.go": start("time.Tick(1)"), "par/a.go": start("time.Sleep(1)")}, "par/a.go:6: time.Sleep"},
		sample{"renamed", map[string]string{"a.go": start("time.Sleep(1)"), "b.go": "package p\nimport tm \"time\"\nvar a = tm.After\n"}, "b.go:3: time.After"},
		sample{"unused row", map[string]string{"a.go": start("")}, "a.go:1: polls no more"},
	)
	hold(t, polls(pollers))
}

// polls checks that library code waits for events only: it runs in the test
// bubbles of its users, where a poll makes the time run away.
func polls(pollers map[string]string) func(*tree) []string {
	return func(t *tree) []string {
		return t.listed(t.library, pollers, "polls no more", func(f *file, n ast.Node) string {
			if f.refers(n, "time", polling...) {
				return "time." + n.(*ast.SelectorExpr).Sel.Name + " polls; wait for the event on a channel, a Cond or a WaitGroup, or use a Timer that is stopped"
			}
			return ""
		})
	}
}

// listed walks the files that ok accepts and returns what fault says of their
// nodes, except in listed files, of which it wants at least one fault.
func (t *tree) listed(ok func(*file) bool, list map[string]string, gone string, fault func(*file, ast.Node) string) []string {
	var bad []string
	used := map[string]bool{}
	for _, f := range t.golang(ok) {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if n == nil {
				return false
			}
			if what := fault(f, n); what != "" && list[f.path] == "" {
				bad = append(bad, f.at(n, "%s", what))
			} else if what != "" {
				used[f.path] = true
			}
			return true
		})
	}
	for name := range list {
		if !used[name] {
			bad = append(bad, name+":1: "+gone+"; remove it from the list")
		}
	}
	slices.Sort(bad)
	return bad
}

// unsafes are the files that may import unsafe or use go:linkname, with what
// was measured without.
var unsafes = map[string]string{}

func TestNothingIsUnsafe(t *testing.T) {
	small := map[string]string{"a.go": "why"}
	const imports = "package p\n\nimport \"unsafe\"\n"
	const links = "package p\n\nimport _ \"embed\"\n\n//go:linkname f runtime.f\nfunc f()\n"
	try(t, unsafely(small),
		sample{"listed", map[string]string{"a.go": imports, "b.go": "package p\n"}, ""},
		sample{"import", map[string]string{"a.go": links, "lab/a_test.go": imports}, "lab/a_test.go:3: imports unsafe"},
		sample{"linkname", map[string]string{"a.go": imports, "b.go": links}, "b.go:5: go:linkname"},
		sample{"unused row", map[string]string{"a.go": "package p\n"}, "a.go:1: is safe"},
	)
	hold(t, unsafely(unsafes))
}

// unsafely checks every file, tests included.
func unsafely(unsafes map[string]string) func(*tree) []string {
	return func(t *tree) []string {
		return t.listed(nil, unsafes, "is safe by now", func(_ *file, n ast.Node) string {
			switch n := n.(type) {
			case *ast.ImportSpec:
				if imported(n) == "unsafe" {
					return "imports unsafe; do without, or list the file with what was measured (sizes: reflect.TypeFor[T]().Size())"
				}
			case *ast.Comment:
				if strings.HasPrefix(n.Text, "//go:linkname ") {
					return "go:linkname; do without, or list the file with what was measured"
				}
			}
			return ""
		})
	}
}

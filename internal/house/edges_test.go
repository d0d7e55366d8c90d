package house

import (
	"go/ast"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// machinery is what the public packages stand on.
var machinery = []string{"internal/auto", "internal/limit", "internal/fifo", "internal/loop", "internal/option", "internal/race", "internal/task", "internal/window", "internal/work"}

// edges says which packages of ours a package may import, by directory:
//
//	cmd, lab -> stream, debug -> stint -> internal
//	cmd, lab -> par, errgroup -> internal
//	cmd, lab -> cluster/embedded -> cluster -> stint
//
// "x/..." is x and all below it. A package without a row fails the test. Test files may
// import testPackages and the packages that callers import, besides.
var edges = map[string][]string{
	".":                      machinery,
	"par":                    {"internal/race", "internal/task"},
	"stream":                 slices.Concat([]string{"."}, machinery),
	"errgroup":               machinery,
	"debug":                  {".", "internal/option"},
	"httplimit":              {".", "internal/limit", "internal/option"},
	"advise":                 {".", "par", "stream"},
	"internal/task":          {},
	"internal/fifo":          {},
	"internal/limit":         {"internal/auto", "internal/fifo", "internal/race"},
	"internal/auto":          {},
	"internal/work":          {"internal/auto", "internal/limit", "internal/fifo", "internal/race", "internal/task"},
	"internal/loop":          {"internal/auto", "internal/limit", "internal/race", "internal/task", "internal/work"},
	"internal/option":        {"internal/auto", "internal/limit", "internal/task", "internal/work"},
	"internal/window":        {"internal/auto", "internal/limit", "internal/race", "internal/work"},
	"internal/race":          {},
	"internal/house":         {},
	"internal/goroutine":     {},
	"internal/testkit":       {},
	"internal/workload":      {},
	"internal/sharp":         {},
	"internal/conformance":   {"httplimit", "internal/option", "internal/race"},
	"cluster":                {"."},
	"cluster/embedded":       {"cluster"},
	"cluster/embedded/tests": {"."},
	"cmd/stint/...":          {".", "advise", "par", "stream", "errgroup", "cluster", "cluster/embedded", "cmd/stint/..."},
	"vet/...":                {"vet/..."},
	".ci/release":            {},
	"lab/...":                {".", "advise", "par", "stream", "errgroup", "debug", "httplimit", "cluster", "cluster/embedded", "lab/..."},
	"examples/...":           {".", "advise", "par", "stream", "debug", "httplimit"},
}

// refused are packages of others that only the directories beside them may import.
var refused = map[string][]string{
	"unsafe":       {"internal/race"}, // sizes: reflect.TypeFor[T]().Size()
	"C":            nil,
	"net/rpc/...":  nil, // links net/http
	"expvar":       nil, // links net/http
	"net/http/...": {"debug", "httplimit", "examples/...", "cluster/...", "cmd/...", "lab/..."},
}

// row returns the entry of a table for a directory: its own, or that of a pattern.
func row(table map[string][]string, dir string) ([]string, bool) {
	for pattern, may := range table {
		if covers(pattern, dir) {
			return may, true
		}
	}
	return nil, false
}

func TestEdges(t *testing.T) {
	small := map[string][]string{".": {"internal/work"}, "par": {"."}, "stream": {}, "cluster": {"internal/option"}, "lab/...": {".", "lab/..."}}
	imports := func(name, where string) map[string]string { return one(name, "package p\nimport \""+where+"\"\n") }
	try(t, importEdges(small),
		sample{"down", map[string]string{"a.go": use("internal/work"), "lab/a.go": use("lab/peer"), "a_test.go": use("par")}, ""},
		sample{"sideways", one("lab/a.go", use("par")), "lab/a.go:3: lab imports par"},
		sample{"unknown", one("pkg/a.go", "package pkg\n"), "pkg/a.go:1: pkg is not in the table"},
		sample{"for tests", one("a.go", use("internal/goroutine")), "a.go:3: . imports internal/goroutine"},
		sample{"internals of another module", map[string]string{"cluster/go.mod": "", "cluster/a.go": use("internal/option")}, "cluster/a.go:3: cluster imports internal/option, an internal package"},
		sample{"panic error", one("par/a.go", use("")+"\nvar a stint.PanicError\n"), ""},
		sample{"more of stint", one("par/a.go", use("")+"\nvar a stint.Pool\n"), "par/a.go:5: stint.Pool"},
		sample{"server", imports("stream/a.go", "net/http/httptrace"), "stream/a.go:2: stream imports net/http/httptrace"},
		sample{"cgo", imports("lab/a.go", "C"), "lab/a.go:2: lab imports C"},
	)
	hold(t, importEdges(edges))
}

// importEdges checks the imports of our own packages against the table, those of others
// against refused, that no module imports internal packages of another, whose version may
// differ, and that par, which computes, uses stint for PanicError only.
func importEdges(edges map[string][]string) func(*tree) []string {
	return func(t *tree) []string {
		bad := t.nodes(all, func(f *file, n ast.Node) string {
			if f.dir() == "par" && !f.test() && f.refers(n, "stint") && !f.refers(n, "stint", "PanicError") {
				return "stint." + n.(*ast.SelectorExpr).Sel.Name + "; par uses stint for PanicError only"
			}
			s, ok := n.(*ast.ImportSpec)
			if !ok {
				return ""
			}
			where, _ := strconv.Unquote(s.Path.Value)
			to, ours := strings.CutPrefix(where+"/", modulePath+"/")
			if to = path.Clean(to); ours {
				return f.edge(to, edges)
			}
			if may, ok := row(refused, to); ok && !f.test() && !inAny(may, f.dir()) {
				return f.dir() + " imports " + to + "; only the packages in the table of refused imports may"
			}
			return ""
		})
		for _, f := range t.golang(all) {
			if _, known := row(edges, f.dir()); !known {
				bad = append(bad, f.on(1, "%s is not in the table of edges; decide what it may import and add a row", f.dir()))
			}
		}
		return bad
	}
}

// edge checks an import of a package of ours.
func (f *file) edge(to string, edges map[string][]string) string {
	may, known := row(edges, f.dir())
	if f.test() {
		may = slices.Concat(may, testPackages, public, machinery, []string{f.dir(), "internal/race"})
	}
	switch {
	case known && !inAny(may, to):
		return f.dir() + " imports " + to + ", which the table of edges does not allow; turn the dependency round, or add the edge with a design note"
	case strings.Contains("/"+to+"/", "/internal/") && f.tree.module(to+"/a.go") != f.module():
		return f.dir() + " imports " + to + ", an internal package of another module; use exported names"
	}
	return ""
}

func TestModules(t *testing.T) {
	const head = "module github.com/stint-go/stint\n\ngo 1.26\n"
	with := func(dir, text string) map[string]string {
		return map[string]string{"go.mod": head, "LICENSE": "", dir + "/LICENSE": "", dir + "/go.mod": "module " + path.Join(modulePath, dir) + "\n" + text}
	}
	verify(t, modules,
		sample{"require", map[string]string{"LICENSE": "", "go.mod": head + "require (\n\texample.org/a v1.0.0\n)\n"}, "go.mod:4: require"},
		sample{"replace", with("cmd/stint", "replace a => b\n"), "cmd/stint/go.mod:2: replace"},
		sample{"server", with("cluster", "require (\n\tgithub.com/nats-io/nats-server/v2 v2.0.0 // indirect\n)\n"), "cluster/go.mod:3: nats-server"},
		sample{"license", one("go.mod", head), "LICENSE:1: missing"},
	)
}

// modules checks go.mod files: the root requires nothing, only the laboratory replaces,
// the module of clients does not require the server, and each module has a LICENSE.
func modules(t *tree) []string {
	var bad []string
	for _, f := range t.files {
		if path.Base(f.path) != "go.mod" {
			continue
		}
		dir := f.dir()
		if _, err := fs.Stat(t.fsys, path.Join(dir, "LICENSE")); err != nil {
			bad = append(bad, path.Join(dir, "LICENSE")+":1: missing; a module is distributed with its own")
		}
		for i, line := range strings.Split(f.text, "\n") {
			verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case dir == "." && (verb == "require" || verb == "tool"):
				bad = append(bad, f.on(i+1, "%s in the root module; it needs nothing, in tests too", verb))
			case dir == "cluster" && strings.Contains(line, "nats-server"):
				bad = append(bad, f.on(i+1, "nats-server in the module of clients; it belongs to cluster/embedded"))
			case verb == "replace" && dir != "lab":
				bad = append(bad, f.on(i+1, "replace; a module with one cannot be installed by version"))
			}
		}
	}
	return bad
}

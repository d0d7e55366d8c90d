package house

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// machinery is what the public packages stand on.
var machinery = []string{"internal/auto", "internal/limit", "internal/line", "internal/loop", "internal/option", "internal/task", "internal/work"}

// edges says which packages of ours a package may import, by directory:
//
//	cmd, lab -> par, stream, errgroup, debug -> stint -> internal
//	cmd, lab -> cluster/embedded -> cluster -> stint
//
// "x/..." is x and all below it. A package that no row covers fails the test:
// where it belongs is decided before it is written.
var edges = map[string][]string{
	".":        machinery,
	"par":      slices.Concat(machinery, []string{"internal/race"}), // computes only: needs neither context nor errors, so not stint
	"stream":   slices.Concat([]string{"."}, machinery),
	"errgroup": slices.Concat([]string{"."}, machinery),
	"debug":    {"."}, // shows what callers can ask for

	"internal/task":      {},
	"internal/line":      {},
	"internal/limit":     {"internal/line"},
	"internal/auto":      {},
	"internal/work":      {"internal/auto", "internal/limit", "internal/line", "internal/task"},
	"internal/loop":      {"internal/auto", "internal/limit", "internal/task", "internal/work"},
	"internal/option":    {"internal/auto", "internal/limit", "internal/task", "internal/work"},
	"internal/race":      {},
	"internal/goroutine": {}, // for tests
	"internal/house":     {},

	"cluster":                {".", "internal/option", "cluster/internal/conf"},
	"cluster/internal/conf":  {},
	"cluster/embedded":       {"cluster", "cluster/internal/conf", "internal/auto"},
	"cluster/embedded/tests": {},

	"cmd/stint/...": {".", "par", "stream", "errgroup", "cluster", "cluster/embedded", "cmd/stint/..."},
	"lab/...":       {".", "par", "stream", "errgroup", "debug", "cluster", "cluster/embedded", "lab/..."},
	"examples/...":  {".", "par", "stream"},
}

// testEdges says what the test files of a package may import besides.
var testEdges = map[string][]string{
	".":             {"par", "stream", "errgroup", "internal/..."},
	"par":           {"internal/goroutine"},
	"stream":        {"internal/goroutine", "internal/race"},
	"internal/auto": {"internal/race"},
	"internal/loop": {"internal/goroutine", "internal/race"},

	"cluster/embedded":       {"."},
	"cluster/embedded/tests": {".", "cluster", "cluster/embedded", "cluster/internal/conf"},
}

func TestEdges(t *testing.T) {
	small := map[string][]string{
		".":              {"internal/work"},
		"par":            {"internal/work"},
		"internal/work":  {"internal/limit"},
		"internal/limit": {},
		"lab/...":        {".", "lab/..."},
	}
	try(t, importEdges(small, map[string][]string{".": {"par", "internal/..."}}),
		sample{"down", map[string]string{"a.go": use("internal/work"), "par/a.go": use("internal/work")}, ""},
		sample{"own tests", map[string]string{"par/a_test.go": use("par"), "a_test.go": use("par")}, ""},
		sample{"below", map[string]string{"lab/a.go": use("lab/peer")}, ""},
		sample{"up", map[string]string{"internal/work/a.go": use("")}, "internal/work/a.go:3: internal/work imports stint itself"},
		sample{"sideways", map[string]string{"lab/a.go": use("par")}, "lab/a.go:3: lab imports par"},
		sample{"lab", map[string]string{"par/a.go": use("lab")}, "par/a.go:3: par imports lab"},
		sample{"leaf", map[string]string{"internal/limit/a_test.go": use("internal/work")}, "internal/limit imports internal/work"},
		sample{"test only", map[string]string{"a_test.go": use("internal/limit"), "b.go": use("internal/limit")}, "b.go:3: stint itself imports internal/limit"},
		sample{"unknown", map[string]string{"pkg/a.go": "package pkg\n"}, "pkg/a.go:1: pkg is not in the table"},
	)
	hold(t, importEdges(edges, testEdges))
}

// use returns the text of a file that imports one package of ours.
func use(dir string) string {
	return "package p\n\nimport \"" + path.Join(modulePath, dir) + "\"\n"
}

// importEdges checks the imports of our own packages against the tables.
func importEdges(edges, testEdges map[string][]string) func(*tree) []string {
	return func(t *tree) []string {
		var bad []string
		for _, f := range t.golang(nil) {
			from := f.dir()
			may, ok := row(edges, from)
			if !ok {
				bad = append(bad, f.on(1, "%s is not in the table of edges; decide what it may import and add a row", label(from)))
				continue
			}
			if f.test() {
				more, _ := row(testEdges, from)
				may = slices.Concat(may, more, []string{from})
			}
			bad = append(bad, f.importsBeyond(may)...)
		}
		return bad
	}
}

// importsBeyond returns the imports of f that no pattern of may covers.
func (f *file) importsBeyond(may []string) []string {
	var bad []string
	for _, s := range f.syntax.Imports {
		to, ours := directory(imported(s))
		if ours && !slices.ContainsFunc(may, func(pattern string) bool { return covers(pattern, to) }) {
			bad = append(bad, f.at(s, "%s imports %s, which the table of edges does not allow; turn the dependency round, or add the edge with a design note", label(f.dir()), label(to)))
		}
	}
	return bad
}

// row returns the entry for a directory: its own, or the one of a pattern.
func row(table map[string][]string, dir string) ([]string, bool) {
	if may, ok := table[dir]; ok {
		return may, true
	}
	for pattern, may := range table {
		if covers(pattern, dir) {
			return may, true
		}
	}
	return nil, false
}

// covers reports whether a pattern means a directory, as in go list.
func covers(pattern, dir string) bool {
	if above, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == above || strings.HasPrefix(dir, above+"/")
	}
	return pattern == dir
}

// directory returns the directory of a package of ours.
func directory(importPath string) (dir string, ours bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// label names a package in a message.
func label(dir string) string {
	if dir == "." {
		return "stint itself"
	}
	return dir
}

func TestRootNeedsNothing(t *testing.T) {
	verify(t, foreign,
		sample{"std", map[string]string{"a.go": "package p\nimport \"net/http\"\n", "b_test.go": use("par")}, ""},
		sample{"command", map[string]string{"cmd/stint/go.mod": "", "cmd/stint/a.go": "package p\nimport \"example.org/a\"\n"}, ""},
		sample{"test", map[string]string{"a_test.go": "package p\nimport \"example.org/a\"\n"}, "a_test.go:2: imports example.org/a"},
		sample{"cgo", map[string]string{"a.go": "package p\nimport \"C\"\n"}, "a.go:2: imports C"},
		sample{"nested", map[string]string{"lab/go.mod": "", "a_test.go": use("lab/peer")}, "imports github.com/stint-go/stint/lab/peer"},
	)
}

// foreign checks that the root module, tests included, imports the standard
// library and itself only. Paths of the standard library have no dot in their
// first element.
func foreign(t *tree) []string {
	var bad []string
	for _, f := range t.golang(func(f *file) bool { return t.module(f.path) == "." }) {
		for _, s := range f.syntax.Imports {
			where := imported(s)
			dir, ours := directory(where)
			first, _, _ := strings.Cut(where, "/")
			switch {
			case ours && t.module(path.Join(dir, "x.go")) == ".":
			case !ours && where != "C" && !strings.Contains(first, "."):
			default:
				bad = append(bad, f.at(s, "imports %s; the root module needs nothing but the standard library, in tests too", where))
			}
		}
	}
	return bad
}

// servers are the packages of the root module that may link net/http.
var servers = []string{
	"debug",        // is there to serve
	"examples/...", // programs
}

func TestOnlyServersLinkHTTP(t *testing.T) {
	one := func(name, where string) map[string]string {
		return map[string]string{name: "package p\n\nimport _ \"" + where + "\"\n"}
	}
	verify(t, serving,
		sample{"debug", one("debug/a.go", "net/http"), ""},
		sample{"program", one("examples/crawl/main.go", "net/http"), ""},
		sample{"test", one("stream/a_test.go", "net/http/httptest"), ""},
		sample{"module", map[string]string{"cmd/a/go.mod": "", "cmd/a/a.go": "package p\n\nimport _ \"net/http\"\n"}, ""},
		sample{"another", one("a.go", "net/url"), ""},
		sample{"library", one("stream/a.go", "net/http"), "stream/a.go:3: imports net/http"},
		sample{"below", one("a.go", "net/http/httptrace"), "a.go:3: imports net/http/httptrace"},
		sample{"hidden", one("internal/work/a.go", "expvar"), "internal/work/a.go:3: imports expvar"},
		sample{"near", one("debugging/a.go", "net/rpc"), "debugging/a.go:3: imports net/rpc"},
	)
}

// serving checks that who imports the library does not link net/http, unless for the
// package that is there to serve: nor by a package that imports it.
func serving(t *tree) []string {
	var bad []string
	for _, f := range t.golang(func(f *file) bool { return t.library(f) && !inAny(servers, f.dir()) }) {
		for _, s := range f.syntax.Imports {
			where := imported(s)
			if inAny([]string{"net/http/...", "net/rpc/...", "expvar"}, where) {
				bad = append(bad, f.at(s, "imports %s, which links net/http; only package debug does: move what needs it there", where))
			}
		}
	}
	return bad
}

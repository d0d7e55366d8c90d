package house

import (
	"go/ast"
	"path"
	"slices"
	"testing"
)

// births are the files in which goroutines begin, and who waits for them. A
// pattern stands for one file: two that match and start goroutines are one too
// many, none is a row to remove. The functions of timers and contexts, which
// run on goroutines of their own, count in what callers import.
var births = map[string]string{
	"internal/work/worker.go":     "the workers of a pool or a group; its Close or Wait waits for them",
	"internal/work/engine.go":     "the timer that sends idle workers home; runs only while some are idle",
	"internal/loop/onengine.go":   "the watch on the caller's context; taken away before the call returns",
	"internal/loop/*.go":          "the workers and standbys of one call, which waits for them",
	"internal/auto/controller.go": "the timer that finds out when no task ends; runs only while all places are taken and somebody waits",
	"internal/option/place.go":    "the watch on the context of a group or a sequence; taken away before its Close returns",
	"par/team.go":                 "the goroutines of one sort, which waits for them",
	"stream/run.go":               "the goroutines before the boundaries of a stream, the timer of a run and its watch on the context; its end waits for all",
	"errgroup/worker.go":          "the workers of a group; its Wait waits for them",
	"seq.go":                      "the feeder of a sequence; leaving the loop waits for it",

	"cluster/lease.go":    "the clock of a worker's leases; the end of Serve waits for it",
	"cluster/listener.go": "the making and removing of the consumers of a run's results; the end of the run waits for both",
	"cluster/live.go":     "a worker's watch on its runs, and its purges; the end of Serve waits for both",
	"cluster/pull.go":     "the timer of a worker's requests, the same ear, and the mending of consumers; the end of Serve stops the one and waits for the others",
	"cluster/run.go":      "the watch on the engine's end; taken away before the run is over",
	"cluster/timeout.go":  "a call that has a Timeout; its slot waits for it until then, and a second more",
	"cluster/serve.go":    "the watch on the engine's end; taken away before Serve returns",

	"cluster/embedded/host.go": "the watch over a server; Close of the engine waits for it",

	"examples/etl/main.go": "what gives the second interrupt back to the system; nobody: the process is about to end",

	"cmd/stint/asker.go":    "the look for workers while no answer comes; the end of what was asked waits for it",
	"cmd/stint/patient.go":  "a read, or a sequence of them, that nothing can take back; nobody: it is left to the end of the process",
	"cmd/stint/progress.go": "the count of the work and the line on the terminal; the end of the run waits for both",
}

// free are the packages in which goroutines may begin anywhere.
var free = []string{
	"lab/...", // runs the hand-written models we compare with
}

// start returns the text of a file with one statement, on line 6.
func start(stmt string) string {
	return "package p\n\nimport (\"context\"; \"sync\"; \"time\")\n\nfunc f() {\n\t" + stmt + "\n}\n"
}

func TestGoroutinesBeginInListedFiles(t *testing.T) {
	small := map[string]string{"work/*.go": "workers"}
	with := func(name, text string) map[string]string {
		return map[string]string{"work/a.go": start("go f()"), name: text}
	}
	try(t, beginnings(small),
		sample{"clean", with("a_test.go", start("go f()")), ""},
		sample{"lab", with("lab/peer/a.go", start("go f()")), ""},
		sample{"other file", with("a.go", start("go f()")), "a.go:6: starts a goroutine"},
		sample{"second file", with("work/b.go", start("go f()")), "work/b.go:6: starts a goroutine"},
		sample{"variable", with("a.go", start("var wg sync.WaitGroup; wg.Go(f)")), "a.go:6: starts a goroutine"},
		sample{"field", with("a.go", start("x.wg.Go(f)")+"type t struct { wg sync.WaitGroup }\n"), "a.go:6: starts a goroutine"},
		sample{"field of a sibling", map[string]string{"work/a.go": start("x.wg.Go(f)"), "work/b.go": start("") + "type t struct { wg *sync.WaitGroup }\n"}, ""},
		sample{"a Go of ours", with("a.go", start("x.wg.Go(f)")), ""},
		sample{"later", with("a.go", start("context.AfterFunc(nil, f)")), "a.go:6: starts a goroutine"},
		sample{"later in a command", map[string]string{"work/a.go": start("go f()"), "cmd/a/go.mod": "", "cmd/a/a.go": start("time.AfterFunc(1, f)")}, ""},
		sample{"later in a cluster", map[string]string{"work/a.go": start("go f()"), "cluster/go.mod": "", "cluster/a.go": start("time.AfterFunc(1, f)")}, "cluster/a.go:6: starts a goroutine"},
		sample{"unused row", map[string]string{"work/a.go": start("")}, "work/a.go:1: starts no goroutine"},
		sample{"no file", map[string]string{"a.go": start("")}, "work/*.go:1: starts no goroutine"},
	)
	hold(t, beginnings(births))
}

// beginnings checks that goroutines begin only in the listed files, and that
// each of these still starts one.
func beginnings(births map[string]string) func(*tree) []string {
	return func(t *tree) []string {
		var bad []string
		born := map[string]string{} // pattern to the file that starts goroutines
		for _, f := range t.golang(func(f *file) bool { return !f.test() && !inAny(free, f.dir()) }) {
			for _, n := range f.beginnings(waitGroups(t, f.dir()), t.isReleased(f)) {
				pattern := matching(births, f.path)
				switch known := born[pattern]; {
				case pattern == "":
					bad = append(bad, f.at(n, "starts a goroutine; leave that to internal/loop or internal/work, or list the file with who waits for it"))
				case known == "" || known == f.path:
					born[pattern] = f.path
				default:
					bad = append(bad, f.at(n, "starts a goroutine, as %s does; keep the start in one file of the package", known))
				}
			}
		}
		for pattern := range births {
			if born[pattern] == "" {
				bad = append(bad, only(t, pattern)+":1: starts no goroutine any more; remove it from the list of births")
			}
		}
		slices.Sort(bad)
		return bad
	}
}

// beginnings returns the nodes of f that start a goroutine: go statements,
// WaitGroup.Go, and, if later is set, the AfterFunc of context and time. groups
// are the names that are WaitGroups in the package; types are not known here.
func (f *file) beginnings(groups map[string]bool, later bool) []ast.Node {
	var out []ast.Node
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			out = append(out, n)
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			after := f.refers(n.Fun, "context", "AfterFunc") || f.refers(n.Fun, "time", "AfterFunc")
			if ok && sel.Sel.Name == "Go" && groups[last(sel.X)] || later && after {
				out = append(out, n)
			}
		}
		return true
	})
	return out
}

// waitGroups returns the names of the fields, variables and parameters of a
// package that are declared as a sync.WaitGroup.
func waitGroups(t *tree, dir string) map[string]bool {
	names := map[string]bool{}
	for _, f := range t.golang(func(f *file) bool { return f.dir() == dir }) {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				f.noteWaitGroups(names, n.Type, n.Names)
			case *ast.ValueSpec:
				f.noteWaitGroups(names, n.Type, n.Names)
			}
			return true
		})
	}
	return names
}

// noteWaitGroups adds idents to names if typ is sync.WaitGroup or a pointer to
// one. An embedded one goes by the name WaitGroup.
func (f *file) noteWaitGroups(names map[string]bool, typ ast.Expr, idents []*ast.Ident) {
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if !f.refers(typ, "sync", "WaitGroup") {
		return
	}
	names["WaitGroup"] = true
	for _, id := range idents {
		names[id.Name] = true
	}
}

// last returns the last name of a chain of selectors: wg of x.y.wg.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// matching returns the pattern of a table that name matches, the name itself
// before others, or "".
func matching(table map[string]string, name string) string {
	if table[name] != "" {
		return name
	}
	for pattern := range table {
		if ok, _ := path.Match(pattern, name); ok {
			return pattern
		}
	}
	return ""
}

// only returns the one file that matches a pattern, or the pattern.
func only(t *tree, pattern string) string {
	var found []string
	for _, f := range t.golang(nil) {
		if ok, _ := path.Match(pattern, f.path); ok {
			found = append(found, f.path)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return pattern
}

// inAny reports whether a pattern of the list covers a directory.
func inAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, dir) })
}

package house

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"testing"
)

func TestNothingPolls(t *testing.T) {
	const sleep = "package p\n\nvar a = time.Sleep\n"
	verify(t, polls,
		sample{"others", map[string]string{"lab/go.mod": "", "lab/a.go": sleep, "a_test.go": sleep, "b.go": "package p\n\nvar a = time.NewTimer\n"}, ""},
		sample{"sleep", one("par/a.go", sleep), "par/a.go:3: time.Sleep"},
	)
}

// polls checks that the library waits for events only: in a bubble of a user's test a
// poll makes the time run away.
func polls(t *tree) []string {
	return t.nodes(func(f *file) bool { return !f.test() && f.module() == "." }, func(f *file, n ast.Node) string {
		if f.refers(n, "time", "Sleep", "After", "Tick", "NewTicker") {
			return "time." + n.(*ast.SelectorExpr).Sel.Name + " polls; wait for the event, or use a Timer that is stopped"
		}
		return ""
	})
}

// starts are the files of released modules in which goroutines start, and who waits for
// them. Functions of timers and contexts run on goroutines of their own, and count.
var starts = map[string]string{
	"internal/work/worker.go":        "the workers of a pool or a group; its Close or Wait waits for them",
	"internal/work/engine.go":        "the timer that ends idle workers; runs only while some are idle",
	"internal/work/pass.go":          "the timer of a permit that a source holds; Close of its executor returns the permit and stops it",
	"internal/loop/spare.go":         "the helpers of one call, which waits for them",
	"internal/auto/period.go":        "the timer that notices when no task ends; runs only while all permits are held and somebody waits",
	"internal/work/executor.go":      "the watch on the context of a group, a sequence or a loop; removed before its Close returns",
	"internal/task/alarm.go":         "the timer that writes a panic which nobody raises; raising the panic waits for it",
	"httplimit/retry.go":             "the timer that closes a body which does not end; stopped when that is read",
	"httplimit/transport.go":         "the watch on a request's context; removed when its body ends",
	"par/loop.go":                    "the helpers of one loop, which waits for them",
	"par/team.go":                    "the goroutines of one sort, which waits for them",
	"stream/run.go":                  "the goroutines before the boundaries of a stream, the timer of a run and its watch on the context; its end waits for all",
	"errgroup/group.go":              "the goroutines of a group's tasks; its Wait waits for them",
	"internal/race/race.go":          "the goroutine of a task in programs built with -race; the worker waits for it",
	"hedge.go":                       "the timer of the next item of one call, which stops it and waits for its function",
	"seq.go":                         "the feeder of a sequence; leaving the loop waits for it",
	"cluster/lease.go":               "the clock of a worker's leases; the end of Serve waits for it",
	"cluster/consumer.go":            "the making and removing of the consumers of a run's results; the end of the run waits for both",
	"cluster/runstate.go":            "a worker's watch on its runs, and its purges; the end of Serve waits for both",
	"cluster/pull.go":                "the timer of a worker's requests, and the mending of consumers; the end of Serve waits for both",
	"cluster/run.go":                 "the watch on the client's end; removed before the run is over",
	"cluster/timeout.go":             "a call that has a Timeout; its slot waits for it until then, and a second more",
	"cluster/serve.go":               "the watch on the client's end; removed before Serve returns",
	"cluster/status.go":              "an answer about a worker's state, at most a moment later; it sends nothing once Serve has unsubscribed",
	"cluster/embedded/gate.go":       "a request of a user; it ends with the connection, which Close of the client closes",
	"cluster/embedded/supervisor.go": "the watch over a server; Close of the client waits for it",
}

func TestGoroutinesStartInListedFiles(t *testing.T) {
	with := func(name, text string) map[string]string {
		return map[string]string{"go.mod": "", "work/a.go": "package p\n\nfunc f() {\n\tgo f()\n}\n", "lab/go.mod": "", name: "package p\n\nfunc f() {\n\t" + text + "\n}\n"}
	}
	try(t, goroutines(map[string]string{"work/a.go": "workers"}),
		sample{"test", with("a_test.go", "go f()"), ""},
		sample{"elsewhere", with("lab/a.go", "go f()"), ""},
		sample{"statement", with("a.go", "return func() { go f() }"), "a.go:4: starts a goroutine"},
		sample{"group", with("a.go", "var a, wg *sync.WaitGroup\n\tx.wg.Go(f)"), "a.go:5: starts a goroutine"},
		sample{"another Go", with("a.go", "var wg T\n\tx.wg.Go(f)"), ""},
		sample{"later", with("a.go", "context.AfterFunc(nil, f)"), "a.go:4: starts a goroutine"},
		sample{"unused row", with("work/a.go", "f()"), "work/a.go:1: starts no goroutine"},
	)
	hold(t, goroutines(starts))
}

var waitGroup = regexp.MustCompile(`(\w+)\s+\*?sync\.WaitGroup`)

// goroutines checks that goroutines start only in the listed files, and that each of these
// still starts one: by a go statement, by Go of a name that the package declares as a
// WaitGroup, or by AfterFunc.
func goroutines(starts map[string]string) func(*tree) []string {
	return func(t *tree) []string {
		groups, used := map[string]bool{}, map[string]bool{}
		for _, f := range t.golang(all) {
			for _, m := range waitGroup.FindAllStringSubmatch(f.text, -1) {
				groups[f.dir()+"."+m[1]] = true
			}
		}
		library := func(f *file) bool { return f.released() && !covers("examples/...", f.dir()) }
		bad := t.nodes(library, func(f *file, n ast.Node) string {
			_, statement := n.(*ast.GoStmt)
			sel, ok := n.(*ast.SelectorExpr)
			group := ok && sel.Sel.Name == "Go" && groups[f.dir()+path.Ext("."+f.source(sel.X.Pos(), sel.X.End()))]
			if !statement && !group && !f.refers(n, "context", "AfterFunc") && !f.refers(n, "time", "AfterFunc") {
				return ""
			}
			if used[f.path] = true; starts[f.path] != "" {
				return ""
			}
			return "starts a goroutine; leave that to internal/loop or internal/work, or list the file with who waits for it"
		})
		for name := range starts {
			if !used[name] {
				bad = append(bad, name+":1: starts no goroutine; remove it from the list")
			}
		}
		return bad
	}
}

func TestImportStartsNothing(t *testing.T) {
	in := func(text string) map[string]string { return one("par/a.go", "package par\n\n"+text+"\n") }
	verify(t, importWork,
		sample{"clean", in("var a, b, c = errors.New(\"\"), (*T)(nil), func(chan int) { f() }"), ""},
		sample{"init", in("func init() {}"), "par/a.go:3: func init"},
		sample{"channel", in("var a chan int"), "par/a.go:3: package variable"},
		sample{"map", in("var a sync.Map"), "par/a.go:3: package variable"},
		sample{"call", in("var a = f()"), "par/a.go:3: package variable"},
	)
}

// plain are calls that only build a value.
var plain = regexp.MustCompile(`^(append|errors\.New|slices\.Clone|time\.Now|\(.*\)|\[\].*)$`)

// importWork checks that importing a package starts nothing: it has no func init, and no
// package variable of a channel, a type of sync, a timer, or a call that is not plain.
func importWork(t *tree) []string {
	var bad []string
	for _, f := range t.golang((*file).released) {
		for _, d := range f.syntax.Decls {
			if id, _ := declared(d); id != nil && id.Name == "init" {
				bad = append(bad, f.at(d, "func init; importing a package starts nothing"))
			}
			if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.VAR {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				_, channel := n.(*ast.ChanType)
				c, call := n.(*ast.CallExpr)
				if channel || f.refers(n, "sync") || f.refers(n, "time", "Timer", "Ticker") || call && !plain.MatchString(f.source(c.Fun.Pos(), c.Fun.End())) {
					bad = append(bad, f.at(n, "package variable that starts something or is shared; give it an owner"))
				}
				_, body := n.(*ast.FuncLit)
				return !body
			})
		}
	}
	return bad
}

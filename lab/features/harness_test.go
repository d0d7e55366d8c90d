package features

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A library says how the demonstrations use it. A demonstration shows without a function what happens without it.
type library struct {
	open     func(ctx context.Context, limit int) *group       // limit 0: none is set
	tolerant func(ctx context.Context, limit int) *group       // goes on after an error; nil: as open
	queue    func(ctx context.Context, limit, room int) *group // room 0: for Try; nil: as open
	two      func(small, large int) (within, all *group)       // tasks of within count in both limits; nil: independent groups

	single  func(limit int) (submit func(f func() string) (wait func() string))
	each    func(limit, n int, f func(int))                // runs f for numbers below n; limit 0: none is set; nil: by open
	loop    func(n int, f func(lo, hi int))                // runs f for numbers below n, by chunks
	mapped  func(items []int, f func(int) string) []string // returns the results
	stream  func(iter.Seq[int], func(int) int, func(int))  // ordered
	batches func(items <-chan int, size int, linger time.Duration, emit func([]int))

	outside func(f func())           // runs two tasks by a function that disturbs later bubbles
	zero    func(f func())           // runs a task without a constructor
	hollow  func()                   // uses a zero value that needs a constructor
	shows   map[string]demonstration // by feature; others are those of all libraries
}

// A demonstration finds out the answer for a library.
type demonstration func(t *testing.T, l *library) Answer

type task = func(context.Context) error

// A group runs tasks under a limit. Libraries without contexts ignore that of Go, and give tasks one that never ends.
type group struct {
	Go     func(ctx context.Context, f task)
	Wait   func() error                     // as the library waits for all
	Fork   func(ctx context.Context) *group // a group of another caller under the same limit; nil: the same group
	Try    func(f task) bool
	Resize func(limit int)
	Pause  func() (resume func()) // nil: by Resize
	Drop   func()                 // nil: by the end of the context of open
	Stats  func() (running, waiting int)
	Kill   func() // ends a pool whose timers keep a bubble going
}

func (g *group) fork(ctx context.Context) *group {
	if g.Fork == nil {
		return g
	}
	return g.Fork(ctx)
}

var (
	errTask = errors.New("task failed")
	ever    = context.Background()
)

// call calls f if there is one.
func call(f func()) {
	if f != nil {
		f()
	}
}

// explode panics; the panic's stack shows its name.
func explode() { panic("boom") }

func plain(f func()) task { return func(context.Context) error { f(); return nil } }

// adapters are the libraries by name.
var adapters = map[string]*library{
	"errgroup": &errgroupLibrary, "conc": &concLibrary, "ants": &antsLibrary, "pond": &pondLibrary,
	"workerpool": &workerpoolLibrary, "rill": &rillLibrary, "stint": &stintLibrary,
}

// TestCells shows every answer of the table.
func TestCells(t *testing.T) {
	table, err := All()
	if err != nil || len(table.Features) != len(demonstrations) {
		t.Fatalf("%d features have answers, and %d demonstrations: %v", len(table.Features), len(demonstrations), err)
	}
	for _, f := range table.Features {
		t.Run(f.Name, func(t *testing.T) {
			for j, lib := range libraries {
				t.Run(lib.Name, func(t *testing.T) {
					l, cell := filled(*adapters[lib.Name]), f.Cells[j]
					show, own := l.shows[f.Name]
					if !own {
						show = demonstrations[f.Name]
					}
					if own != strings.HasSuffix(cell.File, "/"+lib.Name+"_test.go") {
						t.Errorf("the answer links to line %d of %s", cell.Line, cell.File)
					}
					var got Answer
					if slices.Contains(realTime, f.Name) {
						got = show(t, l)
					} else {
						got, _ = bubble(t, func() Answer { return show(t, l) })
					}
					if got != cell.Answer {
						t.Errorf("got %s, want %s", got, cell.Answer)
					}
				})
			}
		})
	}
}

// filled returns a library whose functions are there, apart from those for which nil is an answer.
func filled(l library) *library {
	if l.tolerant == nil {
		l.tolerant = l.open
	}
	if l.queue == nil {
		l.queue = func(ctx context.Context, limit, _ int) *group { return l.open(ctx, limit) }
	}
	if l.two == nil {
		l.two = func(small, large int) (*group, *group) { return l.open(ever, small), l.open(ever, large) }
	}
	if l.each == nil {
		l.each = func(limit, n int, f func(int)) {
			g := l.open(ever, limit)
			for i := range n {
				g.Go(ever, plain(func() { f(i) }))
			}
			g.Wait()
		}
	}
	return &l
}

// partly is for a feature that takes code of the caller's, such as a task that captures what another library gives it.
func partly(show demonstration) demonstration {
	return func(t *testing.T, l *library) Answer {
		if show(t, l) == No {
			return No
		}
		return Partly
	}
}

// grade returns Yes if all is true, and Partly if part of it is.
func grade(part, all bool) Answer {
	switch {
	case part && all:
		return Yes
	case part:
		return Partly
	}
	return No
}

// bubble runs f in a bubble. It returns the answer of f, No if f waits for ever, and whether all that f has started has
// ended.
func bubble(t *testing.T, f func() Answer) (answer Answer, ended bool) {
	defer func() {
		if v := recover(); v != nil && !strings.HasPrefix(fmt.Sprint(v), "deadlock:") {
			panic(v)
		}
	}()
	answer = No
	synctest.Test(t, func(*testing.T) { answer = f() })
	return answer, true
}

// returns reports whether f returns within an hour of the bubble.
func returns(f func()) bool {
	done := start(f)
	time.Sleep(time.Hour)
	return isClosed(done)
}

// start runs f concurrently; done is closed when it has returned.
func start(f func()) (done chan struct{}) {
	done = make(chan struct{})
	go func() { defer close(done); f() }()
	return done
}

// isClosed reports whether c is closed when all in the bubble wait.
func isClosed(c <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A gauge counts running tasks.
type gauge struct {
	mu               sync.Mutex
	begun, now, most int
	ids              map[string]bool // of goroutines
}

// task takes a second.
func (g *gauge) task() {
	g.add(1)
	time.Sleep(time.Second)
	g.add(-1)
}

func (g *gauge) add(d int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now += d
	g.most = max(g.most, g.now)
	if d > 0 {
		g.begun++
		if g.ids == nil {
			g.ids = map[string]bool{}
		}
		g.ids[strings.Fields(string(debug.Stack()))[1]] = true
	}
}

// counts returns how many tasks have started, and how many run.
func (g *gauge) counts() (begun, running int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.begun, g.now
}

// submit starts n tasks, each after a pause.
func (g *gauge) submit(to *group, n int, pause time.Duration) {
	for range n {
		to.Go(ever, plain(g.task))
		time.Sleep(pause)
	}
}

// run starts n tasks and waits for them.
func (g *gauge) run(in *group, n int, pause time.Duration) {
	g.submit(in, n, pause)
	in.Wait()
}

// panics reports whether f panics, and returns its value as text.
func panics(f func()) (text string, panicked bool) {
	defer func() {
		if v := recover(); v != nil {
			text, panicked = fmt.Sprint(v), true
		}
	}()
	f()
	return "", false
}

// childVar is set in the environment of a child.
const childVar = "LAB_FEATURES_CHILD"

// child runs the test in its own process, which must end well or say text when it crashes. It is for tasks that may crash,
// and for packages that keep channels between bubbles.
func child(t *testing.T, text string, f func() Answer) (answer Answer, crashed bool) {
	t.Helper()
	if os.Getenv(childVar) != "" {
		fmt.Println("answer:", f())
		t.SkipNow() // the parent compares
	}
	parts := strings.Split(t.Name(), "/")
	c := exec.Command(os.Args[0], "-test.run", "^"+strings.Join(parts, "$/^")+"$", "-test.count=1", "-test.timeout=1m")
	c.Env = append(os.Environ(), childVar+"=1", "GORACE=atexit_sleep_ms=0")
	out, err := c.CombinedOutput()
	_, said, _ := strings.Cut(string(out), "answer: ")
	answer = Answer(strings.Fields(said + " none")[0])
	if crashed = err != nil; crashed && !strings.Contains(string(out), text) {
		t.Errorf("in a process of its own: %v\n%s", err, out)
	}
	return answer, crashed
}

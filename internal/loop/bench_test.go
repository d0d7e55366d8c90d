package loop

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// seed is that of the first round of random tests; a failure names the one to give.
var seed = flag.Uint64("stint.seed", 1, "seed of the first round of random operations")

// A bench is what a loop runs under.
type bench struct {
	kind string
	lim  *limit.Limiter // nil: the loop's own
	e    *work.Engine   // nil: the loop's own goroutines
	n    int            // the limit
}

// The kinds of benches. Solo and adaptive are limits of the loop itself.
var (
	kinds  = []string{"solo", "adaptive", "shared", "engine"}
	fixed  = []string{"solo", "shared", "engine"} // the limit stays as it is set
	common = []string{"shared", "engine"}         // that several loops share
)

func newBench(kind string, n int) *bench {
	b := &bench{kind: kind, n: n}
	switch kind {
	case "shared":
		b.lim = limit.New(n)
	case "engine":
		b.lim = limit.New(n)
		b.e, _ = work.New(work.Config{Limiter: b.lim, IdleTimeout: time.Second}, work.SourceConfig{})
	}
	return b
}

// in runs a test in a bubble, for each kind and limit.
func in(t *testing.T, kinds []string, limits []int, test func(t *testing.T, b *bench)) {
	for _, kind := range kinds {
		for _, n := range limits {
			t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(kind, n)
					test(t, b)
					b.end(t)
				})
			})
		}
	}
}

// end checks that all permits are back, and that nothing of an engine is left.
func (b *bench) end(t *testing.T) {
	t.Helper()
	if b.e != nil {
		b.e.Close()
		b.e.WaitIdle(nil)
		if c := b.e.Counts(); c.Running+c.Queued+c.Blocked+c.Workers != 0 {
			t.Errorf("a closed engine has %+v", c)
		}
	}
	if b.lim == nil {
		return
	}
	if _, out, waiting := b.lim.Counts(); out != 0 || waiting != 0 {
		t.Errorf("%d permits are out and %d wait after the end", out, waiting)
	}
}

// A testLoop is a Loop, and the Body of it. It ends its context with the first failure that stops it,
// as callers outside this package do.
type testLoop struct {
	Loop
	failed    func(i int, o task.Outcome) (stop bool) // nil: every failure stops the loop
	abandoned func()
	cancel    func()
}

func (l *testLoop) Failed(i int, o task.Outcome) bool {
	if l.failed != nil && !l.failed(i, o) {
		return false
	}
	l.cancel()
	return true
}

func (l *testLoop) Abandoned() {
	if l.abandoned != nil {
		l.abandoned()
	}
	l.cancel()
}

// loop returns a loop of n items, which a task with context ctx may make.
func (b *bench) loop(ctx context.Context, n int, call func(ctx context.Context, i int) error) *testLoop {
	l := new(testLoop)
	l.Parent = limit.ScopeOf(ctx)
	ctx, l.cancel = context.WithCancel(ctx)
	l.N, l.Context, l.Calls, l.Body, l.Engine, l.Limit = n, ctx, Calls(call), l, b.e, b.n
	if b.e == nil {
		l.Limiter = b.lim
	}
	if b.kind == "adaptive" {
		l.Auto = auto.Config{Min: 1, Max: b.n, Burst: b.n, Procs: 2}
	}
	return l
}

// start runs l on a goroutine of its own. The channel is closed when that has ended; l has
// then returned, unless a call has ended the goroutine.
func (l *testLoop) start() (ended chan struct{}, returned *bool) {
	ended, returned = make(chan struct{}), new(bool)
	go func() {
		defer close(ended)
		l.Run()
		*returned = true
	}()
	return ended, returned
}

// What a loop costs beside its items and its context. A goroutine and the wait
// for its end is the floor for two items and more.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1, 2, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			bench := newBench("solo", 2)
			for b.Loop() {
				bench.loop(context.Background(), n, func(context.Context, int) error { return nil }).Run()
			}
		})
	}
	b.Run("goroutine", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l := new(struct {
				wg sync.WaitGroup
				_  [400]byte
			})
			l.wg.Add(1)
			go func() { l.wg.Done() }()
			l.wg.Wait()
		}
	})
}

package conformance_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// CPU-bound tasks get a worker for each CPU, and at most two more, when a CPU was free for
// a moment: the limit is not reached, and no search starts. A call in a task changes nothing.
func TestComputingFillsTheProcessors(t *testing.T) {
	procs := min(runtime.GOMAXPROCS(0), runtime.NumCPU()) // more threads than the machine can run look free when they are not
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	for _, e := range entryPoints {
		settles(t, e.name, procs+2, func(f body) string {
			limit := stint.Auto(1, 256)
			equal(t, e.name, e.run(bg, 60, f, limit), nil)
			return limit.Stats().Phase
		})
	}
	for _, p := range next() {
		settles(t, p[1].name+" in "+p[0].name, procs+2, func(f body) string {
			err := p[0].run(bg, 6, func(ctx context.Context, _ int) error { return p[1].run(ctx, 10, f) })
			equal(t, "error", err, nil)
			return "idle"
		})
	}
}

// settles runs computing tasks, of which at most so many may run, in a phase that must be idle. Others
// on the machine may take a processor away in the middle of a step: one try of five is enough.
func settles(t *testing.T, name string, most int, run func(f body) (phase string)) {
	t.Helper()
	what := ""
	for range 5 {
		var g gauge
		phase := run(func(context.Context, int) error {
			g.Enter()
			defer g.Leave()
			for began := time.Now(); time.Since(began) < 300*time.Microsecond; {
			}
			return nil
		})
		if g.Max() <= most && phase == "idle" {
			return
		}
		what = fmt.Sprintf("%d tasks ran at once, want at most %d; phase %q, want idle", g.Max(), most, phase)
	}
	t.Errorf("%s: %s", name, what)
}

// compute keeps a CPU busy. The call in the loop lets the runtime preempt it even without
// asynchronous preemption.
func compute(stop *atomic.Bool) {
	for !stop.Load() {
		if time.Now().IsZero() {
			return
		}
	}
}

// GOMAXPROCS may grow while tasks run, as it does when the quota of a container grows: the
// new CPUs get workers.
func TestMoreProcessorsGetWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var g gauge
	var stop atomic.Bool
	tasks := stint.NewGroup(bg)
	for range 8 {
		tasks.Go(func(context.Context) error {
			g.Enter()
			defer g.Leave()
			compute(&stop)
			return nil
		})
	}
	runs := func(n int) bool { // it may take long: the test has a processor in turn with the tasks
		for range 1000 {
			if g.Now() >= n {
				return true
			}
			time.Sleep(time.Millisecond)
		}
		return false
	}
	runs(1)
	time.Sleep(50 * time.Millisecond)
	if n := g.Now(); n > 3 {
		t.Errorf("%d tasks compute on one processor, want 3 at most", n)
	}
	runtime.GOMAXPROCS(4)
	if !runs(4) {
		t.Errorf("%d tasks compute on four processors", g.Now())
	}
	stop.Store(true)
	equal(t, "error", tasks.Wait(), nil)
}

// Tasks hold 10 MB each, in a process with a memory limit of 512 MB. Memory does not bound
// the first dozen, which start before anything is measured. The process reaches 35
// concurrent tasks, and more if other processes use every CPU and its memory statistics are
// old.
func TestMemoryBoundsTheLimit(t *testing.T) {
	onlySearches(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(512 << 20))
	limit := stint.Auto(1, 256)
	var g gauge
	err := stint.Range(bg, 250, func(context.Context, int) error {
		block := make([]byte, 10<<20)
		g.Hold(100 * time.Millisecond)
		runtime.KeepAlive(block)
		return nil
	}, limit)
	equal(t, "error", err, nil)
	if n := g.Max(); n < 12 || n > 72 {
		t.Errorf("%d tasks ran at once, want 12 to 72", n)
	}
	runtime.GC()
}

// Tasks that wait for each other all start, even if other goroutines use every CPU.
func TestWaitingTasksBeginBesideComputing(t *testing.T) {
	var stop atomic.Bool
	var burners sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		burners.Go(func() { compute(&stop) })
	}
	const n = 8
	for i, e := range entryPoints {
		opts := [][]stint.Option{nil, {stint.Auto(n, n)}, {stint.Auto(1, 256)}}[i%3]
		var here sync.WaitGroup
		here.Add(n)
		equal(t, e.name, e.run(bg, n, func(context.Context, int) error { here.Done(); here.Wait(); return nil }, opts...), nil)
	}
	stop.Store(true)
	burners.Wait()
}

// The function given to Overload is asked once for each error, through every entry point, with
// no lock held: it may ask the limiter, change it, and make calls. Its panic is a panic of the
// task.
func TestOverloadIsAskedOnce(t *testing.T) {
	for _, e := range searching() {
		bubble(t, e.name, func(t *testing.T) { askedOnce(t, e) })
	}
}

func askedOnce(t *testing.T, e entryPoint) {
	var limiter *stint.Limiter
	var asked atomic.Int32
	limiter = stint.Auto(1, 64, stint.Overload(func(error) bool {
		if s := limiter.Stats(); s.Limit < 1 || s.Limit > 64 || limiter.Current() < 1 {
			t.Errorf("%v", s)
		}
		if asked.Add(1) == 150 {
			limiter.Set(3)
		}
		equal(t, "error of a call in it", stint.Range(bg, 2, nothing, stint.Limit(1)), nil)
		return true
	}))
	fails := func(context.Context, int) error { time.Sleep(time.Millisecond); return errBoom }
	err := e.run(bg, 200, fails, stint.KeepGoing(), limiter)
	equal(t, "asked", asked.Load(), 200)
	equal(t, "errors", len(members(err)), 200)
	equal(t, "limit", limiter.Current(), 3)
	raises(t, "broken", func() {
		e.run(bg, 50, fails, stint.KeepGoing(), stint.Auto(1, 256, stint.Overload(func(error) bool { panic("broken") })))
	})
}

// Bounds above the largest possible number of tasks count as that number.
func TestAutoWithHugeBounds(t *testing.T) {
	const most = 1 << 24
	for _, c := range []struct{ min, max, burst, limit int }{
		{1, math.MaxInt, 36, 12}, {1, math.MaxInt, math.MaxInt, most / 3}, {math.MaxInt - 1, math.MaxInt, 36, most},
		{math.MaxInt/2 + 1, math.MaxInt, math.MaxInt/2 + 1, most}, {1 << 30, 1 << 30, 36, most}, {most, most, 36, most},
	} {
		synctest.Test(t, func(t *testing.T) {
			limiter := stint.Auto(c.min, c.max, stint.Burst(c.burst))
			if runtime.GOMAXPROCS(0) < 12 {
				equal(t, "limit at first", limiter.Current(), c.limit)
			}
			equal(t, "error", stint.Range(bg, 300, func(context.Context, int) error { time.Sleep(time.Millisecond); return nil }, limiter), nil)
			if n := limiter.Current(); n < min(c.min, most) || n > most {
				t.Errorf("Auto(%d, %d), Burst(%d): limit %d", c.min, c.max, c.burst, n)
			}
			limiter.Set(math.MaxInt)
			equal(t, "limit that was set", limiter.Current(), math.MaxInt)
		})
	}
}

// Items that wait for each other all start, also the last, for which alone the limit has to
// grow.
func TestTheLastItemBegins(t *testing.T) {
	for _, n := range []int{13, 37, 41} {
		synctest.Test(t, func(t *testing.T) {
			var here sync.WaitGroup
			here.Add(n)
			equal(t, "error", stint.Range(bg, n, func(context.Context, int) error { here.Done(); here.Wait(); return nil }), nil)
		})
	}
}

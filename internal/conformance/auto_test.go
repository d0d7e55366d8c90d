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
// a moment: the limit is not reached, and no search starts.
func TestComputingFillsTheProcessors(t *testing.T) {
	procs := min(runtime.GOMAXPROCS(0), runtime.NumCPU()) // more threads than the machine can run look free when they are not
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	most := procs + 2
	for _, e := range entryPoints {
		what := ""
		for range 5 { // others on the machine may take a processor away in the middle of a step
			limit := stint.Auto(1, 256)
			var g gauge
			err := e.run(context.Background(), 100, func(context.Context, int) error {
				g.Enter()
				defer g.Leave()
				for began := time.Now(); time.Since(began) < 500*time.Microsecond; {
				}
				return nil
			}, limit)
			equal(t, e.name, err, nil)
			phase := limit.Stats().Phase
			if g.Max() <= most && phase == "idle" {
				what = ""
				break
			}
			what = fmt.Sprintf("%d tasks ran at once, want at most %d; phase %q, want idle", g.Max(), most, phase)
		}
		if what != "" {
			t.Errorf("%s: %s", e.name, what)
		}
	}
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
	tasks := stint.NewGroup(context.Background())
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
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(512 << 20))
	limit := stint.Auto(1, 256)
	var g gauge
	err := stint.Range(context.Background(), 250, func(context.Context, int) error {
		block := make([]byte, 10<<20)
		g.Hold(100 * time.Millisecond)
		runtime.KeepAlive(block)
		return nil
	}, limit)
	equal(t, "error", err, nil)
	if n := g.Max(); n < 12 || n > 72 {
		t.Errorf("%d tasks ran at once, want 12 to 72", n)
	}
	for _, c := range limit.Stats().History {
		t.Log(c.Limit, c.Reason)
	}
	runtime.GC()
}

// Tasks that wait for each other all start, even if other goroutines use every CPU.
func TestWaitingTasksBeginBesideComputing(t *testing.T) {
	var stop atomic.Bool
	var burners sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		burners.Go(func() {
			compute(&stop)
		})
	}
	const n = 8
	fixed := stint.Auto(1, 256)
	fixed.Set(n)
	for _, opts := range [][]stint.Option{nil, {stint.Auto(n, n)}, {stint.Auto(1, 256)}, {fixed}} {
		for _, e := range entryPoints {
			var here sync.WaitGroup
			here.Add(n)
			err := e.run(context.Background(), n, func(context.Context, int) error {
				here.Done()
				here.Wait()
				return nil
			}, opts...)
			equal(t, e.name, err, nil)
		}
	}
	stop.Store(true)
	burners.Wait()
}

// The function given to Overload is asked once for each error, through every entry
// point, and its panic is a panic of the task.
func TestOverloadIsAskedOnce(t *testing.T) {
	for _, e := range searching() {
		var asked atomic.Int32
		err := e.run(context.Background(), 50, func(context.Context, int) error { return errBoom },
			stint.KeepGoing(), stint.Auto(1, 256, stint.Overload(func(err error) bool { asked.Add(1); return true })))
		if n := asked.Load(); n != 50 || err == nil {
			t.Errorf("%s: asked %d times, %v", e.name, n, err)
		}
		v := recovered(func() {
			e.run(context.Background(), 50, func(context.Context, int) error { return errBoom },
				stint.KeepGoing(), stint.Auto(1, 256, stint.Overload(func(error) bool { panic("broken") })))
		})
		if p, ok := v.(*stint.PanicError); !ok || p.Value != any("broken") {
			t.Errorf("%s: recovered %v", e.name, v)
		}
	}
}

// The function given to Overload is called with no lock held: it may ask the limiter,
// and change it.
func TestOverloadIsAskedUnlocked(t *testing.T) {
	for _, e := range searching() {
		synctest.Test(t, func(t *testing.T) {
			var limiter *stint.Limiter
			var asked atomic.Int32
			limiter = stint.Auto(1, 64, stint.Overload(func(error) bool {
				n := asked.Add(1)
				if s := limiter.Stats(); s.Limit < 1 || s.Limit > 64 || limiter.Current() < 1 {
					t.Errorf("%s: %v", e.name, s)
				}
				if n == 150 {
					limiter.Set(3)
				}
				err := stint.Range(context.Background(), 2, func(context.Context, int) error { return nil }, stint.Limit(1))
				equal(t, e.name+": error of a call in it", err, nil)
				return true
			}))
			e.run(context.Background(), 200, func(context.Context, int) error { time.Sleep(time.Millisecond); return errBoom },
				stint.KeepGoing(), limiter)
			equal(t, e.name+": asked", asked.Load(), 200)
			equal(t, e.name+": limit", limiter.Current(), 3)
		})
	}
}

// Bounds above the largest possible number of tasks count as that number.
func TestAutoWithHugeBounds(t *testing.T) {
	const most = 1 << 24
	for _, c := range []struct{ min, max, limit int }{
		{1, math.MaxInt, 12}, {math.MaxInt - 1, math.MaxInt, most}, {math.MaxInt/2 + 1, math.MaxInt, most},
		{1 << 30, 1 << 30, most}, {most, most, most},
	} {
		for _, burst := range []int{36, math.MaxInt, math.MaxInt/2 + 1} {
			synctest.Test(t, func(t *testing.T) {
				limiter := stint.Auto(c.min, c.max, stint.Burst(burst))
				start := c.limit
				if burst != 36 {
					start = max(min(c.min, most), most/3)
				}
				if runtime.GOMAXPROCS(0) < 12 {
					equal(t, "limit at first", limiter.Current(), start)
				}
				err := stint.Range(context.Background(), 300, func(context.Context, int) error {
					time.Sleep(time.Millisecond)
					return nil
				}, limiter)
				equal(t, "error", err, nil)
				if n := limiter.Current(); n < min(c.min, most) || n > most {
					t.Errorf("Auto(%d, %d), Burst(%d): limit %d", c.min, c.max, burst, n)
				}
				limiter.Set(math.MaxInt)
				equal(t, "limit that was set", limiter.Current(), math.MaxInt)
			})
		}
	}
}

// A limiter may be used in one bubble after the other, and outside: its timer is made
// where it is used.
func TestAutoInBubblesAndOutside(t *testing.T) {
	limit := stint.Auto(1, 64)
	inside := func(n, atOnce int) {
		synctest.Test(t, func(t *testing.T) {
			var g gauge
			err := stint.Range(context.Background(), n, func(context.Context, int) error { g.Hold(time.Second); return nil }, limit)
			equal(t, "error", err, nil)
			if g.Max() < atOnce {
				t.Errorf("%d ran at once, want %d at least", g.Max(), atOnce)
			}
		})
	}
	outside := func(n, atOnce int) { // the tasks wait for each other: a machine may be slow
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var begun atomic.Int32
		met := make(chan struct{})
		equal(t, "error of tasks that meet", stint.Range(ctx, n, func(ctx context.Context, _ int) error {
			if begun.Add(1) == int32(atOnce) {
				close(met)
			}
			select {
			case <-met:
				time.Sleep(time.Millisecond)
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}, limit), nil)
	}
	inside(100, 12)
	outside(100, 2) // the limit that it finds depends on the machine
	inside(100, 2)
	outside(100, 2)
	limit.Set(12)
	outside(24, 12)
	inside(24, 12)
}

// Items that wait for each other all start, also the last, for which alone the limit has to
// grow.
func TestTheLastItemBegins(t *testing.T) {
	for _, n := range []int{13, 37, 41} {
		synctest.Test(t, func(t *testing.T) {
			var here sync.WaitGroup
			here.Add(n)
			err := stint.Range(context.Background(), n, func(context.Context, int) error {
				here.Done()
				here.Wait()
				return nil
			})
			equal(t, "error", err, nil)
		})
	}
}

package conformance_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

func TestBounded(t *testing.T) {
	for _, limit := range []int{1, 2, 5} {
		t.Run(fmt.Sprint("limit=", limit), func(t *testing.T) {
			everywhere(t, limit, func(t *testing.T, run run) {
				var g gauge
				start := time.Now()
				equal(t, "error", run(bg, 4*limit, holds(&g, time.Second)), nil)
				g.Is(t, 0, limit, 4*limit)
				took(t, start, 4*time.Second)
			})
		})
	}
	bubble(t, "shared", sharedByAll)
	bubble(t, "panics and Goexit", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(3), stint.OnPanic(func(*stint.PanicError) {}))
		var g gauge
		ends := []func(){func() { panic("boom") }, runtime.Goexit, func() {}}
		for i := range 30 {
			p.Go(func(context.Context) { g.Hold(time.Second); ends[i%3]() })
		}
		p.Close()
		g.Is(t, 0, 3, 30)
		equal(t, "time passed", sinceBubble(), 10*time.Second)
	})
}

// sharedByAll runs all entry points, a pool and callers of Do at once under one limit.
func sharedByAll(t *testing.T) {
	l := stint.Limit(3)
	p := stint.NewPool(l)
	var g gauge
	var wg sync.WaitGroup
	start := time.Now()
	ways := append([]entryPoint{{"Do", doing(l)}, {"Pool", func(_ context.Context, n int, f body, _ ...stint.Option) error {
		for i := range n {
			p.Go(func(ctx context.Context) { f(ctx, i) })
		}
		return nil
	}}}, entryPoints...)
	for _, e := range ways {
		wg.Go(func() { equal(t, e.name, e.run(bg, 6, holds(&g, time.Second), l), nil) })
	}
	wg.Wait()
	p.Close()
	g.Is(t, 0, 3, 6*len(ways))
	took(t, start, time.Duration(2*len(ways))*time.Second)
	equal(t, "the limiter at the end", usage(l), [3]int{3})
}

// A change sets limits, one after the other, and then ends some of the tasks, one by one. After that
// so many run.
type change struct {
	set       []int
	end, runs int
}

// follow makes changes while a call of 40 tasks runs.
func follow(t *testing.T, run run, set func(int), changes []change, opts ...stint.Option) {
	var g gauge
	gate := make(chan struct{})
	most := 0
	ended := begin(func() error {
		return run(bg, 40, func(context.Context, int) error {
			g.Enter()
			defer g.Leave()
			<-gate // no time passes
			return nil
		}, opts...)
	})
	for _, c := range changes {
		for _, n := range c.set {
			set(n)
		}
		for range c.end {
			gate <- struct{}{}
			synctest.Wait()
		}
		g.Runs(t, c.runs)
		most = max(most, c.runs)
	}
	equal(t, "most tasks at once", g.Max(), most)
	close(gate)
	equal(t, "error", <-ended, nil)
	equal(t, "tasks", g.Total(), 40)
}

// 26: after Set(k) has returned no task starts while k run, also when workers are idle. A limit that is
// lowered and raised again is what it was.
// Fails: ants v2.12.1 (10 at once after Tune(1)).
func TestSetDownIsExact(t *testing.T) {
	onBoth(t, 8, func(t *testing.T, e entryPoint, opt stint.Option, set func(int)) {
		changes := []change{{nil, 0, 8}, {[]int{3}, 1, 7}, {nil, 1, 6}, {nil, 1, 5}, {nil, 1, 4}, {nil, 1, 3}, {nil, 10, 3}, {[]int{1}, 1, 2}, {nil, 1, 1}, {nil, 1, 1}}
		follow(t, e.with(opt), set, changes)
		set(8)
		changes = []change{{nil, 0, 8}}
		for _, low := range []int{1, 3, 7} {
			changes = append(changes, change{[]int{low, 8}, 0, 8}, change{[]int{low}, 1, 7}, change{[]int{8}, 0, 8})
		}
		follow(t, e.with(opt), set, changes)
	})
	bubble(t, "idle workers", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(10))
		for range 10 {
			p.Go(func(context.Context) { time.Sleep(time.Millisecond) })
		}
		p.Idle(bg)
		synctest.Wait()
		equal(t, "idle workers", p.Stats().Idle, 10)
		p.SetLimit(1)
		var g gauge
		for range 10 {
			p.Go(func(context.Context) { g.Hold(time.Millisecond) })
		}
		p.Close()
		g.Is(t, 0, 1, 10)
	})
}

// 27: after Set(k) k tasks run at once, and waiting submitters continue. Fails: ants
// v2.12.1 (reading: signals without the lock).
func TestSetUpWakesAll(t *testing.T) {
	changes := []change{{nil, 0, 1}, {[]int{5}, 0, 5}, {[]int{12}, 0, 12}}
	onBoth(t, 1, func(t *testing.T, e entryPoint, opt stint.Option, set func(int)) {
		follow(t, e.with(opt), set, changes)
		if takesQueue(t) {
			set(1)
			follow(t, e.with(opt), set, changes, stint.Queue(0))
		}
	})
	for _, e := range searching()[3:] {
		bubble(t, e.name+"/Auto", func(t *testing.T) { raisedByAnother(t, e) })
	}
	bubble(t, "submitters", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1), stint.Queue(0))
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { p.Go(func(context.Context) { time.Sleep(time.Hour) }) })
		}
		synctest.Wait()
		equal(t, "waiting", p.Stats().Waiting, 9)
		p.SetLimit(10)
		wg.Wait()
		equal(t, "time passed", sinceBubble(), 0)
		p.Close()
	})
}

// raisedByAnother has tasks wait for each other, none of which is queued, until another call on
// their limiter raises its limit.
func raisedByAnother(t *testing.T, e entryPoint) {
	l := stint.Auto(1, 100)
	n := int32(l.Current() + 2)
	all := make(chan struct{})
	var started atomic.Int32
	ended := begin(func() error {
		return e.run(bg, int(n), func(context.Context, int) error {
			if started.Add(1) == n {
				close(all)
			}
			<-all
			return nil
		}, l, stint.Queue(0))
	})
	synctest.Wait()
	err := stint.Range(bg, 1000, func(context.Context, int) error { time.Sleep(time.Second); return nil }, l)
	equal(t, "errors", [2]error{err, <-ended}, [2]error{})
}

// 30: statistics are right at every instant: each accepted task is counted once. FuzzPool
// compares them with a model after each step. Fails: ants v2.12.1 (Free() of -9; Running() counts
// idle workers).
func TestStatsAreExact(t *testing.T) {
	p := stint.NewPool(stint.Limit(3), stint.Queue(5))
	var before, after atomic.Uint64 // calls of Go begun, and ended
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				before.Add(1)
				p.Go(func(context.Context) {})
				after.Add(1)
			}
		})
	}
	for done := false; !done; {
		least := after.Load()
		s := p.Stats()
		most := before.Load()
		sum := uint64(s.Queued+s.Running) + s.Completed + s.Dropped
		if sum < least || sum > most || s.Running > 3 || s.Running > s.Workers || s.Idle > s.Workers || s.Idle < 0 {
			t.Fatalf("%+v, with %d to %d accepted", s, least, most)
		}
		done = least == 8000
	}
	wg.Wait()
	p.Close()
	equal(t, "completed", p.Stats().Completed, 8000)
}

// 31: a limit is shared when the Limiter is, and not by accident: a call with the options of
// another call has a limit of its own. Fails: conc v0.3.0.
func TestLimitsAreNotSharedByAccident(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := []stint.Option{stint.KeepGoing(), within(2, 2)}
		var g gauge
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { stint.Range(bg, 4, holds(&g, time.Second), opts...) })
		}
		wg.Wait()
		g.Is(t, 0, 6, 12)
		equal(t, "time passed", sinceBubble(), 2*time.Second)
	})
}

// Without a queue, a task that TryGo has accepted is running: nothing drops it later.
func TestTryGoWithoutAQueueHasBegun(t *testing.T) {
	for range 20 { // before the worker has a processor, mostly
		bubble(t, "Limit", func(t *testing.T) { acceptedIsRunning(t, func() *stint.Limiter { return stint.Limit(2) }) })
		bubble(t, "Auto", func(t *testing.T) { acceptedIsRunning(t, func() *stint.Limiter { return stint.Auto(2, 2) }) })
	}
}

func acceptedIsRunning(t *testing.T, limiter func() *stint.Limiter) {
	ran := 0
	p := stint.NewPool(limiter(), stint.Queue(0))
	equal(t, "Pool.TryGo", p.TryGo(func(context.Context) { time.Sleep(time.Second); ran++ }), true)
	s := p.Stats()
	equal(t, "running, queued", [2]int{s.Running, s.Queued}, [2]int{1, 0})
	dropped, _ := p.Shutdown(ended())
	equal(t, "dropped by Shutdown", dropped, 0)
	equal(t, "tasks that ran", ran, 1)
	s = p.Stats()
	equal(t, "completed, dropped", [2]uint64{s.Completed, s.Dropped}, [2]uint64{1, 0})

	pool := stint.NewPool(limiter())
	defer pool.Close()
	for i, opt := range []stint.Option{limiter(), pool} {
		ctx, cancel := context.WithCancel(bg)
		g := stint.NewGroup(ctx, opt, stint.Queue(0))
		equal(t, "Group.TryGo", g.TryGo(func(context.Context) error { ran++; return nil }), true)
		cancel()
		equal(t, "error", g.Wait(), context.Canceled)
		equal(t, "tasks that ran", ran, 2+i)
	}
}

// The end of Shutdown's context cancels a task that TryGo has given to a worker, though the
// task was never in a queue.
func TestShutdownCancelsWhatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		g := stint.NewGroup(bg, p, stint.Queue(0))
		equal(t, "TryGo", g.TryGo(func(ctx context.Context) error { <-ctx.Done(); return nil }), true)
		p.Shutdown(ended())
		equal(t, "error", g.Wait(), stint.ErrClosed)
	})
}

// Limits and queues may be so large that their sum is not an int: everything runs.
func TestLargestLimitsAndQueues(t *testing.T) {
	for _, limit := range []int{1 << 30, math.MaxInt/2 + 1, math.MaxInt} {
		everywhere(t, limit, func(t *testing.T, run run) {
			all := [][]stint.Option{nil, {stint.Queue(1)}, {stint.Queue(math.MaxInt)}}
			if !takesQueue(t) {
				all = all[:1]
			}
			var g gauge
			for _, opts := range all {
				equal(t, "error", run(bg, 20, holds(&g, time.Second), opts...), nil)
			}
			g.Is(t, 0, g.Max(), 20*len(all))
		})
	}
	onBoth(t, 1, func(t *testing.T, e entryPoint, opt stint.Option, set func(int)) { // they are made so large while tasks run
		var g gauge
		equal(t, "error", e.run(bg, 10, func(_ context.Context, i int) error {
			if i == 0 {
				set(math.MaxInt)
			}
			g.Hold(time.Second)
			return nil
		}, opt), nil)
		equal(t, "tasks", g.Total(), 10)
	})
}

// takesQueue reports whether the entry point that the test is named after takes the
// option Queue.
func takesQueue(t *testing.T) bool {
	return !slices.ContainsFunc([]string{"/Each/", "/Map/", "/Range/", "/First/"}, func(name string) bool {
		return strings.Contains(t.Name()+"/", name)
	})
}

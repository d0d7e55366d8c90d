package conformance_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

func TestWaitingCanBeGivenUp(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, opt stint.Option){
		"own context":                     ownContextEnds,
		"own context, Results":            ownContextEndsInResults,
		"end of the group":                groupEnds,
		"end of the group's context":      contextOfTheGroupEnds,
		"Go after the end of the context": contextHasEnded,
	} {
		t.Run(name, func(t *testing.T) {
			both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) { test(t, opt) })
		})
	}
	bubble(t, "Close", func(t *testing.T) { poolEnds(t, (*stint.Pool).Close) })
	bubble(t, "Shutdown", func(t *testing.T) { poolEnds(t, func(p *stint.Pool) { p.Shutdown(bg) }) })
	t.Run("a call that waits for its limiter", func(t *testing.T) {
		onBoth(t, 1, func(t *testing.T, e entryPoint, opt stint.Option, _ func(int)) {
			for _, more := range [][]stint.Option{{opt}, {opt, stint.LowPriority()}} {
				g := stint.NewGroup(bg, opt)
				g.Go(sleep(time.Hour))
				synctest.Wait()
				ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
				defer cancel()
				start := time.Now()
				equal(t, "error", e.run(ctx, 5, unwanted(t), more...), errGone)
				took(t, start, time.Second)
				equal(t, "error of the group", g.Wait(), nil)
			}
		})
	})
	bubble(t, "Idle and Shutdown", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		p.Go(func(ctx context.Context) { <-ctx.Done(); equal(t, "cause", context.Cause(ctx), stint.ErrClosed) })
		ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
		defer cancel()
		equal(t, "Idle", p.Idle(ctx), errGone)
		equal(t, "time passed", sinceBubble(), time.Second)
		n, err := p.Shutdown(ctx)
		equal(t, "abandoned", n, 0)
		equal(t, "Shutdown", err, errGone)
	})
	for _, queue := range []int{0, 1, 3} {
		bubble(t, "in turn", func(t *testing.T) { servedInTurn(t, queue) })
	}
}

func ownContextEnds(t *testing.T, opt stint.Option) {
	g := stint.NewGroup(bg, opt, stint.Queue(0))
	g.Go(sleep(time.Hour))
	ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
	defer cancel()
	start := time.Now()
	equal(t, "error", g.GoContext(ctx, func(context.Context) error { t.Error("was run"); return nil }), errGone)
	took(t, start, time.Second)
	equal(t, "error with a context that has ended", g.GoContext(ctx, sleep(0)), errGone)
	equal(t, "TryGo", g.TryGo(sleep(0)), false)
	equal(t, "error of the group", g.Wait(), nil) // not the group's
}

func ownContextEndsInResults(t *testing.T, opt stint.Option) {
	r := stint.NewResults[int](bg, opt, stint.Queue(0))
	r.Go(func(context.Context) (int, error) { time.Sleep(time.Hour); return 1, nil })
	ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
	defer cancel()
	start := time.Now()
	equal(t, "error", r.GoContext(ctx, func(context.Context) (int, error) { t.Error("was run"); return 2, nil }), errGone)
	took(t, start, time.Second)
	values, err := r.Wait()
	equal(t, "error of Results", err, nil)
	equal(t, "values", len(values), 1) // of a task that was given up there is no value
}

func groupEnds(t *testing.T, opt stint.Option) {
	for _, end := range []func() error{func() error { return errBoom }, func() error { runtime.Goexit(); return nil }} {
		g := stint.NewGroup(bg, opt, stint.Queue(0))
		g.Go(func(context.Context) error { time.Sleep(time.Second); return end() })
		start := time.Now()
		equal(t, "Go", g.Go(func(context.Context) error { t.Error("was run"); return nil }), false)
		took(t, start, time.Second)
		err := g.GoContext(bg, sleep(0)) // tells why the group is over
		equal(t, "GoContext", errors.Is(err, stint.ErrClosed) && errors.Is(err, g.Wait()), true)
		equal(t, "TryGo", g.TryGo(sleep(0)), false)
	}
}

func contextOfTheGroupEnds(t *testing.T, opt stint.Option) {
	ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
	defer cancel()
	g := stint.NewGroup(ctx, opt, stint.Queue(0))
	g.Go(sleep(time.Hour))
	start := time.Now()
	equal(t, "Go", g.Go(func(context.Context) error { t.Error("was run"); return nil }), false)
	took(t, start, time.Second)
	equal(t, "error", g.Wait(), errGone)
}

// contextHasEnded ends the context of groups, and nobody has had the time to tell them.
func contextHasEnded(t *testing.T, opt stint.Option) {
	ctx, cancel := context.WithCancelCause(bg)
	g := stint.NewGroup(ctx, opt)
	r := stint.NewResults[int](ctx, opt)
	cancel(errGone)
	equal(t, "Go", g.Go(sleep(0)), false)
	equal(t, "TryGo", g.TryGo(sleep(0)), false)
	equal(t, "GoContext", errors.Is(g.GoContext(bg, sleep(0)), stint.ErrClosed), true)
	equal(t, "Results.Go", r.Go(func(context.Context) (int, error) { return 0, nil }), false)
	equal(t, "error", g.Wait(), errGone)
	_, err := r.Wait()
	equal(t, "error of Results", err, errGone)
}

// poolEnds ends a pool without a queue while submitters of its own and of a group wait.
func poolEnds(t *testing.T, end func(*stint.Pool)) {
	p := stint.NewPool(stint.Limit(1), stint.Queue(0))
	g := stint.NewGroup(bg, p, stint.Queue(0))
	p.Go(func(context.Context) { time.Sleep(time.Hour) })
	time.AfterFunc(time.Second, func() { end(p) })
	task := func(context.Context) { t.Error("was run") }
	var wg sync.WaitGroup
	for name, submit := range map[string]func() error{
		"Pool.Go":        func() error { return p.Go(task) },
		"Pool.GoContext": func() error { return p.GoContext(bg, task) },
		"Group.Go": func() error {
			if g.Go(func(ctx context.Context) error { task(ctx); return nil }) {
				return nil
			}
			return stint.ErrClosed
		},
	} {
		wg.Go(func() {
			equal(t, name, submit(), stint.ErrClosed)
			equal(t, name+": time passed", sinceBubble(), time.Second)
		})
	}
	wg.Wait()
	equal(t, "error of the group", g.Wait(), stint.ErrClosed)
	equal(t, "TryGo", p.TryGo(func(context.Context) {}), false)
	p.Close()
}

// servedInTurn has submitters wait for room: they are served first come, first served.
func servedInTurn(t *testing.T, queue int) {
	p := stint.NewPool(stint.Limit(1), stint.Queue(queue))
	var order []int
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			p.Go(func(context.Context) { order = append(order, i); time.Sleep(time.Second) })
		})
		synctest.Wait() // i waits before i+1 comes
	}
	wg.Wait()
	p.Close()
	if !slices.Equal(order, indexes(20)) {
		t.Errorf("queue %d: served in the order %v", queue, order)
	}
}

// 43: a group with very many queued tasks delays the first task of another by one task's
// time. No other library has a pool shared by groups that does this.
func TestBusyGroupDelaysByOneTask(t *testing.T) {
	const tasks = 100_000
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(2))
		ctx, cancel := context.WithCancel(bg)
		busy := stint.NewGroup(ctx, p, stint.Queue(1<<17))
		for range tasks {
			busy.Go(sleep(time.Second))
		}
		time.Sleep(10*time.Second + time.Millisecond) // in the middle of two tasks
		synctest.Wait()
		equal(t, "queued", p.Stats().Queued, tasks-22)
		for _, e := range entryPoints {
			start := time.Now()
			var first time.Duration
			err := e.run(bg, 1, func(context.Context, int) error { first = time.Since(start); return nil }, p)
			equal(t, e.name, err, nil)
			equal(t, e.name+" began after", first, time.Second-time.Duration(sinceBubble()-first)%time.Second)
			took(t, start, first)
			time.Sleep(time.Millisecond)
		}
		direct := make(chan time.Duration, 1)
		start := time.Now()
		p.Go(func(context.Context) { direct <- time.Since(start) })
		if d := <-direct; d >= time.Second {
			t.Errorf("Pool.Go began after %v", d)
		}
		cancel()
		busy.Wait()
		p.Close()
		s := p.Stats()
		loops := 4 // do not count as tasks
		equal(t, "tasks accounted for", s.Completed+s.Dropped, uint64(tasks+len(entryPoints)-loops+1))
	})
}

// Two groups on one pool each get half of it while both have tasks.
func TestGroupsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(2))
		var done [2]time.Duration
		var wg sync.WaitGroup
		for i, n := range []int{10, 30} {
			g := stint.NewGroup(bg, p)
			for range n {
				g.Go(sleep(time.Second))
			}
			wg.Go(func() { g.Wait(); done[i] = sinceBubble() })
		}
		wg.Wait()
		p.Close()
		// 40 tasks on two workers. The first two tasks are both of the first group,
		// which the workers find alone.
		equal(t, "both done at", done[1], 20*time.Second)
		if done[0] < 9*time.Second || done[0] > 11*time.Second {
			t.Errorf("the group of 10 is done at %v, want 10s or one less or more", done[0])
		}
	})
}

// A loop on a pool that has a group with long tasks returns when its last item has ended, not
// when a worker is free again.
func TestLoopBesideABusyGroup(t *testing.T) {
	each(t, func(t *testing.T, e entryPoint) {
		p := stint.NewPool(stint.Limit(1))
		defer p.Close()
		g := stint.NewGroup(bg, p)
		for range 5 {
			g.Go(sleep(time.Hour))
		}
		synctest.Wait()
		start := time.Now()
		var last time.Duration
		e.run(bg, 2, func(context.Context, int) error { last = time.Since(start); return nil }, p)
		took(t, start, last)
		if last > 3*time.Hour {
			t.Errorf("the second call was at %v, want 2h: one task of the group each", last)
		}
		g.Wait()
	})
}

// Two calls that share a limiter of one take turns, call by call: neither waits
// until the other is done.
func TestCallsShareALimiter(t *testing.T) {
	pairs(t, entryPoints, func(t *testing.T, a, b entryPoint) {
		l := stint.Limit(1)
		var order []byte
		note := func(name byte) body {
			return func(context.Context, int) error {
				time.Sleep(time.Millisecond)
				order = append(order, name)
				return nil
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() { a.run(bg, 20, note('a'), l) })
		wg.Go(func() { b.run(bg, 20, note('b'), l) })
		wg.Wait()
		equal(t, "time passed", sinceBubble(), 40*time.Millisecond)
		// A call waits for one or two permits, so neither call gets four turns
		// before the other gets one, while both have work.
		if first := string(order[:20]); strings.Contains(first, "aaaa") || strings.Contains(first, "bbbb") {
			t.Errorf("in the order %s", order)
		}
	})
}

// 41: goroutines that wait for a limiter, in calls, groups and pools, and in Do, are served first
// come, first served.
func TestLimiterIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, limiterIsFirstComeFirstServed)
}

func limiterIsFirstComeFirstServed(t *testing.T) {
	l := stint.Limit(1)
	p := stint.NewPool(l)
	ways := append([]entryPoint{{"Do", doing(l)}, {"Pool", func(ctx context.Context, _ int, f body, _ ...stint.Option) error {
		return p.Go(func(ctx context.Context) { f(ctx, 0) })
	}}}, entryPoints...)
	ways = append(ways, ways[0])
	var order []int
	var wg sync.WaitGroup
	for i, e := range ways {
		wg.Go(func() {
			e.run(bg, 1, func(context.Context, int) error {
				order = append(order, i)
				time.Sleep(time.Second)
				return nil
			}, l)
		})
		synctest.Wait()
	}
	wg.Wait()
	p.Close()
	if !slices.Equal(order, indexes(len(ways))) {
		t.Errorf("served in the order %v", order)
	}
}

// 40: nothing spins while tasks wait, at GOMAXPROCS 1 either: the clock of a
// bubble stands still while any goroutine is runnable.
func TestWaitingCostsNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	everywhere(t, 1, func(t *testing.T, run run) {
		equal(t, "error", run(bg, 5, sleeps(time.Minute)), nil)
		equal(t, "time passed", sinceBubble(), 5*time.Minute)
	})
}

// More tasks wait for each other than the search starts. Stats tells so, and what helps.
func TestTasksThatStayAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := stint.Auto(1, 1000)
		ctx, cancel := context.WithCancel(t.Context())
		group := stint.NewGroup(ctx, limit)
		for range 300 {
			group.Go(func(ctx context.Context) error { <-ctx.Done(); return nil })
		}
		time.Sleep(20 * time.Second)
		s := limit.Stats()
		if !strings.Contains(s.Reason, "no task has finished for 5s") || !strings.Contains(s.Reason, "Limit") || s.Waiting == 0 {
			t.Errorf("%d of 300 run, %d wait: %q", s.Running, s.Waiting, s.Reason)
		}
		cancel()
		group.Wait()
	})
}

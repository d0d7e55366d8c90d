package conformance_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// Under a limit of 0 nothing starts, whether it was set before or while a call runs. Later each
// item runs once.
func TestPause(t *testing.T) {
	changes := []change{{nil, 0, 0}, {[]int{2}, 0, 2}, {[]int{0}, 1, 1}, {nil, 1, 0}, {[]int{3}, 0, 3}, {[]int{0, 2}, 1, 2}, {[]int{0}, 2, 0}, {[]int{3}, 0, 3}}
	onBoth(t, 2, func(t *testing.T, e entryPoint, opt stint.Option, set func(int)) {
		for _, opts := range [][]stint.Option{{opt}, {opt, stint.LowPriority()}} {
			set(0)
			follow(t, e.with(opts...), set, changes)
			if takesQueue(t) {
				set(0)
				follow(t, e.with(opts...), set, changes, stint.Queue(0))
			}
		}
	})
	bubble(t, "Do", func(t *testing.T) {
		l := stint.Auto(1, 8)
		l.Set(0)
		follow(t, doing(l), l.Set, changes)
	})
	for _, l := range []*stint.Limiter{stint.Auto(1, 8), stint.Limit(8)} {
		bubble(t, "bounds", func(t *testing.T) {
			set := func(n int) { l.SetBounds(n, n) }
			set(0)
			follow(t, doing(l), set, changes)
			set(0)
			g := stint.NewGroup(bg, l, stint.Queue(0))
			_ = g.TryGo(func(context.Context) error { t.Error("was run in a pause"); return nil })
			equal(t, "group", g.Wait(), nil)
			equal(t, "pause", usage(l), [3]int{})
		})
	}
	bubble(t, "Pool.Go", func(t *testing.T) {
		p := stint.NewPool(stint.Queue(1)) // adaptive
		p.SetLimit(0)
		follow(t, direct(p), p.SetLimit, changes)
		p.Close()
	})
}

// direct gives tasks to p, and waits until it is idle.
func direct(p *stint.Pool) run {
	return func(ctx context.Context, n int, f body, _ ...stint.Option) error {
		for i := range n {
			p.Go(func(ctx context.Context) { f(ctx, i) })
		}
		return p.Idle(ctx)
	}
}

// Two tasks run when a limit becomes 0. The calls that they make and wait for go on; others start later.
func TestPauseLeavesNestedCalls(t *testing.T) {
	pairs(t, entryPoints, func(t *testing.T, outer, inner entryPoint) {
		l := stint.Limit(2)
		p := stint.NewPool(l)
		defer p.Close()
		for _, opts := range [][2]stint.Option{{l, l}, {p, p}, {l, p}, {p, l}} {
			pauseNested(t, l, outer.with(opts[0]), inner.with(opts[1]))
			pauseNested(t, l, outer.with(opts[0]), inner.with(opts[1], stint.LowPriority()))
		}
		pauseNested(t, l, outer.with(l), doing(l))
		pauseNested(t, l, doing(l), inner.with(l))
		pauseNested(t, l, direct(p), inner.with(p))
	})
}

func pauseNested(t *testing.T, l *stint.Limiter, outer, inner run) {
	t.Helper()
	var g gauge
	ended := begin(func() error {
		return outer(bg, 4, func(ctx context.Context, _ int) error {
			time.Sleep(time.Second)
			return inner(ctx, 5, holds(&g, time.Second))
		})
	})
	synctest.Wait()
	l.Set(0)
	time.Sleep(time.Minute)
	g.Is(t, 0, 2, 10)
	equal(t, "the limiter", usage(l)[1], 0)
	l.Set(2)
	equal(t, "error", <-ended, nil)
	g.Is(t, 0, 2, 20)
}

// What waits for the end of a pause can be given up; what does not wait is refused.
func TestPauseCanBeGivenUp(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, e entryPoint, opt stint.Option, set func(int)) {
		set(0)
		ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
		defer cancel()
		equal(t, "error", e.run(ctx, 5, unwanted(t), opt), errGone)
	})
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		p, g := stint.NewPool(l, stint.Queue(1)), stint.NewGroup(bg, l, stint.Queue(0))
		l.Set(0)
		ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
		defer cancel()
		never := func(context.Context) error { t.Error("was run"); return nil }
		equal(t, "TryDo", l.TryDo(bg, never), stint.ErrBusy)
		equal(t, "Group.TryGo", g.TryGo(never), false)
		equal(t, "Pool.Go", p.Go(func(ctx context.Context) { never(ctx) }), nil)
		equal(t, "Pool.TryGo, with a full queue", p.TryGo(func(context.Context) {}), false)
		equal(t, "Do", l.Do(ctx, never), errGone)
		equal(t, "GoContext", g.GoContext(ctx, never), errGone)
		equal(t, "Idle", p.Idle(ctx), errGone)
		dropped, err := p.Shutdown(ctx)
		equal(t, "dropped", dropped, 1)
		equal(t, "Shutdown", err, errGone)

		p = stint.NewPool(l)
		p.Go(func(context.Context) {})
		time.AfterFunc(time.Hour, func() { l.Set(1) })
		p.Close()
		equal(t, "Close, after", sinceBubble(), time.Hour+time.Second)
		equal(t, "Wait", g.Wait(), nil)
	})
}

// A search goes on between bounds that change while tasks run. SetLimit of a pool ends search and
// bounds.
func TestBoundsWhileTasksRun(t *testing.T) {
	each(t, func(t *testing.T, e entryPoint) {
		l := stint.Auto(1, 100)
		var most, now int
		var mu sync.Mutex
		step := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			now += n
			most = max(most, now)
		}
		task := func(context.Context, int) error {
			step(1)
			defer step(-1)
			time.Sleep(time.Second)
			return nil
		}
		run := func(low, high, tasks int) int {
			l.SetBounds(low, high)
			most = 0
			equal(t, "error", e.run(bg, tasks, task, l), nil)
			return most
		}
		equal(t, "at once, 3 at most", run(1, 3, 30), 3)
		if n := run(1, 100, 2000); n < 40 { // a hundred sleep as long as one
			t.Errorf("%d at once, of 100", n)
		}
		equal(t, "at once, 5 and no others", run(5, 5, 30), 5)
		ended := begin(func() error { return e.run(bg, 60, task, l) })
		time.Sleep(1500 * time.Millisecond)
		l.SetBounds(0, 0)
		time.Sleep(time.Hour)
		mu.Lock()
		equal(t, "tasks that run in a pause", now, 0)
		mu.Unlock()
		l.SetBounds(1, 100)
		equal(t, "error", <-ended, nil)
	})
	p := stint.NewPool(stint.Auto(1, 100))
	p.SetLimit(7)
	equal(t, "limit", p.Stats().Limit, 7)
	p.Close()
}

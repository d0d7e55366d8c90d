package conformance_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// A permit that a call holds while it waits for its pool goes to a task of the pool that needs one,
// itself or for a call that it waits for.
func TestHeldPermitsGoToTasks(t *testing.T) {
	each(t, func(t *testing.T, e entryPoint) {
		l, p := stint.Limit(1), stint.NewPool(stint.Limit(1))
		var g gauge
		p.Go(func(ctx context.Context) {
			time.Sleep(time.Second) // the others wait for the pool
			equal(t, "error of Do", l.Do(ctx, func(context.Context) error { return nil }), nil)
			equal(t, "error", e.run(ctx, 3, holds(&g, time.Second), p, l), nil)
			plain := begin(func() error { return l.Do(bg, func(context.Context) error { return nil }) })
			equal(t, "error of one that has no context of a task", <-plain, nil)
		})
		var others sync.WaitGroup
		for range 3 {
			others.Go(func() { equal(t, "error", e.run(bg, 3, holds(&g, time.Second), p, l), nil) })
		}
		others.Wait()
		p.Close()
		g.Is(t, 0, 1, 12)
		equal(t, "the limiter at the end", usage(l), [3]int{1})
		if d := sinceBubble(); d > 13*time.Second+100*time.Millisecond {
			t.Errorf("12 tasks of a second, and one before, took %v", d)
		}
	})
}

// Calls in a task of a pool get their turn at a limiter that others keep busy, although the pool
// is busy too.
func TestOwnLimitIsFairInATask(t *testing.T) {
	each(t, func(t *testing.T, e entryPoint) {
		l, p := stint.Limit(1), stint.NewPool(stint.Limit(1))
		ctx, cancel := context.WithCancel(bg)
		var others sync.WaitGroup
		for range 4 {
			others.Go(func() {
				for l.Do(ctx, func(context.Context) error { time.Sleep(time.Second); return nil }) == nil {
				}
			})
		}
		time.Sleep(time.Minute)
		start := time.Now()
		p.Go(func(ctx context.Context) { e.run(ctx, 3, sleeps(time.Second), p, l) })
		p.Close()
		if d := time.Since(start); d > 15*time.Second {
			t.Errorf("3 tasks took %v", d)
		}
		cancel()
		others.Wait()
	})
}

// A call gets its turns at a pool and at a limiter that others keep busy, each by itself: both permits are
// never free at the same time.
func TestOwnLimitIsFair(t *testing.T) {
	each(t, func(t *testing.T, e entryPoint) {
		l, p := stint.Limit(2), stint.NewPool(stint.Limit(4))
		ctx, cancel := context.WithCancel(bg)
		var others sync.WaitGroup
		for i, opt := range []stint.Option{l, p} {
			others.Go(func() { stint.Range(ctx, 1<<30, sleeps(time.Duration(7+4*i)*time.Millisecond), opt) })
		}
		time.Sleep(time.Second)
		start := time.Now()
		equal(t, "error", e.run(bg, 20, sleeps(time.Millisecond), p, l), nil)
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("20 tasks took %v", d)
		}
		cancel()
		others.Wait()
		p.Close()
	})
}

// A flood with a limit of its own leaves the rest of the pool to others, and those that share that
// limit have turns.
func TestFloodWithALimitOfItsOwn(t *testing.T) {
	each(t, func(t *testing.T, e entryPoint) {
		l, p := stint.Limit(2), stint.NewPool(stint.Limit(4))
		ctx, cancel := context.WithCancel(bg)
		flood := stint.NewGroup(ctx, p, l, stint.Queue(1000))
		for range 1000 {
			flood.Go(sleep(time.Second))
		}
		synctest.Wait()
		equal(t, "running", p.Stats().Running, 2)
		for most, opts := range map[time.Duration][]stint.Option{4 * time.Second: {p}, 10 * time.Second: {p, l}} {
			start := time.Now()
			equal(t, "error", e.run(bg, 8, sleeps(time.Second), opts...), nil)
			if d := time.Since(start); d > most {
				t.Errorf("8 tasks with %d options took %v, want at most %v", len(opts), d, most)
			}
		}
		cancel()
		flood.Wait()
		p.Close()
	})
}

// A limiter that is also the pool's bounds the tasks once. An adaptive one learns.
func TestOwnLimitOfEveryKind(t *testing.T) {
	each(t, func(t *testing.T, e entryPoint) {
		var g gauge
		l := stint.Limit(1)
		p := stint.NewPool(l)
		equal(t, "error", e.run(bg, 3, holds(&g, time.Second), p, l), nil)
		g.Is(t, 0, 1, 3)
		p.Close()
		if e.name == "First" {
			return // its tasks have failed, but for one
		}
		auto := stint.Auto(1, 64)
		before := auto.Current()
		p = stint.NewPool(stint.Limit(100))
		equal(t, "error", e.run(bg, 5000, sleeps(10*time.Millisecond), p, auto), nil)
		p.Close()
		s := auto.Stats()
		equal(t, "tasks that the limiter counts", s.Completed, 5000)
		if s.Limit <= before {
			t.Errorf("the limit was %d, and is %d: %s", before, s.Limit, s.Reason)
		}
	})
}

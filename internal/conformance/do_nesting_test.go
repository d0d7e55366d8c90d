package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// doing calls Do on n goroutines, whose caller waits for all of them.
func doing(l *stint.Limiter) run {
	return func(ctx context.Context, n int, f body, _ ...stint.Option) error {
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { errs[i] = l.Do(ctx, func(ctx context.Context) error { return f(ctx, i) }) })
		}
		wg.Wait()
		return errors.Join(errs...)
	}
}

// Do in the tasks of everything, and everything in Do, on one limiter and on a pool that
// has it: no deadlock, at limit 1 either, and as many at once as the limit allows.
func TestDoNestsInEverything(t *testing.T) {
	for _, limit := range []int{1, 2} {
		for _, e := range entryPoints {
			for _, pooled := range []bool{false, true} {
				for _, doOutside := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d/%s/pool=%v/outside=%v", limit, e.name, pooled, doOutside), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { nestDo(t, limit, e, pooled, doOutside) })
					})
				}
			}
		}
	}
}

func nestDo(t *testing.T, limit int, e entryPoint, pooled, doOutside bool) {
	l := stint.Limit(limit)
	var opt stint.Option = l
	if pooled {
		p := stint.NewPool(l)
		defer p.Close()
		opt = p
	}
	outer, inner := e.run, doing(l)
	if doOutside {
		outer, inner = inner, outer
	}
	var g gauge
	err := outer(t.Context(), 4, func(ctx context.Context, _ int) error {
		return inner(ctx, 4, func(context.Context, int) error { g.Hold(time.Millisecond); return nil }, opt)
	}, opt)
	equal(t, "error", err, nil)
	g.Is(t, 0, limit, 16)
	synctest.Wait() // a worker of the pool returns its permit when it finds no more tasks
	equal(t, "permits out", l.Stats().Running, 0)
}

// Do in Do, 100 times and across another limiter and back, at limit 1.
func TestDoNestsDeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := stint.Limit(1), stint.Limit(1)
		calls := 0
		var walk func(ctx context.Context) error
		walk = func(ctx context.Context) error {
			if calls++; calls == 100 {
				return nil
			}
			return []*stint.Limiter{a, a, b}[calls%3].Do(ctx, walk)
		}
		equal(t, "error", a.Do(t.Context(), walk), nil)
		equal(t, "calls", calls, 100)
		equal(t, "permits out", a.Stats().Running+b.Stats().Running, 0)
	})
}

// The nested calls of one f, which run on several goroutines, have its permit one after
// the other.
func TestDoIsSharedByGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		var g gauge
		err := l.Do(t.Context(), func(ctx context.Context) error {
			return doing(l)(ctx, 10, func(context.Context, int) error { g.Hold(time.Second); return nil })
		})
		equal(t, "error", err, nil)
		g.Is(t, 0, 1, 10)
		equal(t, "time passed", sinceBubble(), 10*time.Second)
	})
}

// A Do inside f that is not given the context of f waits for another permit: at limit 1 for
// the one that f holds, until it gives up.
func TestDoWithAnotherContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		other, cancel := context.WithTimeoutCause(t.Context(), time.Second, errGone)
		defer cancel()
		err := l.Do(t.Context(), func(ctx context.Context) error {
			equal(t, "TryDo", l.TryDo(t.Context(), sleep(0)), stint.ErrBusy)
			equal(t, "TryDo with the context", l.TryDo(ctx, sleep(0)), nil)
			return l.Do(other, sleep(0))
		})
		equal(t, "error", err, errGone)
		equal(t, "time passed", sinceBubble(), time.Second)
	})
}

// A context that outlives its Do borrows nothing: calls with it wait like others.
func TestDoIsOutlived(t *testing.T) {
	for _, nested := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Limit(1)
			var late context.Context
			l.Do(t.Context(), func(ctx context.Context) error {
				late = ctx
				if nested {
					return l.Do(ctx, sleep(0))
				}
				return nil
			})
			go l.Do(t.Context(), sleep(time.Second))
			synctest.Wait()
			equal(t, "TryDo", l.TryDo(late, sleep(0)), stint.ErrBusy)
			equal(t, "Do", l.Do(late, sleep(0)), nil)
			equal(t, "time passed", sinceBubble(), time.Second)
			equal(t, "call", stint.Range(late, 1, func(context.Context, int) error { return nil }, l), nil)
			equal(t, "permits out", l.Stats().Running, 0)
		})
	}
}

// A Do that begins before its task ends, and ends after it, keeps the permit: the limit
// holds.
func TestDoOutlivesItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		var g gauge
		var wg sync.WaitGroup
		l.Do(t.Context(), func(ctx context.Context) error {
			wg.Go(func() { l.Do(ctx, func(context.Context) error { g.Hold(time.Second); return nil }) })
			synctest.Wait()
			return nil
		})
		equal(t, "TryDo", l.TryDo(t.Context(), sleep(0)), stint.ErrBusy)
		equal(t, "Do", l.Do(t.Context(), func(context.Context) error { g.Hold(time.Second); return nil }), nil)
		wg.Wait()
		g.Is(t, 0, 1, 2)
		equal(t, "time passed", sinceBubble(), 2*time.Second)
	})
}

// Do, calls, groups and pools on one limiter are served in the order in which they came.
func TestDoIsServedInTurnWithOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		p := stint.NewPool(l)
		var order []int
		var wg sync.WaitGroup
		for i := range 2 * (len(entryPoints) + 1) {
			note := func(context.Context, int) error {
				order = append(order, i)
				time.Sleep(time.Second)
				return nil
			}
			switch e := i / 2; {
			case i%2 == 0:
				wg.Go(func() { doing(l)(t.Context(), 1, note) })
			case e < len(entryPoints):
				wg.Go(func() { entryPoints[e].run(t.Context(), 1, note, l) })
			default:
				p.Go(func(ctx context.Context) { note(ctx, i) })
			}
			synctest.Wait()
		}
		wg.Wait()
		p.Close()
		if !slices.IsSorted(order) || len(order) != 2*(len(entryPoints)+1) {
			t.Errorf("served in the order %v", order)
		}
	})
}

// Callers that wait in Do in a bubble, outside, and in another bubble leave nothing behind
// in the limiter that belongs to a bubble.
func TestDoInBubbles(t *testing.T) {
	l := stint.Limit(2)
	all := func(t *testing.T) {
		var g gauge
		equal(t, "error", doing(l)(context.Background(), 50, func(context.Context, int) error {
			g.Hold(time.Microsecond)
			return nil
		}), nil)
		g.Is(t, 0, 2, 50)
	}
	for range 3 {
		synctest.Test(t, all)
		all(t)
	}
}

// Callers of Do and TryDo, nested and not, that give up, panic or call Goexit, while the
// limit changes: never more than the largest limit, and all permits are back at the end.
func TestDoUnderEverything(t *testing.T) {
	const most = 4
	l := stint.Limit(most)
	var g gauge
	var wg, late, setter sync.WaitGroup
	stop := make(chan struct{})
	setter.Go(func() {
		for n := 1; ; n = n%most + 1 {
			select {
			case <-stop:
				return
			default:
				l.Set(n)
				runtime.Gosched()
			}
		}
	})
	for caller := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(caller), 1))
			for range 500 {
				ended := make(chan struct{})
				go func(kind, end int) {
					defer close(ended)
					defer func() { recover() }()
					doSomething(l, &g, &late, kind, end)
				}(r.IntN(4), r.IntN(5))
				<-ended
			}
		})
	}
	wg.Wait()
	late.Wait()
	close(stop)
	setter.Wait()
	if g.Max() > most || g.Now() != 0 {
		t.Errorf("at most %d, now %d; want at most %d, 0", g.Max(), g.Now(), most)
	}
	s := l.Stats()
	equal(t, "permits out", s.Running, 0)
	equal(t, "waiting", s.Waiting, 0)
}

// doSomething calls Do or TryDo with an f that ends in some way. late counts the calls that
// may outlive their f.
func doSomething(l *stint.Limiter, g *gauge, late *sync.WaitGroup, kind, end int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := func(ctx context.Context) error {
		g.Enter()
		defer g.Leave()
		switch end {
		case 0:
			panic("boom")
		case 1:
			runtime.Goexit()
		case 2:
			runtime.Gosched()
		}
		return errBoom
	}
	switch kind {
	case 0:
		l.Do(ctx, f)
	case 1:
		l.TryDo(ctx, f)
	case 2:
		go cancel()
		l.Do(ctx, f)
	case 3:
		l.Do(ctx, func(ctx context.Context) error {
			if end == 3 {
				late.Go(func() { l.TryDo(ctx, sleep(0)) })
			}
			return l.Do(ctx, f)
		})
	}
}

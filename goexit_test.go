package stint_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

// 1: a Goexit does not cost a worker, at limit 1. Fails: workerpool v1.3.0,
// gopool v0.1.4, tunny, a subpool of pond v2.7.1.
func TestGoexitCostsNoWorker(t *testing.T) {
	everywhere(t, 2, func(t *testing.T, run run) {
		var n atomic.Int64
		caller := goroutine.ID()
		err := run(context.Background(), 50, func(context.Context, int) error {
			n.Add(1)
			if goroutine.ID() == caller {
				time.Sleep(time.Hour) // leaves the rest to the others
				return nil
			}
			runtime.Goexit()
			return nil
		}, stint.KeepGoing())
		equal(t, "tasks run", n.Load(), 50)
		equal(t, "errors.Is", errors.Is(err, stint.ErrGoexit), true)
	})
	t.Run("Pool.Go", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(1), stint.Queue(0))
			n := 0
			for range 50 {
				p.Go(func(context.Context) { n++; runtime.Goexit() })
			}
			p.Idle(context.Background())
			equal(t, "tasks run", n, 50)
			s := p.Stats()
			equal(t, "completed", s.Completed, 50)
			equal(t, "workers", s.Workers, 1)
			p.Close()
			noneLeft(t)
		})
	})
}

// 2: what waits returns after a Goexit. Fails: workerpool v1.3.0, conc v0.3.0
// (stream), pond v2.7.1 (Task, Group).
func TestWaitReturnsAfterGoexit(t *testing.T) {
	bg := context.Background()
	exit := func(context.Context) { time.Sleep(time.Second); runtime.Goexit() }
	for name, wait := range map[string]func(*stint.Pool){
		"Close":    (*stint.Pool).Close,
		"Idle":     func(p *stint.Pool) { p.Idle(bg) },
		"Shutdown": func(p *stint.Pool) { p.Shutdown(bg) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(1))
				p.Go(exit)
				p.Go(exit)
				start := time.Now()
				wait(p)
				took(t, start, 2*time.Second)
				p.Close()
			})
		})
	}
	t.Run("Wait in a task", func(t *testing.T) { // a Goexit of a task that the waiter may have run itself
		for _, d := range doors[3:] {
			t.Run(d.name, func(t *testing.T) {
				both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
					outer := stint.NewGroup(bg, opt)
					outer.Go(func(ctx context.Context) error {
						return d.run(ctx, 3, func(context.Context, int) error { runtime.Goexit(); return nil }, opt)
					})
					equal(t, "error", outer.Wait(), stint.ErrGoexit)
				})
			})
		}
	})
}

// 3: a Goexit is no success. Fails: errgroup v0.24.0, conc v0.3.0, mr.
func TestGoexitIsNoSuccess(t *testing.T) {
	bg := context.Background()
	g := stint.NewGroup(bg)
	g.Go(func(context.Context) error { runtime.Goexit(); return nil })
	equal(t, "Group", g.Wait(), stint.ErrGoexit)
	r := stint.NewResults[int](bg)
	r.Go(func(context.Context) (int, error) { runtime.Goexit(); return 1, nil })
	values, err := r.Wait()
	equal(t, "Results", err, stint.ErrGoexit)
	equal(t, "the value", values[0], 0)
	p := stint.NewPool()
	equal(t, "Range", stint.Range(bg, 1, func(context.Context, int) error { runtime.Goexit(); return nil }, p), stint.ErrGoexit)
	p.Close()
}

// 4: a sequence with one Goexit delivers the other results and ends. Fails: rill
// (OrderedMap hangs, Map drops the item).
func TestGoexitInASequence(t *testing.T) {
	for _, opts := range [][]stint.Option{{stint.KeepGoing()}, {stint.KeepGoing(), stint.Unordered()}} {
		synctest.Test(t, func(t *testing.T) {
			sum, bad := 0, 0
			for v, err := range stint.MapSeq(context.Background(), count(10), func(_ context.Context, i int) (int, error) {
				if i == 3 {
					runtime.Goexit()
				}
				return i, nil
			}, append(opts, stint.Limit(2))...) {
				var item *stint.ItemError
				if errors.As(err, &item) {
					bad++
					equal(t, "index", item.Index, 3)
					equal(t, "error", item.Err, stint.ErrGoexit)
				}
				sum += v
			}
			equal(t, "errors", bad, 1)
			equal(t, "sum of the others", sum, 45-3)
		})
	}
	t.Run("of the sequence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var got []error
			for _, err := range stint.MapSeq(context.Background(), func(yield func(int) bool) {
				yield(1)
				runtime.Goexit()
			}, func(ctx context.Context, _ int) (int, error) { <-ctx.Done(); return 0, ctx.Err() }) {
				got = append(got, err)
			}
			if len(got) != 1 || got[0] != stint.ErrGoexit {
				t.Errorf("got %v", got)
			}
		})
	})
}

// A Goexit of a stranger's task that a submitter runs, because the queue is full,
// must not end the submitter.
func TestGoexitIsNotTheSubmitters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1), stint.Queue(1))
		reached := false
		p.Go(func(ctx context.Context) {
			p.Go(func(context.Context) { runtime.Goexit() })
			equal(t, "error", p.GoContext(ctx, func(context.Context) {}), nil)
			reached = true
		})
		p.Idle(context.Background())
		p.Close()
		equal(t, "the submitter went on", reached, true)
	})
}

// A Goexit on the caller's goroutine waits for the calls that were begun, and for
// nothing else: not for helpers that stand in line behind strangers.
func TestGoexitOfTheCallerWaitsForNoStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(2)
		var all sync.WaitGroup
		all.Go(func() {
			defer func() { equal(t, "gone after", sinceBubble(), 2*time.Second) }() // with the call that began at 1 s
			caller := goroutine.ID()
			stint.Range(context.Background(), 10, func(context.Context, int) error {
				time.Sleep(time.Second)
				if goroutine.ID() == caller {
					time.Sleep(time.Millisecond)
					runtime.Goexit()
				}
				return nil
			}, l, stint.KeepGoing())
		})
		time.Sleep(time.Millisecond)
		all.Go(func() {
			stint.Range(context.Background(), 2, func(context.Context, int) error { time.Sleep(time.Hour); return nil }, l)
		})
		all.Wait()
	})
}

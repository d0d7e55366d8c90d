package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

func TestFiveOutcomes(t *testing.T) {
	ctx := context.Background()
	t.Run("value", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) {
			if err := run(ctx, 3, func(context.Context, int) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("error", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) {
			equal(t, "error", run(ctx, 3, func(_ context.Context, i int) error { return []error{nil, errBoom, nil}[i] }), errBoom)
		})
	})
	t.Run("panic", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) {
			v := recovered(func() { run(ctx, 1, func(context.Context, int) error { explode("boom"); return nil }) })
			if p, ok := v.(*stint.PanicError); !ok || p.Value != "boom" {
				t.Errorf("recovered %v", v)
			}
		})
	})
	t.Run("Goexit", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) {
			caller := goroutine.ID()
			err := run(ctx, 2, func(context.Context, int) error {
				if goroutine.ID() == caller { // what cannot be stopped is another test
					time.Sleep(time.Second)
					return nil
				}
				runtime.Goexit()
				return nil
			})
			equal(t, "error", err, stint.ErrGoexit)
		})
	})
	t.Run("not run", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(errGone)
			synctest.Wait()
			equal(t, "error", run(ctx, 3, func(context.Context, int) error { t.Error("was run"); return nil }), errGone)
		})
	})
	t.Run("together", func(t *testing.T) { // under KeepGoing: a value, an error, a Goexit, a value
		everywhere(t, 2, func(t *testing.T, run run) {
			caller := goroutine.ID()
			var ran atomic.Int64
			var exited atomic.Int64
			exited.Store(-1)
			err := run(ctx, 5, func(_ context.Context, i int) error {
				ran.Add(1)
				if i == 1 {
					return errBoom
				}
				if goroutine.ID() != caller && exited.CompareAndSwap(-1, int64(i)) {
					runtime.Goexit()
				}
				time.Sleep(time.Second)
				return nil
			}, stint.KeepGoing())
			equal(t, "tasks run", ran.Load(), 5)
			want := []string{"item 1: boom", fmt.Sprintf("item %d: stint: task called runtime.Goexit", exited.Load())}
			slices.Sort(want) // one digit each
			got := strings.Split(fmt.Sprint(err), "\n")
			slices.Sort(got) // Unordered has its own order
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if !errors.Is(err, errBoom) || !errors.Is(err, stint.ErrGoexit) {
				t.Errorf("%v hides an error", err)
			}
		})
	})
	t.Run("a context of the task's own", func(t *testing.T) { // its error is not taken for ours
		everywhere(t, 2, func(t *testing.T, run run) {
			err := run(ctx, 3, func(ctx context.Context, i int) error {
				if i != 1 {
					return nil
				}
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				<-ctx.Done()
				return ctx.Err()
			})
			equal(t, "error", err, context.DeadlineExceeded)
		})
	})
}

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
		for _, e := range entryPoints[3:] {
			t.Run(e.name, func(t *testing.T) {
				both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
					outer := stint.NewGroup(bg, opt)
					outer.Go(func(ctx context.Context) error {
						return e.run(ctx, 3, func(context.Context, int) error { runtime.Goexit(); return nil }, opt)
					})
					equal(t, "error", outer.Wait(), stint.ErrGoexit)
				})
			})
		}
	})
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

// A Goexit of a task of another group that a submitter runs, because the queue is full, does
// not end the submitter.
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

// A Goexit on the caller's goroutine waits for the calls that have started, and not
// for helpers that wait for a permit behind other calls.
func TestGoexitOfTheCallerWaitsForItsOwnCalls(t *testing.T) {
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

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
)

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errGone)
	return ctx
}

// 32: every accepted task is run or reported, also when Go and Close meet. Fails:
// workerpool before v1.2.0 (#76, panics), pond before v2.3.1.
func TestEveryAcceptedTaskIsAccountedFor(t *testing.T) {
	for round := range 300 {
		p := stint.NewPool(stint.Limit(2), stint.Queue(round%4))
		g := stint.NewGroup(context.Background(), p, stint.Queue(round%3))
		var accepted, ran atomic.Int64
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for p.Go(func(context.Context) { ran.Add(1) }) == nil {
					accepted.Add(1)
				}
			})
			wg.Go(func() {
				for g.Go(func(context.Context) error { ran.Add(1); return nil }) {
					accepted.Add(1)
				}
			})
		}
		for ran.Load() < 10 {
			runtime.Gosched()
		}
		n := 0
		if round%2 == 0 {
			p.Close()
		} else {
			n, _ = p.Shutdown(ended())
		}
		wg.Wait()
		if err := g.Wait(); err != stint.ErrClosed {
			t.Fatalf("the group: %v, want ErrClosed", err)
		}
		s := p.Stats()
		if ran.Load()+int64(n) != accepted.Load() || s.Completed != uint64(ran.Load()) || s.Dropped != uint64(n) {
			t.Fatalf("round %d: %d accepted, %d ran, %d abandoned, %+v", round, accepted.Load(), ran.Load(), n, s)
		}
	}
}

// Shutdown runs all if there is time, and says how many it abandoned if not.
func TestShutdownCountsTheAbandoned(t *testing.T) {
	bg := context.Background()
	t.Run("in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(2))
			var g gauge
			for range 10 {
				p.Go(func(context.Context) { g.hold(time.Second) })
			}
			n, err := p.Shutdown(bg)
			equal(t, "abandoned", n, 0)
			equal(t, "error", err, nil)
			g.is(t, 0, 2, 10)
			equal(t, "time passed", sinceBubble(), 5*time.Second)
		})
	})
	t.Run("late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(2))
			group := stint.NewGroup(bg, p)
			var g gauge
			for range 10 {
				p.Go(func(ctx context.Context) {
					g.hold(time.Second)
					if ctx.Err() != nil {
						equal(t, "cause", context.Cause(ctx), stint.ErrClosed)
						time.Sleep(time.Hour) // Shutdown waits for those that run
					}
				})
				group.Go(func(context.Context) error { g.hold(time.Second); return nil })
			}
			ctx, cancel := context.WithTimeoutCause(bg, 2500*time.Millisecond, errGone)
			defer cancel()
			n, err := p.Shutdown(ctx)
			equal(t, "abandoned", n, 20-6)
			equal(t, "error", err, errGone)
			g.is(t, 0, 2, 6)
			equal(t, "time passed", sinceBubble(), time.Hour+3*time.Second)
			equal(t, "error of the group", group.Wait(), stint.ErrClosed)
			s := p.Stats()
			equal(t, "completed", s.Completed, 6)
			equal(t, "dropped", s.Dropped, 14)
			n, err = p.Shutdown(bg)
			equal(t, "abandoned, asked again", n, 14)
			equal(t, "error, asked again", err, nil)
			noneLeft(t)
		})
	})
	t.Run("doors", func(t *testing.T) { // what is abandoned is told; nothing hangs
		for _, d := range doors {
			for _, busy := range []bool{false, true} { // strangers have the worker
				synctest.Test(t, func(t *testing.T) {
					p := stint.NewPool(stint.Limit(1))
					if busy {
						p.Go(func(ctx context.Context) { time.Sleep(time.Hour) })
						synctest.Wait()
					}
					var g gauge
					result := make(chan error)
					go func() {
						result <- d.run(bg, 100, func(context.Context, int) error { g.hold(time.Second); return nil }, p)
					}()
					synctest.Wait()
					go p.Shutdown(ended())
					equal(t, d.name, <-result, stint.ErrClosed)
					if busy {
						g.is(t, 0, 0, 0)
					} else {
						g.is(t, 0, 1, 1)
					}
					p.Close()
					noneLeft(t)
				})
			}
		}
	})
}

// Close runs what was accepted: a Go or TryGo that it refuses takes nothing of
// that back.
func TestCloseRunsWhatWasAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		g := stint.NewGroup(context.Background(), p)
		ran := 0
		for range 3 {
			g.Go(func(ctx context.Context) error {
				time.Sleep(time.Second)
				equal(t, "the task's context", ctx.Err(), nil)
				ran++
				return nil
			})
		}
		synctest.Wait()
		go p.Close()
		synctest.Wait()
		equal(t, "TryGo", g.TryGo(sleep(0)), false)
		equal(t, "error", g.Wait(), stint.ErrClosed) // the refused task is missing
		equal(t, "tasks run", ran, 3)
	})
	t.Run("calls", func(t *testing.T) { // a call that has begun before Close ends as if there were none
		for _, d := range doors[:3] {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(2))
				var g gauge
				time.AfterFunc(time.Second/2, p.Close)
				equal(t, d.name, d.run(context.Background(), 10, func(context.Context, int) error { g.hold(time.Second); return nil }, p), nil)
				g.is(t, 0, 2, 10)
			})
		}
	})
}

// 33: Close may be called twice and at once, and what comes after it is defined.
// Fails: conc v0.3.0 (panics).
func TestCloseTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		p.Go(func(context.Context) { time.Sleep(time.Hour) })
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { p.Close(); equal(t, "time passed", sinceBubble(), time.Hour) })
			wg.Go(func() { p.Shutdown(context.Background()); equal(t, "time passed", sinceBubble(), time.Hour) })
			wg.Go(func() {
				equal(t, "Idle", p.Idle(context.Background()), nil)
				equal(t, "time passed", sinceBubble(), time.Hour)
			})
		}
		wg.Wait()
		p.Close()
		noneLeft(t)
	})
}

// Wait gives the same answer each time, to several callers at once, and whatever
// becomes of the pool afterwards.
func TestWaitTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bg := context.Background()
		p := stint.NewPool(stint.Limit(1))
		good, bad := stint.NewGroup(bg, p), stint.NewGroup(bg, p)
		good.Go(sleep(time.Second))
		bad.Go(func(context.Context) error { time.Sleep(time.Second); return errBoom })
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { equal(t, "good", good.Wait(), nil) })
			wg.Go(func() { equal(t, "bad", bad.Wait(), errBoom) })
		}
		wg.Wait()
		p.Close()
		for range 2 {
			equal(t, "Go", good.Go(sleep(0)), false)
			equal(t, "good after Close", good.Wait(), nil)
			equal(t, "Go", bad.Go(sleep(0)), false)
			equal(t, "bad after Close", bad.Wait(), errBoom)
		}
		p.Shutdown(ended())
		equal(t, "good after Shutdown", good.Wait(), nil)
	})
	t.Run("at once with Go", func(t *testing.T) { // for the race detector
		for range 100 {
			p := stint.NewPool(stint.Limit(1))
			g := stint.NewGroup(context.Background(), p)
			var wg sync.WaitGroup
			wg.Go(func() { g.Go(sleep(0)) })
			wg.Go(func() { g.Wait() })
			wg.Go(p.Close)
			wg.Wait()
			g.Wait()
		}
	})
}

// 35: after Close nothing is left, at once, not within a tick. Fails: ants
// (#212, #263).
func TestNothingIsLeftAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(100))
		for range 100 {
			p.Go(func(context.Context) { time.Sleep(time.Second) })
		}
		p.Close()
		equal(t, "time passed", sinceBubble(), time.Second)
		equal(t, "workers", p.Stats().Workers, 0)
		noneLeft(t)
	})
	t.Run("idle", func(t *testing.T) { // workers that are parked go at once too
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(100))
			for range 100 {
				p.Go(func(context.Context) { time.Sleep(time.Second) })
			}
			p.Idle(context.Background())
			p.Close()
			equal(t, "time passed", sinceBubble(), time.Second)
			noneLeft(t)
		})
	})
}

// A call does not begin on a pool after its Close has returned.
func TestNothingBeginsAfterClose(t *testing.T) {
	var late atomic.Int64
	for range 500 {
		for _, d := range doors {
			p := stint.NewPool(stint.Limit(1))
			var closed atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				d.run(context.Background(), 1, func(context.Context, int) error {
					if closed.Load() {
						late.Add(1)
					}
					return nil
				}, p)
			})
			p.Close()
			closed.Store(true)
			wg.Wait()
			equal(t, "workers", p.Stats().Workers, 0)
		}
	}
	equal(t, "calls begun after Close", late.Load(), 0)
}

// Close runs what the pool has accepted, and so what those tasks start with their
// context; a stranger is refused meanwhile.
func TestCloseRunsWhatTasksStart(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(1))
				var ran atomic.Int64
				err, last := errBoom, errBoom
				p.Go(func(ctx context.Context) {
					time.Sleep(time.Second)
					err = d.run(ctx, 3, func(context.Context, int) error { ran.Add(1); return nil }, p)
					last = p.GoContext(ctx, func(context.Context) { ran.Add(1) })
				})
				time.Sleep(time.Second / 2)
				go func() {
					synctest.Wait() // Close has begun
					equal(t, "a stranger's", p.Go(func(context.Context) {}), stint.ErrClosed)
				}()
				p.Close()
				equal(t, "error", err, nil)
				equal(t, "error of GoContext", last, nil)
				equal(t, "ran", ran.Load(), 4)
			})
		})
	}
}

// After Close has returned nobody starts a task: neither one that runs elsewhere on
// the same Limiter, nor one with the context of a task that has ended.
func TestClosedPoolTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(2)
		p := stint.NewPool(l)
		var saved context.Context
		p.Go(func(ctx context.Context) { saved = context.WithoutCancel(ctx) })
		p.Close()
		late := func(context.Context) { t.Error("runs on a pool whose Close has returned") }
		g := stint.NewGroup(context.Background(), l)
		g.Go(func(ctx context.Context) error {
			if err := p.GoContext(ctx, late); !errors.Is(err, stint.ErrClosed) {
				t.Errorf("from a task on the same limiter: %v", err)
			}
			if err := stint.Range(ctx, 1, func(context.Context, int) error { late(nil); return nil }, p); !errors.Is(err, stint.ErrClosed) {
				t.Errorf("a loop of a task on the same limiter: %v", err)
			}
			return nil
		})
		g.Wait()
		if err := stint.Range(saved, 1, func(context.Context, int) error { late(nil); return nil }, p); !errors.Is(err, stint.ErrClosed) {
			t.Errorf("with the context of a task that has ended: %v", err)
		}
	})
}

// 34: Close in a task of the pool, which would wait for itself, fails loudly; in a
// task of another pool it is fine. Fails: pond v2.7.1 (StopAndWait hangs).
func TestCloseInATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other := stint.NewPool(), stint.NewPool()
		p.Go(func(ctx context.Context) {
			equal(t, "in a task", recovered(p.Close), any("stint: Pool.Close: called by a task of the pool, which would wait for itself"))
			equal(t, "in a task of another", recovered(other.Close), nil)
			g := stint.NewGroup(ctx, p)
			g.Go(func(context.Context) error {
				equal(t, "in a group's task", recovered(p.Close) != nil, true)
				return nil
			})
			equal(t, "error", g.Wait(), nil)
		})
		p.Close()
		noneLeft(t)
	})
}

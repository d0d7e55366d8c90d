package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	_ "github.com/stint-go/stint/debug" // and the other packages that callers import, for the subtest "import"
	_ "github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/internal/goroutine"
	_ "github.com/stint-go/stint/par"
	_ "github.com/stint-go/stint/stream"
)

func TestStructured(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func() error
	}{
		{"nil", func() error { return nil }},
		{"error", func() error { return errBoom }},
		{"panic", func() error { panic("boom") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The others take no notice of the cancelled context for an hour.
			everywhere(t, 3, func(t *testing.T, run run) {
				var g gauge
				start := time.Now()
				recovered(func() {
					run(context.Background(), 3, func(_ context.Context, i int) error {
						if i == 1 {
							time.Sleep(time.Second)
							return c.end()
						}
						g.Hold(time.Hour)
						return nil
					})
				})
				g.Is(t, 0, 2, 2)
				took(t, start, time.Hour)
			})
		})
	}
	t.Run("Goexit of the caller", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var g gauge
			start := time.Now()
			var wg sync.WaitGroup
			wg.Go(func() {
				caller := goroutine.ID()
				stint.Range(context.Background(), 3, func(context.Context, int) error {
					if goroutine.ID() == caller {
						runtime.Goexit()
					}
					g.Hold(time.Hour)
					return nil
				}, stint.Limit(3))
				t.Error("Range returned")
			})
			wg.Wait()
			g.Is(t, 0, g.Max(), g.Max())
			took(t, start, time.Duration(min(g.Total(), 1))*time.Hour)
			noneLeft(t)
		})
	})
	t.Run("break", func(t *testing.T) {
		for _, opts := range [][]stint.Option{{}, {stint.Unordered()}, {stint.KeepGoing()}} {
			synctest.Test(t, func(t *testing.T) {
				var g gauge
				start := time.Now()
				for range stint.MapSeq(context.Background(), count(1000), func(ctx context.Context, i int) (int, error) {
					if i == 0 {
						return 0, nil
					}
					g.Hold(time.Hour)
					return 0, context.Cause(ctx)
				}, append(opts, stint.Limit(3))...) {
					synctest.Wait()
					break
				}
				g.Is(t, 0, 3, 3)
				took(t, start, time.Hour)
				noneLeft(t)
			})
		}
	})
	t.Run("panic and Goexit in the loop", func(t *testing.T) {
		for _, leave := range []func(){func() { panic("mine") }, runtime.Goexit} {
			synctest.Test(t, func(t *testing.T) {
				var g gauge
				var wg sync.WaitGroup
				wg.Go(func() {
					defer func() { recover() }()
					for range stint.MapSeq(context.Background(), count(1000), func(_ context.Context, i int) (int, error) {
						if i > 0 {
							g.Hold(time.Hour)
						}
						return 0, nil
					}, stint.Limit(2)) {
						synctest.Wait()
						leave()
					}
					t.Error("not left")
				})
				wg.Wait()
				g.Is(t, 0, 2, 2)
				noneLeft(t)
			})
		}
	})
	t.Run("panic and Goexit of the sequence", func(t *testing.T) {
		for _, leave := range []func(){func() { panic("mine") }, runtime.Goexit} {
			synctest.Test(t, func(t *testing.T) {
				var g gauge
				var wg sync.WaitGroup
				start := time.Now()
				wg.Go(func() {
					defer func() { recover() }()
					stint.EachSeq(context.Background(), func(yield func(int) bool) {
						yield(1)
						synctest.Wait()
						leave()
					}, func(ctx context.Context, _ int) error {
						<-ctx.Done()
						g.Hold(time.Hour)
						return nil
					}, stint.Limit(2))
					t.Error("not left")
				})
				wg.Wait()
				g.Is(t, 0, 1, 1)
				took(t, start, time.Hour)
				noneLeft(t)
			})
		}
	})
	t.Run("Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(2))
			var g gauge
			for range 6 {
				p.Go(func(context.Context) { g.Hold(time.Hour) })
			}
			start := time.Now()
			p.Close()
			g.Is(t, 0, 2, 6)
			took(t, start, 3*time.Hour)
			noneLeft(t)
		})
	})
	t.Run("import", func(t *testing.T) {
		if !isChild() {
			output, failed := child(t)
			if failed || !strings.Contains(output, "goroutines of the library: 0") {
				t.Error(output)
			}
			return
		}
		fmt.Println("goroutines of the library:", len(goroutine.Ours()))
	})
}

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errGone)
	return ctx
}

// 32: every accepted task is run or reported, also when Go and Close meet. Fails:
// workerpool before v1.2.0 (#76, panics), pond before v2.3.1.
func TestEveryAcceptedTaskIsAccountedFor(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for round := range rounds {
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

// Shutdown runs all tasks if there is time, and otherwise returns how many it abandoned.
func TestShutdownCountsTheAbandoned(t *testing.T) {
	bg := context.Background()
	t.Run("in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(2))
			var g gauge
			for range 10 {
				p.Go(func(context.Context) { g.Hold(time.Second) })
			}
			n, err := p.Shutdown(bg)
			equal(t, "abandoned", n, 0)
			equal(t, "error", err, nil)
			g.Is(t, 0, 2, 10)
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
					g.Hold(time.Second)
					if ctx.Err() != nil {
						equal(t, "cause", context.Cause(ctx), stint.ErrClosed)
						time.Sleep(time.Hour) // Shutdown waits for those that run
					}
				})
				group.Go(func(context.Context) error { g.Hold(time.Second); return nil })
			}
			ctx, cancel := context.WithTimeoutCause(bg, 2500*time.Millisecond, errGone)
			defer cancel()
			n, err := p.Shutdown(ctx)
			equal(t, "abandoned", n, 20-6)
			equal(t, "error", err, errGone)
			g.Is(t, 0, 2, 6)
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
	t.Run("entry points", func(t *testing.T) { // what is abandoned is told; nothing hangs
		for _, e := range entryPoints {
			for _, busy := range []bool{false, true} { // another task has the worker
				synctest.Test(t, func(t *testing.T) {
					p := stint.NewPool(stint.Limit(1))
					if busy {
						p.Go(func(ctx context.Context) { time.Sleep(time.Hour) })
						synctest.Wait()
					}
					var g gauge
					result := make(chan error)
					go func() {
						result <- e.run(bg, 100, func(context.Context, int) error { g.Hold(time.Second); return nil }, p)
					}()
					synctest.Wait()
					go p.Shutdown(ended())
					equal(t, e.name, <-result, stint.ErrClosed)
					if busy {
						g.Is(t, 0, 0, 0)
					} else {
						g.Is(t, 0, 1, 1)
					}
					p.Close()
					noneLeft(t)
				})
			}
		}
	})
}

// Close runs the tasks that were accepted, also when a later Go or TryGo is refused.
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
		for _, e := range entryPoints[:3] {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(2))
				var g gauge
				time.AfterFunc(time.Second/2, p.Close)
				equal(t, e.name, e.run(context.Background(), 10, func(context.Context, int) error { g.Hold(time.Second); return nil }, p), nil)
				g.Is(t, 0, 2, 10)
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

// Wait returns the same each time, to several callers at once, and after the end of the
// pool.
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

// No call starts on a pool after Close has returned.
func TestNothingBeginsAfterClose(t *testing.T) {
	var late atomic.Int64
	for range 500 {
		for _, e := range entryPoints {
			p := stint.NewPool(stint.Limit(1))
			var closed atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				e.run(context.Background(), 1, func(context.Context, int) error {
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

// Close runs the accepted tasks, and the tasks that they start with their context; others
// are refused meanwhile.
func TestCloseRunsWhatTasksStart(t *testing.T) {
	for _, e := range entryPoints {
		t.Run(e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(1))
				var ran atomic.Int64
				err, last := errBoom, errBoom
				p.Go(func(ctx context.Context) {
					time.Sleep(time.Second)
					err = e.run(ctx, 3, func(context.Context, int) error { ran.Add(1); return nil }, p)
					last = p.GoContext(ctx, func(context.Context) { ran.Add(1) })
				})
				time.Sleep(time.Second / 2)
				go func() {
					synctest.Wait() // Close has begun
					equal(t, "without its context", p.Go(func(context.Context) {}), stint.ErrClosed)
				}()
				p.Close()
				equal(t, "error", err, nil)
				equal(t, "error of GoContext", last, nil)
				equal(t, "ran", ran.Load(), 4)
			})
		})
	}
}

// After Close has returned no task starts: neither by a task that runs elsewhere on the same
// Limiter, nor with the context of a task that has ended.
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

// 34: a pool is closed by a task of another pool. Shutdown by a task of the pool, which
// would wait for itself, panics: see TestBadArguments.
func TestCloseInATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other := stint.NewPool(), stint.NewPool()
		other.Go(func(context.Context) {})
		p.Go(func(context.Context) { other.Close() })
		p.Close()
		noneLeft(t)
	})
}

package conformance_test

import (
	"context"
	"errors"
	"math/rand/v2"
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

func TestWaitingCanBeGivenUp(t *testing.T) {
	bg := context.Background()
	t.Run("own context", func(t *testing.T) {
		both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
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
		})
	})
	t.Run("own context, Results", func(t *testing.T) {
		both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
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
		})
	})
	t.Run("end of the group", func(t *testing.T) {
		both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
			for _, f := range []func(context.Context) error{
				func(context.Context) error { time.Sleep(time.Second); return errBoom },
				func(context.Context) error { time.Sleep(time.Second); runtime.Goexit(); return nil },
			} {
				g := stint.NewGroup(bg, opt, stint.Queue(0))
				g.Go(f)
				start := time.Now()
				equal(t, "Go", g.Go(func(context.Context) error { t.Error("was run"); return nil }), false)
				took(t, start, time.Second)
				equal(t, "GoContext", errors.Is(g.GoContext(bg, sleep(0)), stint.ErrClosed), true)
				equal(t, "TryGo", g.TryGo(sleep(0)), false)
				g.Wait()
			}
		})
	})
	t.Run("end of the group's context", func(t *testing.T) {
		both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
			ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
			defer cancel()
			g := stint.NewGroup(ctx, opt, stint.Queue(0))
			g.Go(sleep(time.Hour))
			start := time.Now()
			equal(t, "Go", g.Go(func(context.Context) error { t.Error("was run"); return nil }), false)
			took(t, start, time.Second)
			equal(t, "error", g.Wait(), errGone)
		})
	})
	t.Run("Go after the end of the context", func(t *testing.T) {
		both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
			ctx, cancel := context.WithCancelCause(bg)
			g := stint.NewGroup(ctx, opt)
			r := stint.NewResults[int](ctx, opt)
			cancel(errGone) // and nobody has had the time to tell the group
			equal(t, "Go", g.Go(sleep(0)), false)
			equal(t, "TryGo", g.TryGo(sleep(0)), false)
			equal(t, "GoContext", errors.Is(g.GoContext(bg, sleep(0)), stint.ErrClosed), true)
			equal(t, "Results.Go", r.Go(func(context.Context) (int, error) { return 0, nil }), false)
			equal(t, "error", g.Wait(), errGone)
			_, err := r.Wait()
			equal(t, "error of Results", err, errGone)
		})
	})
	t.Run("Close and Shutdown", func(t *testing.T) {
		for name, end := range map[string]func(*stint.Pool){
			"Close":    (*stint.Pool).Close,
			"Shutdown": func(p *stint.Pool) { p.Shutdown(bg) },
		} {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(1), stint.Queue(0))
				g := stint.NewGroup(bg, p, stint.Queue(0))
				p.Go(func(context.Context) { time.Sleep(time.Hour) })
				start := time.Now()
				time.AfterFunc(time.Second, func() { end(p) })
				var wg sync.WaitGroup
				wg.Go(func() {
					equal(t, name+": Pool.Go", p.Go(func(context.Context) { t.Error("was run") }), stint.ErrClosed)
					took(t, start, time.Second)
				})
				wg.Go(func() {
					equal(t, name+": Pool.GoContext", p.GoContext(bg, func(context.Context) { t.Error("was run") }), stint.ErrClosed)
					took(t, start, time.Second)
				})
				wg.Go(func() {
					equal(t, name+": Group.Go", g.Go(func(context.Context) error { t.Error("was run"); return nil }), false)
					took(t, start, time.Second)
				})
				wg.Wait()
				equal(t, name+": error of the group", g.Wait(), stint.ErrClosed)
				equal(t, name+": TryGo", p.TryGo(func(context.Context) {}), false)
				p.Close()
			})
		}
	})
	t.Run("a call that waits for its limiter", func(t *testing.T) {
		for _, e := range entryPoints {
			t.Run(e.name, func(t *testing.T) {
				both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
					g := stint.NewGroup(bg, opt)
					g.Go(sleep(time.Hour))
					synctest.Wait()
					ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
					defer cancel()
					start := time.Now()
					equal(t, "error", e.run(ctx, 5, func(context.Context, int) error { t.Error("was run"); return nil }, opt), errGone)
					took(t, start, time.Second)
					equal(t, "error of the group", g.Wait(), nil)
				})
			})
		}
	})
	t.Run("Idle and Shutdown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(1))
			p.Go(func(ctx context.Context) { <-ctx.Done(); equal(t, "cause", context.Cause(ctx), stint.ErrClosed) })
			ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
			defer cancel()
			start := time.Now()
			equal(t, "Idle", p.Idle(ctx), errGone)
			took(t, start, time.Second)
			n, err := p.Shutdown(ctx)
			equal(t, "abandoned", n, 0)
			equal(t, "Shutdown", err, errGone)
		})
	})
	t.Run("in turn", func(t *testing.T) { // FIFO among those who wait for room
		for _, queue := range []int{0, 1, 3} {
			synctest.Test(t, func(t *testing.T) {
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
			})
		}
	})
}

// 43: a group with a million queued tasks delays the first task of another by one task's
// time. No other library has a pool shared by groups that does this.
func TestBusyGroupDelaysByOneTask(t *testing.T) {
	const tasks = 1_000_000
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(2))
		ctx, cancel := context.WithCancel(context.Background())
		busy := stint.NewGroup(ctx, p, stint.Queue(1<<20))
		task := sleep(time.Second)
		for range tasks {
			busy.Go(task)
		}
		time.Sleep(10*time.Second + time.Millisecond) // in the middle of two tasks
		synctest.Wait()
		equal(t, "queued", p.Stats().Queued, tasks-22)
		for _, e := range entryPoints {
			start := time.Now()
			var first time.Duration
			err := e.run(context.Background(), 1, func(context.Context, int) error { first = time.Since(start); return nil }, p)
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
			g := stint.NewGroup(context.Background(), p)
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
	for _, e := range entryPoints {
		t.Run(e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(1))
				defer p.Close()
				g := stint.NewGroup(context.Background(), p)
				for range 5 {
					g.Go(sleep(time.Hour))
				}
				synctest.Wait()
				start := time.Now()
				var last time.Duration
				e.run(context.Background(), 2, func(context.Context, int) error { last = time.Since(start); return nil }, p)
				took(t, start, last)
				if last > 3*time.Hour {
					t.Errorf("the second call was at %v, want 2h: one task of the group each", last)
				}
				g.Wait()
			})
		})
	}
}

// Two calls that share a limiter of one take turns, call by call: neither waits
// until the other is done.
func TestCallsShareALimiter(t *testing.T) {
	for _, a := range entryPoints {
		for _, b := range entryPoints {
			t.Run(a.name+" and "+b.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := stint.Limit(1)
					var order []byte
					var wg sync.WaitGroup
					for i, e := range []entryPoint{a, b} {
						wg.Go(func() {
							e.run(context.Background(), 20, func(context.Context, int) error {
								time.Sleep(time.Millisecond)
								order = append(order, "ab"[i])
								return nil
							}, l)
						})
					}
					wg.Wait()
					equal(t, "time passed", sinceBubble(), 40*time.Millisecond)
					// A call waits for one or two permits, so neither call gets three turns
					// before the other gets one, while both have work.
					first := string(order[:20])
					for _, run := range []string{"aaaa", "bbbb"} {
						if strings.Contains(first, run) {
							t.Errorf("in the order %s", order)
						}
					}
				})
			})
		}
	}
}

// 41: goroutines that wait for a limiter are served first come, first served.
func TestLimiterIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		var order []int
		var wg sync.WaitGroup
		for i := range 20 {
			e := entryPoints[i%len(entryPoints)]
			wg.Go(func() {
				e.run(context.Background(), 1, func(context.Context, int) error {
					order = append(order, i)
					time.Sleep(time.Second)
					return nil
				}, l)
			})
			synctest.Wait()
		}
		wg.Wait()
		if !slices.Equal(order, indexes(20)) {
			t.Errorf("served in the order %v", order)
		}
	})
}

// 40: nothing spins while tasks wait, at GOMAXPROCS 1 either: the clock of a
// bubble stands still while any goroutine is runnable.
func TestWaitingCostsNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	everywhere(t, 1, func(t *testing.T, run run) {
		equal(t, "error", run(context.Background(), 5, func(context.Context, int) error { time.Sleep(time.Minute); return nil }), nil)
		equal(t, "time passed", sinceBubble(), 5*time.Minute)
	})
}

// 42: no wake-up is lost when submitters, panics, Goexit, expiry of workers, changes of the
// limit and cancelled groups meet. A lost wake-up would be a deadlock of the bubble.
func TestNoWakeUpIsLost(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			bg := context.Background()
			l := stint.Limit(1 + int(seed)%3)
			p := stint.NewPool(l, stint.Queue(int(seed)%5), stint.OnPanic(func(*stint.PanicError) {}))
			var accepted, ran atomic.Int64
			var wg sync.WaitGroup
			for actor := range 6 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(seed, uint64(actor)))
					odd := func() {
						ran.Add(1)
						switch r := rand.IntN(20); r {
						case 0:
							runtime.Goexit()
						case 1:
							panic("boom")
						case 2:
							time.Sleep(2 * time.Second)
						default:
							time.Sleep(time.Duration(r) * time.Microsecond)
						}
					}
					for range 40 {
						switch r.IntN(7) {
						case 0:
							if p.Go(func(context.Context) { odd() }) == nil {
								accepted.Add(1)
							}
						case 1:
							ctx, cancel := context.WithTimeout(bg, time.Duration(r.IntN(50))*time.Microsecond)
							if p.GoContext(ctx, func(context.Context) { odd() }) == nil {
								accepted.Add(1)
							}
							cancel()
						case 2:
							l.Set(1 + r.IntN(4))
						case 3:
							time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
						case 4:
							opt := []stint.Option{p, l}[r.IntN(2)]
							ctx, cancel := context.WithCancel(bg)
							e := entryPoints[r.IntN(len(entryPoints))]
							stop := r.IntN(3) == 0
							done := make(chan struct{})
							go func() {
								defer close(done)
								defer func() { recover() }()
								e.run(ctx, 10, func(ctx context.Context, i int) error {
									if i == 5 && stop {
										cancel()
									}
									return e.run(ctx, 2, func(context.Context, int) error { time.Sleep(time.Microsecond); return nil }, opt)
								}, opt)
							}()
							<-done
							cancel()
						case 5:
							p.Stats()
							p.TryGo(func(context.Context) {})
						case 6:
							ctx, cancel := context.WithTimeout(bg, time.Millisecond)
							p.Idle(ctx)
							cancel()
						}
					}
				})
			}
			wg.Wait()
			p.Close()
			equal(t, "tasks run", ran.Load(), accepted.Load())
			synctest.Wait()
			equal(t, "the limiter at the end", usage(l), [3]int{l.Current()})
			noneLeft(t)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
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

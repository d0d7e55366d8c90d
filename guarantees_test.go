package stint_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/stint-go/stint/internal/goroutine"
)

var (
	errBoom = errors.New("boom")
	errGone = errors.New("gone")
)

func TestBounded(t *testing.T) {
	ctx := context.Background()
	for _, limit := range []int{1, 2, 5} {
		t.Run(fmt.Sprint("limit=", limit), func(t *testing.T) {
			everywhere(t, limit, func(t *testing.T, run run) {
				var g gauge
				start := time.Now()
				if err := run(ctx, 4*limit, func(context.Context, int) error { g.hold(time.Second); return nil }); err != nil {
					t.Error(err)
				}
				g.is(t, 0, limit, 4*limit)
				took(t, start, 4*time.Second)
			})
		})
	}
	t.Run("Pool.Go", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(3))
			var g gauge
			start := time.Now()
			for range 12 {
				p.Go(func(context.Context) { g.hold(time.Second) })
			}
			p.Close()
			g.is(t, 0, 3, 12)
			took(t, start, 4*time.Second)
		})
	})
	t.Run("shared", func(t *testing.T) { // all doors and a pool at once under one limit
		synctest.Test(t, func(t *testing.T) {
			l := stint.Limit(3)
			p := stint.NewPool(l)
			var g gauge
			var wg sync.WaitGroup
			start := time.Now()
			for _, d := range doors {
				wg.Go(func() {
					if err := d.run(ctx, 6, func(context.Context, int) error { g.hold(time.Second); return nil }, l); err != nil {
						t.Error(d.name, err)
					}
				})
			}
			for range 6 {
				p.Go(func(context.Context) { g.hold(time.Second) })
			}
			wg.Wait()
			p.Close()
			g.is(t, 0, 3, 6*len(doors)+6)
			took(t, start, time.Duration(2*len(doors)+2)*time.Second)
			equal(t, "the limiter at the end", usage(l), [3]int{3})
		})
	})
	t.Run("changed", func(t *testing.T) {
		for _, d := range doors {
			t.Run(d.name, func(t *testing.T) {
				both(t, 2, func(t *testing.T, opt stint.Option, set func(int)) {
					var g gauge
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						d.run(ctx, 40, func(context.Context, int) error { g.hold(time.Second); return nil }, opt)
					}()
					at := func(when float64, want int) {
						time.Sleep(time.Duration(when*float64(time.Second)) - sinceBubble())
						g.runs(t, want)
					}
					at(0.5, 2)
					at(3.25, 2)
					set(5) // three more begin at once
					at(3.26, 5)
					at(5.75, 5)
					set(1)      // none begins while others run: two end at 6, three at 6.25
					at(6.1, 3)  // 5 - 2
					at(6.26, 1) // one begins
					at(9.75, 1)
					set(2)
					at(9.76, 2)
					<-ended
					g.is(t, 0, 5, 40)
				})
			})
		}
	})
	t.Run("panics and Goexit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var caught atomic.Int64
			p := stint.NewPool(stint.Limit(3), stint.OnPanic(func(*stint.PanicError) { caught.Add(1) }))
			var g gauge
			start := time.Now()
			for i := range 30 {
				p.Go(func(context.Context) {
					g.hold(time.Second)
					switch i % 3 {
					case 0:
						panic(i)
					case 1:
						runtime.Goexit()
					}
				})
			}
			p.Close()
			g.is(t, 0, 3, 30)
			took(t, start, 10*time.Second)
			equal(t, "panics caught", caught.Load(), 10)
		})
	})
	t.Run("without a bubble", func(t *testing.T) { // real time, real processors: no bound on how long
		l := stint.Limit(3)
		p := stint.NewPool(l, stint.Queue(5))
		var g gauge
		var wg sync.WaitGroup
		task := func(context.Context, int) error { g.enter(); runtime.Gosched(); g.leave(); return nil }
		stop := make(chan struct{})
		changed := make(chan struct{})
		go func() {
			defer close(changed)
			for n := 1; ; n = n%3 + 1 { // never more than 3
				select {
				case <-stop:
					return
				default:
					l.Set(n)
					runtime.Gosched()
				}
			}
		}()
		for _, d := range doors {
			wg.Go(func() { d.run(ctx, 300, task, l) })
			wg.Go(func() { d.run(ctx, 300, task, p) })
		}
		wg.Wait()
		close(stop)
		<-changed
		p.Close()
		if g.max > 3 || g.now != 0 || g.total != 600*len(doors) {
			t.Errorf("at most %d, now %d, in all %d; want 3 at most, 0, %d", g.max, g.now, g.total, 600*len(doors))
		}
	})
}

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
						g.hold(time.Hour)
						return nil
					})
				})
				g.is(t, 0, 2, 2)
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
					g.hold(time.Hour)
					return nil
				}, stint.Limit(3))
				t.Error("Range returned")
			})
			wg.Wait()
			g.is(t, 0, g.max, g.max)
			took(t, start, time.Duration(min(g.total, 1))*time.Hour)
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
					g.hold(time.Hour)
					return 0, context.Cause(ctx)
				}, append(opts, stint.Limit(3))...) {
					synctest.Wait()
					break
				}
				g.is(t, 0, 3, 3)
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
							g.hold(time.Hour)
						}
						return 0, nil
					}, stint.Limit(2)) {
						synctest.Wait()
						leave()
					}
					t.Error("not left")
				})
				wg.Wait()
				g.is(t, 0, 2, 2)
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
						g.hold(time.Hour)
						return nil
					}, stint.Limit(2))
					t.Error("not left")
				})
				wg.Wait()
				g.is(t, 0, 1, 1)
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
				p.Go(func(context.Context) { g.hold(time.Hour) })
			}
			start := time.Now()
			p.Close()
			g.is(t, 0, 2, 6)
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

// explode is a function whose name must be in the stack of its panic.
func explode(v any) { panic(v) }

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

func TestFirstErrorCancels(t *testing.T) {
	ctx := context.Background()
	t.Run("error", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			var g gauge
			var causes sync.Map
			start := time.Now()
			err := run(ctx, 1000, func(ctx context.Context, i int) error {
				g.enter()
				defer g.leave()
				if i == 2 {
					time.Sleep(time.Second)
					return errBoom
				}
				<-ctx.Done()
				time.Sleep(time.Second)
				causes.Store(i, context.Cause(ctx))
				return ctx.Err()
			})
			equal(t, "error", err, errBoom)
			g.is(t, 0, 4, 4) // nothing was begun after it
			took(t, start, 2*time.Second)
			causes.Range(func(i, cause any) bool {
				equal(t, fmt.Sprint("cause in task ", i), cause.(error), errBoom)
				return true
			})
		})
	})
	t.Run("parent", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(errGone) })
			var g gauge
			start := time.Now()
			err := run(ctx, 1000, func(ctx context.Context, i int) error {
				g.enter()
				defer g.leave()
				<-ctx.Done()
				time.Sleep(time.Second)
				if i == 2 {
					return errBoom
				}
				return ctx.Err()
			})
			equal(t, "error", err, errGone)
			g.is(t, 0, 4, 4)
			took(t, start, 2*time.Second)
		})
	})
	t.Run("deadline", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			ctx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
			defer cancel()
			var g gauge
			err := run(ctx, 1000, func(context.Context, int) error { g.hold(time.Second); return nil })
			equal(t, "error", err, context.DeadlineExceeded)
			g.is(t, 0, 4, 8)
		})
	})
	t.Run("KeepGoing", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			var g gauge
			err := run(ctx, 20, func(ctx context.Context, i int) error {
				g.hold(time.Second)
				if ctx.Err() != nil {
					t.Error("cancelled")
				}
				return errBoom
			}, stint.KeepGoing())
			g.is(t, 0, 4, 20)
			equal(t, "errors", strings.Count(fmt.Sprint(err), "boom"), 20)
		})
	})
	t.Run("KeepGoing and the parent", func(t *testing.T) { // the errors, and the cause at the end
		everywhere(t, 1, func(t *testing.T, run run) {
			ctx, cancel := context.WithCancelCause(ctx)
			err := run(ctx, 20, func(ctx context.Context, i int) error {
				if i == 3 {
					synctest.Wait() // a sequence has yielded the others by now
					cancel(errGone)
					synctest.Wait()
					return nil
				}
				return errBoom
			}, stint.KeepGoing())
			equal(t, "errors", fmt.Sprint(err), "item 0: boom\nitem 1: boom\nitem 2: boom\ngone")
		})
	})
	t.Run("complete", func(t *testing.T) { // the context ends in the last task, when all is done
		for _, d := range doors[:3] { // sequences and groups cannot know what would have come
			t.Run(d.name, func(t *testing.T) {
				both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
					ctx, cancel := context.WithCancel(ctx)
					err := d.run(ctx, 3, func(ctx context.Context, i int) error {
						if i == 2 {
							cancel()
							synctest.Wait()
						}
						return nil
					}, opt)
					equal(t, "error", err, nil)
				})
			})
		}
	})
	t.Run("producer", func(t *testing.T) { // it is told, and needs no look at the context
		both(t, 2, func(t *testing.T, opt stint.Option, _ func(int)) {
			g := stint.NewGroup(ctx, opt, stint.Queue(3))
			n := 0
			for g.Go(func(context.Context) error {
				time.Sleep(time.Second)
				return errBoom
			}) {
				n++
			}
			equal(t, "tasks accepted", n, 5)
			took(t, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Second)
			equal(t, "error", g.Wait(), errBoom)
		})
	})
}

func TestPanicsReachTheWaiter(t *testing.T) {
	ctx := context.Background()
	t.Run("doors", func(t *testing.T) {
		everywhere(t, 3, func(t *testing.T, run run) {
			var g gauge
			start := time.Now()
			v := recovered(func() {
				run(ctx, 1000, func(ctx context.Context, i int) error {
					if i == 1 {
						time.Sleep(time.Second)
						explode(errBoom)
					}
					g.enter()
					defer g.leave()
					<-ctx.Done()
					time.Sleep(time.Second)
					return ctx.Err()
				})
			})
			p, ok := v.(*stint.PanicError)
			if !ok {
				t.Fatalf("recovered %v", v)
			}
			g.is(t, 0, 2, 2)
			took(t, start, 2*time.Second)
			equal(t, "value", p.Value, any(errBoom))
			equal(t, "errors.Is", errors.Is(p, errBoom), true)
			equal(t, "the function in the stack", strings.Contains(string(p.Stack), "stint_test.explode"), true)
			equal(t, "the stack in the text", strings.Contains(p.Error(), string(p.Stack)), true)
			equal(t, "others", p.Also(), nil) // the cancelled ones are a consequence
		})
	})
	t.Run("nested", func(t *testing.T) { // it stays the first one, whatever it goes through
		for _, outer := range doors {
			for _, inner := range doors {
				synctest.Test(t, func(t *testing.T) {
					l := stint.Limit(1)
					var first, second any
					second = recovered(func() {
						outer.run(ctx, 1, func(ctx context.Context, _ int) error {
							defer func() {
								first = recover()
								panic(first)
							}()
							return inner.run(ctx, 1, func(context.Context, int) error { explode("boom"); return nil }, l)
						}, l)
					})
					if p, ok := first.(*stint.PanicError); !ok || p.Value != "boom" || second != first {
						t.Errorf("%s in %s: %v and %v", inner.name, outer.name, first, second)
					}
				})
			}
		}
	})
	t.Run("Wait again", func(t *testing.T) {
		g := stint.NewGroup(ctx)
		g.Go(func(context.Context) error { explode("boom"); return nil })
		first := recovered(func() { g.Wait() })
		equal(t, "the same panic", recovered(func() { g.Wait() }), first)
	})
	t.Run("OnPanic", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var caught []*stint.PanicError
			var p *stint.Pool
			p = stint.NewPool(stint.Limit(1), stint.OnPanic(func(e *stint.PanicError) {
				equal(t, "running inside OnPanic", p.Stats().Running, 1)
				caught = append(caught, e)
			}))
			p.Go(func(context.Context) { explode(errBoom) })
			ran := false
			p.Go(func(context.Context) { ran = true })
			p.Close()
			if len(caught) != 1 || !errors.Is(caught[0], errBoom) || !strings.Contains(caught[0].Error(), "stint_test.explode") || !ran {
				t.Errorf("caught %v, the next task ran: %v", caught, ran)
			}
		})
	})
	t.Run("Pool.Go", TestPanicOfAPoolCrashes)
}

func TestNestingNeverDeadlocks(t *testing.T) {
	ctx := context.Background()
	leaf := func(g *gauge) error { g.hold(time.Millisecond); return nil }
	for _, limit := range []int{1, 2} {
		t.Run(fmt.Sprint("limit=", limit), func(t *testing.T) {
			t.Run("pairs", func(t *testing.T) {
				for _, outer := range doors {
					for _, inner := range doors {
						t.Run(inner.name+" in "+outer.name, func(t *testing.T) {
							both(t, limit, func(t *testing.T, opt stint.Option, _ func(int)) {
								var g gauge
								start := time.Now()
								err := outer.run(ctx, 4, func(ctx context.Context, _ int) error {
									return inner.run(ctx, 4, func(context.Context, int) error { return leaf(&g) }, opt)
								}, opt)
								equal(t, "error", err, nil)
								g.is(t, 0, limit, 16)
								took(t, start, time.Duration(16/limit)*time.Millisecond)
							})
						})
					}
				}
			})
			t.Run("deep", func(t *testing.T) {
				for _, d := range doors {
					t.Run(d.name, func(t *testing.T) {
						both(t, limit, func(t *testing.T, opt stint.Option, _ func(int)) {
							var g gauge
							var walk func(ctx context.Context, depth int) error
							walk = func(ctx context.Context, depth int) error {
								if depth == 0 {
									return leaf(&g)
								}
								return d.run(ctx, 2, func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, opt)
							}
							equal(t, "error", walk(ctx, 5), nil)
							g.is(t, 0, limit, 32)
						})
					})
				}
			})
		})
	}
	t.Run("through another limit", func(t *testing.T) { // a, b, a, b: the places of a are found across b
		for _, d := range doors {
			t.Run(d.name, func(t *testing.T) {
				both(t, 1, func(t *testing.T, a stint.Option, _ func(int)) {
					b := stint.Limit(1)
					var g gauge
					var walk func(ctx context.Context, depth int) error
					walk = func(ctx context.Context, depth int) error {
						if depth == 0 {
							return leaf(&g)
						}
						opt := a
						if depth%2 == 0 {
							opt = b
						}
						return d.run(ctx, 2, func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, opt)
					}
					equal(t, "error", walk(ctx, 4), nil)
					g.is(t, 0, 1, 16)
				})
			})
		}
	})
	t.Run("through own limits", func(t *testing.T) { // calls with a limit each between those that share one
		for _, d := range doors {
			t.Run(d.name, func(t *testing.T) {
				both(t, 2, func(t *testing.T, opt stint.Option, _ func(int)) {
					var g gauge
					var walk func(ctx context.Context, depth int) error
					walk = func(ctx context.Context, depth int) error {
						if depth == 0 {
							return leaf(&g)
						}
						opts := []stint.Option{opt}
						if depth%2 == 0 {
							opts[0] = stint.Limit(2)
						}
						return d.run(ctx, 2, func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, opts...)
					}
					equal(t, "error", walk(ctx, 4), nil)
					g.is(t, 0, 2, 16)
				})
			})
		}
	})
	t.Run("two pools", func(t *testing.T) { // p, q, p, q
		for _, d := range doors {
			synctest.Test(t, func(t *testing.T) {
				pools := []*stint.Pool{stint.NewPool(stint.Limit(1)), stint.NewPool(stint.Limit(1))}
				defer pools[0].Close()
				defer pools[1].Close()
				var g gauge
				var walk func(ctx context.Context, depth int) error
				walk = func(ctx context.Context, depth int) error {
					if depth == 0 {
						return leaf(&g)
					}
					return d.run(ctx, 2, func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, pools[depth%2])
				}
				equal(t, d.name, walk(ctx, 4), nil)
				equal(t, "leaves", g.total, 16)
			})
		}
	})
	t.Run("tasks that start tasks", func(t *testing.T) { // a full queue and every worker a submitter
		both(t, 2, func(t *testing.T, opt stint.Option, _ func(int)) {
			g := stint.NewGroup(ctx, opt, stint.Queue(1))
			var n atomic.Int64
			var grow func(depth int) func(context.Context) error
			grow = func(depth int) func(context.Context) error {
				return func(ctx context.Context) error {
					n.Add(1)
					for range 2 {
						if depth > 0 {
							if err := g.GoContext(ctx, grow(depth-1)); err != nil {
								return err
							}
						}
					}
					return nil
				}
			}
			g.Go(grow(8))
			equal(t, "error", g.Wait(), nil)
			equal(t, "tasks", n.Load(), 1<<9-1)
		})
	})
	t.Run("Results.GoContext", func(t *testing.T) { // the values are those of the tasks, in the order of acceptance
		both(t, 2, func(t *testing.T, opt stint.Option, _ func(int)) {
			r := stint.NewResults[int](ctx, opt, stint.Queue(1))
			var grow func(depth int) func(context.Context) (int, error)
			grow = func(depth int) func(context.Context) (int, error) {
				return func(ctx context.Context) (int, error) {
					for range 2 {
						if depth > 0 {
							if err := r.GoContext(ctx, grow(depth-1)); err != nil {
								return 0, err
							}
						}
					}
					return depth, nil
				}
			}
			r.Go(grow(8))
			values, err := r.Wait()
			equal(t, "error", err, nil)
			equal(t, "first value", values[0], 8)
			slices.Sort(values)
			var want []int // a task of depth 8, two of depth 7, and so on
			for depth := range 9 {
				want = append(want, slices.Repeat([]int{depth}, 1<<(8-depth))...)
			}
			if !slices.Equal(values, want) {
				t.Errorf("values: got %d", values)
			}
		})
	})
	t.Run("Pool.GoContext", func(t *testing.T) {
		for _, queue := range []int{0, 1} {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(2), stint.Queue(queue))
				var n atomic.Int64
				var grow func(depth int) func(context.Context)
				grow = func(depth int) func(context.Context) {
					return func(ctx context.Context) {
						n.Add(1)
						for range 2 {
							if depth > 0 {
								if err := p.GoContext(ctx, grow(depth-1)); err != nil {
									t.Error(err)
								}
							}
						}
					}
				}
				p.Go(grow(8))
				equal(t, "error", p.Idle(ctx), nil)
				p.Close()
				equal(t, "tasks", n.Load(), 1<<9-1)
			})
		}
	})
}

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
			equal(t, "values", len(values), 1) // what was given up has no place
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
		for _, d := range doors {
			t.Run(d.name, func(t *testing.T) {
				both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
					g := stint.NewGroup(bg, opt)
					g.Go(sleep(time.Hour))
					synctest.Wait()
					ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
					defer cancel()
					start := time.Now()
					equal(t, "error", d.run(ctx, 5, func(context.Context, int) error { t.Error("was run"); return nil }, opt), errGone)
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
					synctest.Wait() // i is in line before i+1 comes
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

func TestOrder(t *testing.T) {
	ctx := context.Background()
	const n = 100
	square := func(_ context.Context, i int) (int, error) {
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		return i * i, nil
	}
	var want []int // the sequential program
	for i := range n {
		want = append(want, i*i)
	}
	results := map[string]func(f func(context.Context, int) (int, error), opts ...stint.Option) ([]int, error){
		"Map": func(f func(context.Context, int) (int, error), opts ...stint.Option) ([]int, error) {
			return stint.Map(ctx, indexes(n), f, opts...)
		},
		"MapSeq": func(f func(context.Context, int) (int, error), opts ...stint.Option) (out []int, err error) {
			for v, e := range stint.MapSeq(ctx, count(n), f, opts...) {
				if e != nil {
					err = e
				} else if err == nil {
					out = append(out, v)
				} else {
					t.Error("a result after the error")
				}
			}
			return out, err
		},
		"Results": func(f func(context.Context, int) (int, error), opts ...stint.Option) ([]int, error) {
			r := stint.NewResults[int](ctx, opts...)
			for i := range n {
				r.Go(func(ctx context.Context) (int, error) { return f(ctx, i) })
			}
			return r.Wait()
		},
	}
	for name, collect := range results {
		t.Run(name, func(t *testing.T) {
			both(t, 7, func(t *testing.T, opt stint.Option, _ func(int)) {
				got, err := collect(square, opt)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("got %v, %v", got, err)
				}
			})
		})
	}
	t.Run("after an error", func(t *testing.T) {
		both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) { // at limit 1 it is known what was finished
			f := func(_ context.Context, i int) (int, error) {
				if i == 40 {
					return -1, errBoom
				}
				return i * i, nil
			}
			cut := make([]int, n)
			copy(cut, want[:40])
			got, err := results["Map"](f, opt)
			if err != errBoom || !slices.Equal(got, cut) {
				t.Errorf("Map: %v, %v", got, err)
			}
			got, err = results["MapSeq"](f, opt) // the sequential program again: 0 to 39, then the error
			if err != errBoom || !slices.Equal(got, want[:40]) {
				t.Errorf("MapSeq: %v, %v", got, err)
			}
			got, err = results["Results"](f, opt, stint.Queue(n))
			if err != errBoom || len(got) <= 40 || !slices.Equal(got, cut[:len(got)]) { // as long as what was accepted by then
				t.Errorf("Results: %v, %v", got, err)
			}
		})
	})
	t.Run("KeepGoing", func(t *testing.T) { // errors in the order of the items, values where they belong
		both(t, n, func(t *testing.T, opt stint.Option, _ func(int)) {
			f := func(_ context.Context, i int) (int, error) {
				time.Sleep(time.Duration(n-i) * time.Second) // all at once: they end in the opposite order
				if i%10 == 3 {
					return i * i, errBoom
				}
				return i * i, nil
			}
			holes := slices.Clone(want)
			text := ""
			for i := 3; i < n; i += 10 {
				holes[i] = 0
				text += fmt.Sprintf("\nitem %d: boom", i)
			}
			for _, name := range []string{"Map", "Results"} {
				got, err := results[name](f, opt, stint.KeepGoing())
				if !slices.Equal(got, holes) || fmt.Sprint("\n", err) != text {
					t.Errorf("%s: %v, %v", name, got, err)
				}
			}
			i := 0
			for v, err := range stint.MapSeq(ctx, count(n), f, opt, stint.KeepGoing()) {
				var item *stint.ItemError
				if i%10 == 3 && (!errors.As(err, &item) || item.Index != i || item.Err != errBoom || v != 0) ||
					i%10 != 3 && (err != nil || v != i*i) {
					t.Errorf("MapSeq: at %d: %v, %v", i, v, err)
				}
				i++
			}
			equal(t, "results of MapSeq", i, n)
		})
	})
	t.Run("Unordered", func(t *testing.T) { // as they come: the later the item, the sooner it is done
		both(t, n, func(t *testing.T, opt stint.Option, _ func(int)) {
			var got []int
			for v, err := range stint.MapSeq(ctx, count(n), func(_ context.Context, i int) (int, error) {
				time.Sleep(time.Duration(n-i) * time.Second)
				return i, nil
			}, opt, stint.Unordered()) {
				equal(t, "error", err, nil)
				got = append(got, v)
			}
			slices.Reverse(got)
			if !slices.Equal(got, indexes(n)) {
				t.Errorf("not as they came: %v", got)
			}
		})
	})
}

func TestMemoryIsBounded(t *testing.T) {
	bg := context.Background()
	// Every task blocks and nobody consumes: what has been taken in by then is
	// all that is ever held.
	const limit = 3
	blocked := func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
	pulled := func(n *int) func(func(int) bool) {
		return func(yield func(int) bool) {
			for yield(*n) {
				*n++
			}
		}
	}
	for _, queue := range []int{-1, 0, 1, 5, 100} {
		t.Run(fmt.Sprint("queue=", queue), func(t *testing.T) {
			both(t, limit, func(t *testing.T, opt stint.Option, _ func(int)) {
				opts, room := []stint.Option{opt}, limit
				if queue >= 0 {
					opts, room = append(opts, stint.Queue(queue)), queue
				}
				ctx, cancel := context.WithCancel(bg)
				time.AfterFunc(time.Second, cancel)
				n := 0
				go func() {
					time.Sleep(time.Second / 2)
					synctest.Wait()
					equal(t, "values pulled by EachSeq", n+1, limit+room+1)
				}()
				equal(t, "error", stint.EachSeq(ctx, pulled(&n), blocked, opts...), context.Canceled)
			})
			both(t, limit, func(t *testing.T, opt stint.Option, _ func(int)) {
				opts, room := []stint.Option{opt}, limit
				if queue >= 0 {
					opts, room = append(opts, stint.Queue(queue)), queue
				}
				for _, f := range []body{blocked, func(context.Context, int) error { return nil }} {
					ctx, cancel := context.WithCancel(bg)
					n := 0
					for range stint.MapSeq(ctx, pulled(&n), func(ctx context.Context, i int) (int, error) {
						if i == 0 {
							return 0, nil
						}
						return i, f(ctx, i)
					}, opts...) {
						time.Sleep(time.Second) // the consumer has the first result and takes no more
						synctest.Wait()
						equal(t, "values pulled by MapSeq", n+1, 1+limit+room)
						break
					}
					cancel()
				}
			})
		})
	}
	t.Run("Go", func(t *testing.T) {
		both(t, limit, func(t *testing.T, opt stint.Option, _ func(int)) {
			ctx, cancel := context.WithTimeout(bg, time.Second)
			defer cancel()
			g := stint.NewGroup(ctx, opt, stint.Queue(5))
			n := 0
			for g.Go(func(ctx context.Context) error { <-ctx.Done(); return nil }) {
				n++
			}
			equal(t, "tasks accepted", n, limit+5)
			g.Wait()
		})
	})
	t.Run("default queue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(limit))
			n := 0
			for p.TryGo(func(context.Context) { time.Sleep(time.Second) }) {
				n++
			}
			equal(t, "tasks accepted at once", n, 1024+limit)
			synctest.Wait()
			equal(t, "one more later", p.TryGo(func(context.Context) {}), false)
			p.Close()
		})
	})
	t.Run("ended tasks", TestEndedTasksAreNotKept)
	t.Run("contended limiter", TestContendedLoopsStaySmall)
}

func TestBubbles(t *testing.T) {
	// In a bubble, outside, and in another bubble: nothing crosses over.
	for _, p := range places {
		for _, d := range doors {
			t.Run(d.name+"/"+p.name, func(t *testing.T) {
				all := func(t *testing.T) {
					opts, shut := p.open(2)
					defer shut()
					var n atomic.Int64
					err := d.run(context.Background(), 50, func(ctx context.Context, i int) error {
						return d.run(ctx, 2, func(context.Context, int) error { n.Add(1); return nil }, opts...)
					}, opts...)
					if err != nil || n.Load() != 100 {
						t.Error(err, n.Load())
					}
				}
				synctest.Test(t, all)
				all(t)
				synctest.Test(t, all)
			})
		}
	}
	t.Run("blocking is durable", func(t *testing.T) {
		// If a wait of the library were not, synctest.Wait would not return, or
		// the clock not advance.
		synctest.Test(t, func(t *testing.T) {
			bg := context.Background()
			p := stint.NewPool(stint.Limit(1), stint.Queue(0))
			l := stint.Limit(1)
			p.Go(func(context.Context) { time.Sleep(time.Hour) })
			hold := stint.NewGroup(bg, l, stint.Queue(0))
			hold.Go(sleep(time.Hour))
			synctest.Wait()
			var wg sync.WaitGroup
			wg.Go(func() { p.Go(func(context.Context) {}) })
			wg.Go(func() { p.Idle(bg) })
			wg.Go(func() { hold.Go(sleep(0)) })
			for _, d := range doors {
				wg.Go(func() { d.run(bg, 3, func(context.Context, int) error { return nil }, l) })
				wg.Go(func() { d.run(bg, 3, func(context.Context, int) error { return nil }, p) })
			}
			synctest.Wait()
			equal(t, "time passed", sinceBubble(), 0)
			wg.Wait()
			hold.Wait()
			p.Close()
			equal(t, "time passed", sinceBubble(), time.Hour)
		})
	})
}

func TestBadArguments(t *testing.T) {
	ctx := context.Background()
	var none context.Context
	item := func(context.Context, int) error { return nil }
	value := func(context.Context, int) (int, error) { return 0, nil }
	task := func(context.Context) error { return nil }
	result := func(context.Context) (int, error) { return 0, nil }
	plain := func(context.Context) {}
	p := stint.NewPool()
	g := stint.NewGroup(ctx)
	r := stint.NewResults[int](ctx)
	l := stint.Limit(1)
	onPanic := stint.OnPanic(func(*stint.PanicError) {})
	for _, c := range []struct {
		want string
		call func()
	}{
		{"stint: Limit(0): want 1 or more", func() { stint.Limit(0) }},
		{"stint: Limit(-3): want 1 or more", func() { stint.Limit(-3) }},
		{"stint: Limiter.Set(0): want 1 or more", func() { l.Set(0) }},
		{"stint: Queue(-1): want 0 or more", func() { stint.Queue(-1) }},
		{"stint: OnPanic: nil function", func() { stint.OnPanic(nil) }},
		{"stint: Range: n is -1, want 0 or more", func() { stint.Range(ctx, -1, item) }},

		{"stint: Each: nil context", func() { stint.Each(none, []int{1}, item) }},
		{"stint: Map: nil context", func() { stint.Map(none, []int{1}, value) }},
		{"stint: Range: nil context", func() { stint.Range(none, 1, item) }},
		{"stint: EachSeq: nil context", func() { stint.EachSeq(none, count(1), item) }},
		{"stint: MapSeq: nil context", func() { stint.MapSeq(none, count(1), value) }},
		{"stint: NewGroup: nil context", func() { stint.NewGroup(none) }},
		{"stint: NewResults: nil context", func() { stint.NewResults[int](none) }},
		{"stint: Group.GoContext: nil context", func() { g.GoContext(none, task) }},
		{"stint: Results.GoContext: nil context", func() { r.GoContext(none, result) }},
		{"stint: Pool.GoContext: nil context", func() { p.GoContext(none, plain) }},
		{"stint: Pool.Idle: nil context", func() { p.Idle(none) }},
		{"stint: Pool.Shutdown: nil context", func() { p.Shutdown(none) }},

		{"stint: Each: nil function", func() { stint.Each[int](ctx, nil, nil) }},
		{"stint: Map: nil function", func() { stint.Map[int, int](ctx, nil, nil) }},
		{"stint: Range: nil function", func() { stint.Range(ctx, 0, nil) }},
		{"stint: EachSeq: nil function", func() { stint.EachSeq(ctx, count(1), nil) }},
		{"stint: MapSeq: nil function", func() { stint.MapSeq[int, int](ctx, count(1), nil) }},
		{"stint: Group.Go: nil function", func() { g.Go(nil) }},
		{"stint: Group.GoContext: nil function", func() { g.GoContext(ctx, nil) }},
		{"stint: Group.TryGo: nil function", func() { g.TryGo(nil) }},
		{"stint: Results.Go: nil function", func() { r.Go(nil) }},
		{"stint: Results.GoContext: nil function", func() { r.GoContext(ctx, nil) }},
		{"stint: Results.TryGo: nil function", func() { r.TryGo(nil) }},
		{"stint: Pool.Go: nil function", func() { p.Go(nil) }},
		{"stint: Pool.GoContext: nil function", func() { p.GoContext(ctx, nil) }},
		{"stint: Pool.TryGo: nil function", func() { p.TryGo(nil) }},

		{"stint: EachSeq: nil sequence", func() { stint.EachSeq(ctx, nil, item) }},
		{"stint: MapSeq: nil sequence", func() { stint.MapSeq(ctx, nil, value) }},

		{"stint: Range: nil Option", func() { stint.Range(ctx, 0, item, nil) }},
		{"stint: NewPool: nil Option", func() { stint.NewPool(nil) }},
		{"stint: NewGroup: nil Limiter", func() { stint.NewGroup(ctx, (*stint.Limiter)(nil)) }},
		{"stint: NewGroup: Limiter was not made by Limit or Auto", func() { stint.NewGroup(ctx, new(stint.Limiter)) }},
		{"stint: NewGroup: nil Pool", func() { stint.NewGroup(ctx, (*stint.Pool)(nil)) }},
		{"stint: NewGroup: Pool was not made by NewPool", func() { stint.NewGroup(ctx, new(stint.Pool)) }},

		{"stint: Each: Queue does not apply", func() { stint.Each(ctx, []int{1}, item, stint.Queue(1)) }},
		{"stint: Map: Unordered does not apply", func() { stint.Map(ctx, []int{1}, value, stint.Unordered()) }},
		{"stint: Range: OnPanic does not apply", func() { stint.Range(ctx, 0, item, onPanic) }},
		{"stint: EachSeq: Unordered does not apply", func() { stint.EachSeq(ctx, count(1), item, stint.Unordered()) }},
		{"stint: MapSeq: OnPanic does not apply", func() { stint.MapSeq(ctx, count(1), value, onPanic) }},
		{"stint: NewGroup: Unordered does not apply", func() { stint.NewGroup(ctx, stint.Unordered()) }},
		{"stint: NewResults: OnPanic does not apply", func() { stint.NewResults[int](ctx, onPanic) }},
		{"stint: NewPool: KeepGoing does not apply", func() { stint.NewPool(stint.KeepGoing()) }},
		{"stint: NewPool: Unordered does not apply", func() { stint.NewPool(stint.Unordered()) }},
		{"stint: NewPool: a Pool does not apply", func() { stint.NewPool(p) }},
		{"stint: NewGroup: a Pool and a Limiter: the pool has its own limit", func() { stint.NewGroup(ctx, p, l) }},
		{"stint: Each: a Pool and a Limiter: the pool has its own limit", func() { stint.Each(ctx, []int{}, item, l, p) }},

		{"stint: Group.Go: Group was not made by NewGroup", func() { new(stint.Group).Go(task) }},
		{"stint: Group.GoContext: Group was not made by NewGroup", func() { new(stint.Group).GoContext(ctx, task) }},
		{"stint: Group.TryGo: Group was not made by NewGroup", func() { new(stint.Group).TryGo(task) }},
		{"stint: Group.Wait: Group was not made by NewGroup", func() { new(stint.Group).Wait() }},
		{"stint: Results.Go: Results was not made by NewResults", func() { new(stint.Results[int]).Go(result) }},
		{"stint: Results.GoContext: Results was not made by NewResults", func() { new(stint.Results[int]).GoContext(ctx, result) }},
		{"stint: Results.TryGo: Results was not made by NewResults", func() { new(stint.Results[int]).TryGo(result) }},
		{"stint: Results.Wait: Results was not made by NewResults", func() { new(stint.Results[int]).Wait() }},
		{"stint: Pool.Go: Pool was not made by NewPool", func() { new(stint.Pool).Go(plain) }},
		{"stint: Pool.GoContext: Pool was not made by NewPool", func() { new(stint.Pool).GoContext(ctx, plain) }},
		{"stint: Pool.TryGo: Pool was not made by NewPool", func() { new(stint.Pool).TryGo(plain) }},
		{"stint: Pool.Close: Pool was not made by NewPool", func() { new(stint.Pool).Close() }},
		{"stint: Pool.Shutdown: Pool was not made by NewPool", func() { new(stint.Pool).Shutdown(ctx) }},
		{"stint: Pool.Idle: Pool was not made by NewPool", func() { new(stint.Pool).Idle(ctx) }},
		{"stint: Pool.SetLimit: Pool was not made by NewPool", func() { new(stint.Pool).SetLimit(1) }},
		{"stint: Pool.Stats: Pool was not made by NewPool", func() { new(stint.Pool).Stats() }},
		{"stint: Pool.SetLimit(-1): want 1 or more", func() { p.SetLimit(-1) }},
		{"stint: Limiter.Set: Limiter was not made by Limit or Auto", func() { new(stint.Limiter).Set(1) }},
		{"stint: Limiter.Current: Limiter was not made by Limit or Auto", func() { new(stint.Limiter).Current() }},
		{"stint: Limiter.Stats: Limiter was not made by Limit or Auto", func() { new(stint.Limiter).Stats() }},
	} {
		if got := recovered(c.call); got != c.want {
			t.Errorf("got  %v\nwant %v", got, c.want)
		}
	}
	t.Run("in a task", func(t *testing.T) { // a wait that would be for the caller itself
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(1))
			p.Go(func(ctx context.Context) {
				equal(t, "Idle", recovered(func() { p.Idle(ctx) }), any("stint: Pool.Idle: called by a task that has a place under the pool's limit"))
				equal(t, "Shutdown", recovered(func() { p.Shutdown(ctx) }), any("stint: Pool.Shutdown: called by a task that has a place under the pool's limit"))
			})
			p.Close()
		})
	})
	t.Run("after the end", func(t *testing.T) { // is not one: the answer is a value
		g.Wait()
		equal(t, "Group.Go", g.Go(task), false)
		equal(t, "Group.TryGo", g.TryGo(task), false)
		equal(t, "Group.GoContext", g.GoContext(ctx, task), stint.ErrClosed)
		equal(t, "Group.Wait", g.Wait(), nil)
		r.Wait()
		equal(t, "Results.Go", r.Go(result), false)
		equal(t, "Results.TryGo", r.TryGo(result), false)
		equal(t, "Results.GoContext", r.GoContext(ctx, result), stint.ErrClosed)
		p.Close()
		p.Close()
		equal(t, "Pool.Go", p.Go(plain), stint.ErrClosed)
		equal(t, "Pool.TryGo", p.TryGo(plain), false)
		equal(t, "Pool.GoContext", p.GoContext(ctx, plain), stint.ErrClosed)
		equal(t, "Pool.Idle", p.Idle(ctx), nil)
		n, err := p.Shutdown(ctx)
		equal(t, "abandoned", n, 0)
		equal(t, "Shutdown", err, nil)
		for _, d := range doors {
			equal(t, d.name, d.run(ctx, 1, item, p), stint.ErrClosed)
		}
		p.SetLimit(2) // without effect
	})
}

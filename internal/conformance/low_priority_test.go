package conformance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// shared are the options that calls can share.
var shared = limitKinds[2:4]

// A task that somebody waits for does not wait longer than one background task runs, beside
// a flood of those. Without LowPriority it does.
func TestLowPriorityWait(t *testing.T) {
	const permits, background = 8, 10 * time.Millisecond
	for _, kind := range shared {
		for i, e := range entryPoints {
			urgent := entryPoints[(i+1)%len(entryPoints)] // each is in both roles
			t.Run(e.name+"/"+urgent.name+"/"+kind.name, func(t *testing.T) {
				low := waits(t, e.run, urgent.run, kind, permits, background, stint.LowPriority())
				if low > background {
					t.Errorf("with LowPriority a task waits for %v, want at most %v", low, background)
				}
			})
		}
		t.Run("without/"+kind.name, func(t *testing.T) {
			if plain := waits(t, entry("Group"), entry("Each"), kind, permits, background); plain <= background {
				t.Errorf("without LowPriority a task waits for %v, want more than %v", plain, background)
			}
		})
	}
}

// sharing calls f for every entry point and every kind of limit that can be shared, in a
// bubble, with the options for a limit of n.
func sharing(t *testing.T, n int, f func(t *testing.T, run run, opts []stint.Option)) {
	for _, kind := range shared {
		for _, e := range entryPoints {
			t.Run(e.name+"/"+kind.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					defer noneLeft(t)
					opts, shut := kind.open(n)
					defer shut()
					f(t, e.run, opts)
				})
			})
		}
	}
}

// entry returns the entry point called name.
func entry(name string) run {
	i := slices.IndexFunc(entryPoints, func(e entryPoint) bool { return e.name == name })
	return entryPoints[i].run
}

// waits returns the longest wait of tasks that come one by one through urgent, beside a
// flood of tasks of the given duration.
func waits(t *testing.T, flood, urgent run, kind limitKind, permits int, duration time.Duration, more ...stint.Option) (longest time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		defer noneLeft(t)
		opts, shut := kind.open(permits)
		defer shut()
		ctx, cancel := context.WithCancel(t.Context())
		var running, ran atomic.Int32
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() {
				flood(ctx, 100, func(_ context.Context, i int) error {
					if n := running.Add(1); int(n) > permits {
						t.Errorf("%d tasks run, want at most %d", n, permits)
					}
					ran.Add(1)
					time.Sleep(duration - time.Duration(i%7)*100*time.Microsecond)
					running.Add(-1)
					return nil
				}, append(more, opts...)...)
			})
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			time.Sleep(time.Duration(r.IntN(int(duration))))
			came := time.Now()
			urgent(t.Context(), 1, func(context.Context, int) error {
				longest = max(longest, time.Since(came))
				time.Sleep(time.Millisecond)
				return nil
			}, opts...)
		}
		if ran.Load() < 100 {
			t.Errorf("%d background tasks ran beside 100 others, want 100 or more", ran.Load())
		}
		cancel()
		wg.Wait()
	})
	return longest
}

// Tasks of low priority give way at once, however short they are, and start in the order in
// which they came when nobody else waits.
func TestLowPriorityOrder(t *testing.T) {
	both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
		var mu sync.Mutex
		var order []string
		var groups []*stint.Group
		add := func(name string, n int, d time.Duration, opts ...stint.Option) {
			g := stint.NewGroup(t.Context(), append(opts, opt)...)
			for i := range n {
				g.Go(func(context.Context) error {
					mu.Lock()
					order = append(order, fmt.Sprint(name, i))
					mu.Unlock()
					time.Sleep(d)
					return nil
				})
			}
			groups = append(groups, g)
			synctest.Wait()
		}
		add("low", 3, 10*time.Microsecond, stint.LowPriority())
		add("a", 2, time.Millisecond)
		add("later", 2, time.Second, stint.LowPriority())
		add("b", 2, time.Millisecond)
		time.Sleep(3 * time.Millisecond)
		add("c", 1, 2*time.Millisecond)
		for _, g := range groups {
			equal(t, "Wait", g.Wait(), nil)
		}
		at := func(name string) int { return slices.Index(order, name) }
		for _, high := range []string{"a0", "a1", "b0", "b1", "c0"} {
			for _, low := range []string{"low1", "low2", "later0", "later1"} {
				if at(high) > at(low) {
					t.Fatalf("%s before %s: %v", low, high, order)
				}
			}
		}
		equal(t, "the first task", order[0], "low0")
		if at("low1") > at("later1") {
			t.Errorf("a later group is served first: %v", order)
		}
	})
}

// An entry in the limiter's queue has the priority of the task that a pool runs next.
func TestPoolWaitsWithThePriorityOfItsNextTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer noneLeft(t)
		l := stint.Limit(1)
		p := stint.NewPool(l)
		defer p.Close()
		var mu sync.Mutex
		var order []string
		task := func(name string) func(context.Context) error {
			return func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
				time.Sleep(time.Millisecond)
				return nil
			}
		}
		first := stint.NewGroup(t.Context(), l)
		stranger := stint.NewGroup(t.Context(), l, stint.LowPriority())
		own := stint.NewGroup(t.Context(), p, stint.LowPriority())
		first.Go(task("first"))
		synctest.Wait()
		stranger.Go(task("low of a stranger"))
		own.Go(task("low of the pool"))
		ctx, cancel := context.WithCancel(t.Context())
		dropped := stint.NewGroup(ctx, p)
		dropped.Go(task("dropped"))
		cancel() // the pool has only a task of low priority again
		synctest.Wait()
		second := stint.NewGroup(t.Context(), l)
		second.Go(task("second"))
		synctest.Wait()
		p.Go(func(ctx context.Context) { task("pool")(ctx) })
		for _, g := range []*stint.Group{first, stranger, own, second} {
			equal(t, "Wait", g.Wait(), nil)
		}
		dropped.Wait()
		want := []string{"first", "second", "pool", "low of a stranger", "low of the pool"}
		if !slices.Equal(order, want) {
			t.Errorf("got %v, want %v", order, want)
		}
	})
}

// A task that waits for tasks of low priority lends them its permit: strangers that wait do
// not hold it up.
func TestLowPriorityInheritsByLending(t *testing.T) {
	sharing(t, 1, func(t *testing.T, run run, opts []stint.Option) {
		start := time.Now()
		strangers := stint.NewGroup(t.Context(), opts...)
		equal(t, "error", stint.Each(t.Context(), indexes(1), func(ctx context.Context, _ int) error {
			for range 10 {
				strangers.Go(func(context.Context) error { time.Sleep(time.Second); return nil })
			}
			return run(ctx, 3, func(context.Context, int) error {
				time.Sleep(time.Millisecond)
				return nil
			}, append(opts, stint.LowPriority())...)
		}, opts...), nil)
		equal(t, "time", time.Since(start), 3*time.Millisecond)
		equal(t, "error of the strangers", strangers.Wait(), nil)
		equal(t, "time of all", time.Since(start), 3*time.Millisecond+10*time.Second)
	})
}

// The calls of a task of low priority have low priority too, also when they do not say so,
// and run on the permit of the task.
func TestCallsOfLowPriorityTasks(t *testing.T) {
	sharing(t, 2, func(t *testing.T, run run, opts []stint.Option) {
		start := time.Now()
		release := make(chan struct{})
		others := stint.NewGroup(t.Context(), opts...)
		others.Go(func(context.Context) error { <-release; return nil })
		synctest.Wait()
		var ended time.Duration
		var wg sync.WaitGroup
		wg.Go(func() {
			stint.Each(t.Context(), indexes(1), func(ctx context.Context, _ int) error {
				defer func() { ended = time.Since(start) }()
				return run(ctx, 4, func(context.Context, int) error { time.Sleep(time.Second); return nil }, opts...)
			}, append(opts, stint.LowPriority())...)
		})
		synctest.Wait()
		for range 4 {
			others.Go(func(context.Context) error { time.Sleep(time.Second); return nil })
		}
		synctest.Wait()
		close(release)
		equal(t, "error", others.Wait(), nil)
		equal(t, "time of the others", time.Since(start), 4*time.Second)
		wg.Wait()
		equal(t, "time of the calls", ended, 4*time.Second)
	})
}

// A call that waits with low priority can be given up.
func TestLowPriorityGivesUp(t *testing.T) {
	sharing(t, 1, func(t *testing.T, run run, opts []stint.Option) {
		others := stint.NewGroup(t.Context(), opts...)
		others.Go(func(context.Context) error { time.Sleep(time.Hour); return nil })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		equal(t, "error", run(ctx, 3, func(context.Context, int) error { return nil }, append(opts, stint.LowPriority())...), context.DeadlineExceeded)
		equal(t, "time", time.Since(start), time.Second)
		equal(t, "error of the others", others.Wait(), nil)
	})
}

// Tasks of low priority that wait are demand: they raise an adaptive limit as others do, in the
// same time. Which tasks of those that end at one moment are counted first is up to the
// scheduler, and may delay a round by one.
func TestLowPriorityRaisesTheLimit(t *testing.T) {
	const most = 64
	for _, e := range searching() {
		raised := func(opts ...stint.Option) time.Duration {
			var took atomic.Int64
			synctest.Test(t, func(t *testing.T) {
				defer noneLeft(t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				l := stint.Auto(1, most)
				var callers sync.WaitGroup
				for range 2 * most {
					callers.Go(func() {
						e.run(ctx, 100, func(context.Context, int) error {
							if l.Current() == most && took.CompareAndSwap(0, int64(sinceBubble())) {
								cancel()
							}
							time.Sleep(10 * time.Millisecond)
							return nil
						}, append(opts, l)...)
					})
				}
				callers.Wait()
			})
			return time.Duration(took.Load())
		}
		plain, low := raised(), raised(stint.LowPriority())
		if plain == 0 || low == 0 || (low-plain).Abs() > 10*time.Millisecond {
			t.Errorf("%s: the limit rises within %v, with LowPriority within %v", e.name, plain, low)
		}
	}
}

// Calls of both priorities nest, end early and change the limit at random: every task runs
// that is not dropped, never more than the limit at once, and no permit is lost.
func TestLowPriorityStress(t *testing.T) {
	for _, kind := range []string{"Limiter", "Pool"} {
		t.Run(kind, func(t *testing.T) {
			const permits = 4
			l := stint.Limit(permits)
			opt := stint.Option(l)
			if kind == "Pool" {
				p := stint.NewPool(l)
				defer p.Close()
				opt = p
			}
			var running, top, ran, want atomic.Int64
			body := func(context.Context, int) error {
				n := running.Add(1)
				for old := top.Load(); n > old && !top.CompareAndSwap(old, n); old = top.Load() {
				}
				ran.Add(1)
				running.Add(-1)
				return nil
			}
			var wg sync.WaitGroup
			for g := range 6 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(3, uint64(g)))
					for range 40 {
						opts := []stint.Option{opt}
						if r.IntN(2) == 0 {
							opts = append(opts, stint.LowPriority())
						}
						n, nested := r.IntN(30), r.IntN(3) == 0
						inner, outer := entryPoints[r.IntN(len(entryPoints))], entryPoints[r.IntN(len(entryPoints))]
						if r.IntN(8) == 0 { // ends early: what ran is not known
							ctx, cancel := context.WithCancel(t.Context())
							go cancel()
							outer.run(ctx, n, func(context.Context, int) error { return nil }, opts...)
							continue
						}
						f := body
						want.Add(int64(n))
						if nested {
							want.Add(int64(n) * 2)
							call := []stint.Option{opt}
							if r.IntN(2) == 0 {
								call = opts
							}
							f = func(ctx context.Context, _ int) error {
								ran.Add(1)
								return inner.run(ctx, 2, body, call...)
							}
						}
						if err := outer.run(t.Context(), n, f, opts...); err != nil {
							t.Errorf("%s: %v", outer.name, err)
						}
					}
				})
			}
			wg.Wait()
			if ran.Load() != want.Load() || top.Load() > permits {
				t.Errorf("%d tasks ran, %d at once; want %d, at most %d", ran.Load(), top.Load(), want.Load(), permits)
			}
			if kind == "Limiter" {
				equal(t, "what the limiter has out at the end", usage(l), [3]int{permits})
			}
		})
	}
}

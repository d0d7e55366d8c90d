package conformance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

// Every index is passed to the function once. The oracle is a plain loop.
func TestEachIndexOnce(t *testing.T) {
	bg := context.Background()
	for _, n := range []int{0, 1, 2, 3, 127, 128, 129, 10_000} {
		for _, limit := range []int{1, 2, 3, 64} {
			p := stint.NewPool(stint.Limit(limit))
			for _, opts := range [][]stint.Option{{stint.Limit(limit)}, {p}, {}} {
				counts := make([]int, n) // without atomics: the race detector looks on
				if err := stint.Range(bg, n, func(_ context.Context, i int) error { counts[i]++; return nil }, opts...); err != nil {
					t.Error(err)
				}
				for i, c := range counts {
					if c != 1 {
						t.Fatalf("n %d, limit %d: index %d was given out %d times", n, limit, i, c)
					}
				}
			}
			p.Close()
		}
	}
}

// A loop uses at most as many goroutines as it has items and as its limit says. The caller's
// is one of them: the only one for one item, and at limit 1.
func TestLoopStartsNoMoreThanItNeeds(t *testing.T) {
	for _, c := range []struct{ n, limit, want int }{
		{0, 8, 0}, {1, 8, 1}, {2, 8, 2}, {5, 8, 5}, {8, 8, 8}, {100, 8, 8}, {100, 1, 1}, {3, 1000, 3},
	} {
		for _, p := range limitKinds[:3] {
			t.Run(fmt.Sprintf("%d items at limit %d, %s", c.n, c.limit, p.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts, shut := p.open(min(c.limit, 64))
					defer shut()
					caller := goroutine.ID()
					used := map[int]bool{}
					var mu sync.Mutex
					stint.Range(context.Background(), c.n, func(context.Context, int) error {
						mu.Lock()
						used[goroutine.ID()] = true
						mu.Unlock()
						time.Sleep(time.Second)
						return nil
					}, opts...)
					equal(t, "goroutines used", len(used), c.want)
					equal(t, "the caller's is one of them", used[caller], c.n > 0)
					noneLeft(t)
				})
			})
		}
	}
}

// As many items as the limit may wait for each other.
func TestBarrier(t *testing.T) {
	for _, n := range []int{2, 3, 16, 128, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			everywhere(t, n, func(t *testing.T, run run) {
				var wg sync.WaitGroup
				wg.Add(n)
				equal(t, "error", run(context.Background(), n, func(context.Context, int) error {
					wg.Done()
					wg.Wait()
					return nil
				}), nil)
			})
		})
	}
}

// They may do so after short items, which run in batches.
func TestBarrierAfterShortItems(t *testing.T) {
	const n, short = 256, 200
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	for _, e := range entryPoints[:3] {
		var wg sync.WaitGroup
		wg.Add(n - short)
		equal(t, e.name, e.run(context.Background(), n, func(_ context.Context, i int) error {
			if i >= short {
				wg.Done()
				wg.Wait()
			}
			return nil
		}), nil)
	}
}

// One item that blocks, at any position, does not stop the others. A sequence in input order
// stops when the queue behind the item is full of results.
func TestBlockedItem(t *testing.T) {
	const n = 200
	for _, blocked := range []int{0, 1, 127, n - 1} {
		for _, e := range entryPoints {
			t.Run(fmt.Sprint(e.name, "/", blocked), func(t *testing.T) {
				both(t, 2, func(t *testing.T, opt stint.Option, _ func(int)) {
					opts := []stint.Option{opt}
					if e.inOrder() {
						opts = append(opts, stint.Queue(n))
					}
					var others atomic.Int64
					all := make(chan struct{})
					equal(t, "error", e.run(context.Background(), n, func(_ context.Context, i int) error {
						if i == blocked {
							<-all
							return nil
						}
						if others.Add(1) == n-1 {
							close(all)
						}
						return nil
					}, opts...), nil)
				})
			})
		}
	}
}

// No item waits behind an item that blocks, however short the items are: also outside a
// bubble, where time passes. If one waited, this test would not end.
func TestWaitingBehindABlockedItem(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, n := range []int{10, 300, 5000, 20_000} {
		for _, blocked := range []int{0, 1, n / 2, n - 1} {
			for _, limit := range []int{2, 3, n} {
				p := stint.NewPool(stint.Limit(limit))
				for _, opt := range []stint.Option{stint.Limit(limit), p} {
					var others atomic.Int64
					free := make(chan struct{})
					err := stint.Range(context.Background(), n, func(_ context.Context, i int) error {
						if i == blocked {
							<-free
							return nil
						}
						if int(others.Add(1)) == n-1 {
							close(free)
						}
						return nil
					}, opt)
					equal(t, "error", err, nil)
					equal(t, "others", int(others.Load()), n-1)
				}
				p.Close()
			}
		}
	}
}

// Loops of items that sleep take exactly as long as under a first-come, first-served
// semaphore, which is the oracle.
func TestTimeIsExact(t *testing.T) {
	for seed := range uint64(30) {
		for _, e := range entryPoints[:3] {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				n, limit := 1+r.IntN(200), 1+r.IntN(20)
				durations := make([]time.Duration, n)
				for i := range durations {
					durations[i] = time.Millisecond * time.Duration(1+r.IntN(1000))
				}
				start := time.Now()
				free := make([]time.Duration, limit) // when each permit is free again
				for _, d := range durations {
					slices.Sort(free)
					free[0] += d
				}
				equal(t, "error", e.run(context.Background(), n, func(_ context.Context, i int) error {
					time.Sleep(durations[i])
					return nil
				}, stint.Limit(limit)), nil)
				took(t, start, slices.Max(free))
			})
		}
	}
	for _, c := range []struct {
		n, limit   int
		each, want time.Duration
	}{
		{10, 2, time.Second, 5 * time.Second}, {100, 100, time.Millisecond, time.Millisecond}, {100, 10, time.Millisecond, 10 * time.Millisecond},
		{1000, 2, time.Microsecond, 500 * time.Microsecond}, {1000, 100, 5 * time.Microsecond, 50 * time.Microsecond},
		{1001, 7, time.Microsecond, 143 * time.Microsecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			stint.Range(context.Background(), c.n, func(context.Context, int) error { time.Sleep(c.each); return nil }, stint.Limit(c.limit))
			took(t, start, c.want)
		})
	}
}

// An error among many short items stops the loop there: a worker does not continue with the
// rest of its batch.
func TestStopsAmongShortItems(t *testing.T) {
	for _, e := range entryPoints[:3] {
		for _, opt := range []stint.Option{stint.Limit(1), stint.NewPool(stint.Limit(1))} {
			calls := 0
			err := e.run(context.Background(), 100_000, func(context.Context, int) error {
				if calls++; calls == 60_000 {
					return errBoom
				}
				return nil
			}, opt)
			equal(t, "error", err, errBoom)
			equal(t, e.name+": calls", calls, 60_000)
			if p, ok := opt.(*stint.Pool); ok {
				p.Close()
			}
		}
	}
}

// GOMAXPROCS is read at each call: without an option so many items start at once, and one
// more, though that is more than a third of Burst.
func TestGOMAXPROCSIsReadAtEachCall(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, e := range searching() {
		for _, n := range []int{1, 14, 2} {
			synctest.Test(t, func(t *testing.T) {
				runtime.GOMAXPROCS(n)
				var g gauge
				var wg sync.WaitGroup
				wg.Go(func() {
					e.run(context.Background(), 100, func(context.Context, int) error { g.Hold(time.Second); return nil })
				})
				time.Sleep(time.Millisecond)
				n := max(14, n+1)
				g.Is(t, n, n, n)
				wg.Wait()
			})
		}
	}
}

// Nested to depth 4 without a limit of its own, and at the number of CPUs.
func TestNestedLoops(t *testing.T) {
	for _, e := range entryPoints {
		for _, opts := range [][]stint.Option{{}, {stint.Limit(runtime.GOMAXPROCS(0))}} {
			var leaves atomic.Int64
			var walk func(ctx context.Context, depth int) error
			walk = func(ctx context.Context, depth int) error {
				if depth == 0 {
					leaves.Add(1)
					return nil
				}
				return e.run(ctx, 4, func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, opts...)
			}
			equal(t, e.name, walk(context.Background(), 4), nil)
			equal(t, e.name+": leaves", leaves.Load(), 256)
		}
	}
}

// The caller's slice is neither changed nor kept.
func TestItemsAreTheCallers(t *testing.T) {
	items := indexes(50)
	stint.Each(context.Background(), items, func(context.Context, int) error { return nil })
	got, _ := stint.Map(context.Background(), items, func(_ context.Context, i int) (int, error) { return -i, nil })
	for i := range items {
		equal(t, "item", items[i], i)
		items[i] = 7
		equal(t, "result", got[i], -i)
	}
}

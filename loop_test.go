package stint_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// Every index is given out once, whatever the numbers. The oracle is a plain loop.
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

// A loop uses no more goroutines than it has items or may run at once, and the
// caller's is one of them: alone for one item, and at limit 1.
func TestLoopStartsNoMoreThanItNeeds(t *testing.T) {
	for _, c := range []struct{ n, limit, want int }{
		{0, 8, 0}, {1, 8, 1}, {2, 8, 2}, {5, 8, 5}, {8, 8, 8}, {100, 8, 8}, {100, 1, 1}, {3, 1000, 3},
	} {
		for _, p := range places[:2] {
			t.Run(fmt.Sprintf("%d items at limit %d, %s", c.n, c.limit, p.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts, shut := p.open(min(c.limit, 64))
					defer shut()
					caller := goroutine()
					used := map[int]bool{}
					var mu sync.Mutex
					stint.Range(context.Background(), c.n, func(context.Context, int) error {
						mu.Lock()
						used[goroutine()] = true
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

// One item that blocks, at any position, does not stop the others. In a sequence
// in input order it does, once a queue of them is done.
func TestBlockedItem(t *testing.T) {
	const n = 200
	for _, blocked := range []int{0, 1, 127, n - 1} {
		for _, d := range doors {
			t.Run(fmt.Sprint(d.name, "/", blocked), func(t *testing.T) {
				both(t, 2, func(t *testing.T, opt stint.Option, _ func(int)) {
					opts := []stint.Option{opt}
					if d.name == "MapSeq" {
						opts = append(opts, stint.Queue(n))
					}
					var others atomic.Int64
					all := make(chan struct{})
					equal(t, "error", d.run(context.Background(), n, func(_ context.Context, i int) error {
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

// GOMAXPROCS, the limit without an option, is read at each call.
func TestGOMAXPROCSIsReadAtEachCall(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, d := range doors {
		for _, n := range []int{1, 3, 2} {
			synctest.Test(t, func(t *testing.T) {
				runtime.GOMAXPROCS(n)
				var g gauge
				d.run(context.Background(), 12, func(context.Context, int) error { g.hold(time.Second); return nil })
				g.is(t, 0, n, 12)
			})
		}
	}
}

// Nested to depth 4 without a limit of its own, and at the number of processors.
func TestNestedLoops(t *testing.T) {
	for _, d := range doors {
		for _, opts := range [][]stint.Option{{}, {stint.Limit(runtime.GOMAXPROCS(0))}} {
			var leaves atomic.Int64
			var walk func(ctx context.Context, depth int) error
			walk = func(ctx context.Context, depth int) error {
				if depth == 0 {
					leaves.Add(1)
					return nil
				}
				return d.run(ctx, 4, func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, opts...)
			}
			equal(t, d.name, walk(context.Background(), 4), nil)
			equal(t, d.name+": leaves", leaves.Load(), 256)
		}
	}
}

// The caller's slice is the caller's: neither changed nor kept.
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

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
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

// Every index is passed to the function once. The oracle is a plain loop.
func TestEachIndexOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 127, 128, 129, 10_000} {
		for _, limit := range []int{1, 2, 64} {
			p := stint.NewPool(stint.Limit(limit))
			for _, opts := range [][]stint.Option{{stint.Limit(limit)}, {p}, {}} {
				counts := make([]int, n) // without atomics: the race detector looks on
				equal(t, "error", stint.Range(bg, n, func(_ context.Context, i int) error { counts[i]++; return nil }, opts...), nil)
				wrong := slices.IndexFunc(counts, func(c int) bool { return c != 1 })
				equal(t, "index that was not given out once", wrong, -1)
			}
			p.Close()
		}
	}
}

// A loop uses at most as many goroutines as it has items and as its limit says. The caller's
// is one of them: the only one for one item, and at limit 1.
func TestLoopStartsNoMoreThanItNeeds(t *testing.T) {
	for _, c := range []struct{ n, limit, want int }{
		{0, 8, 0}, {1, 8, 1}, {2, 8, 2}, {5, 8, 5}, {8, 8, 8}, {100, 8, 8}, {100, 1, 1}, {3, 64, 3},
	} {
		for _, k := range limitKinds[:3] {
			bubble(t, fmt.Sprintf("%d items at limit %d, %s", c.n, c.limit, k.name), func(t *testing.T) { usesGoroutines(t, k, c.n, c.limit, c.want) })
		}
	}
}

func usesGoroutines(t *testing.T, k limitKind, items, limit, want int) {
	opts, shut := k.open(limit)
	defer shut()
	caller := goroutine.ID()
	var used sync.Map
	stint.Range(bg, items, func(context.Context, int) error {
		used.Store(goroutine.ID(), true)
		time.Sleep(time.Second)
		return nil
	}, opts...)
	n := 0
	used.Range(func(any, any) bool { n++; return true })
	equal(t, "goroutines used", n, want)
	_, callers := used.Load(caller)
	equal(t, "the caller's is one of them", callers, items > 0)
}

// As many items as the limit may wait for each other.
func TestBarrier(t *testing.T) {
	for _, n := range []int{2, 3, 16, 128, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			everywhere(t, n, func(t *testing.T, run run) {
				var wg sync.WaitGroup
				wg.Add(n)
				equal(t, "error", run(bg, n, func(context.Context, int) error { wg.Done(); wg.Wait(); return nil }), nil)
			})
		})
	}
}

// One item that blocks, at any position, does not stop the others. A sequence in input order
// stops when the queue behind the item is full of results.
func TestBlockedItem(t *testing.T) {
	const n = 200
	for _, blocked := range []int{0, 1, 127, n - 1} {
		t.Run(fmt.Sprint(blocked), func(t *testing.T) {
			onBoth(t, 2, func(t *testing.T, e entryPoint, opt stint.Option, _ func(int)) {
				blockedItem(t, e, n, blocked, e.withRoom(n, opt)...)
			})
		})
	}
}

// blockedItem runs n items, of which one waits for all others.
func blockedItem(t *testing.T, e entryPoint, n, blocked int, opts ...stint.Option) {
	var others atomic.Int64
	all := make(chan struct{})
	equal(t, "error", e.run(bg, n, func(_ context.Context, i int) error {
		if i == blocked {
			<-all
			return nil
		}
		if others.Add(1) == int64(n-1) {
			close(all)
		}
		return nil
	}, opts...), nil)
}

// Under a limit above GOMAXPROCS no item waits behind an item that blocks, however short the items are: also
// outside a bubble, where time passes. If one waited, this test would not end.
func TestWaitingBehindABlockedItem(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, e := range []entryPoint{entryPoints[2], {"First", first}} {
		for _, n := range []int{10, 300, 5000} {
			for _, blocked := range []int{0, 1, n / 2, n - 1} {
				p := stint.NewPool(stint.Limit(3))
				blockedItem(t, e, n, blocked, p)
				p.Close()
				blockedItem(t, e, n, blocked, stint.Limit(3))
			}
		}
	}
}

// Loops of items that sleep take exactly as long as under a first-come, first-served
// semaphore, which is the oracle.
func TestTimeIsExact(t *testing.T) {
	for seed := range uint64(30) {
		for _, e := range entryPoints[:3] {
			bubble(t, e.name, func(t *testing.T) { takesExactly(t, e, rand.New(rand.NewPCG(seed, 1))) })
		}
	}
}

func takesExactly(t *testing.T, e entryPoint, r *rand.Rand) {
	n, limit := 1+r.IntN(200), 1+r.IntN(20)
	unit := []time.Duration{time.Microsecond, time.Millisecond}[r.IntN(2)]
	durations := make([]time.Duration, n)
	for i := range durations {
		durations[i] = unit * time.Duration(1+r.IntN(1000))
	}
	free := make([]time.Duration, limit) // when each permit is free again
	for _, d := range durations {
		slices.Sort(free)
		free[0] += d
	}
	equal(t, "error", e.run(bg, n, func(_ context.Context, i int) error { time.Sleep(durations[i]); return nil }, stint.Limit(limit)), nil)
	equal(t, "time", sinceBubble(), slices.Max(free))
}

// GOMAXPROCS is read at each call: without an option so many items start at once, and one
// more, though that is more than a third of Burst.
func TestGOMAXPROCSIsReadAtEachCall(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, e := range searching() {
		for _, n := range []int{1, 14, 2} {
			bubble(t, e.name, func(t *testing.T) {
				runtime.GOMAXPROCS(n)
				var g gauge
				call := begin(func() error { return e.run(bg, 100, holds(&g, time.Second)) })
				time.Sleep(time.Millisecond)
				n := max(14, n+1)
				g.Is(t, n, n, n)
				<-call
			})
		}
	}
}

// The caller's slice is neither changed nor kept.
func TestItemsAreTheCallers(t *testing.T) {
	items := indexes(50)
	stint.Each(bg, items, func(context.Context, int) error { return nil })
	got, _ := stint.Map(bg, items, func(_ context.Context, i int) (int, error) { return -i, nil })
	for i := range items {
		equal(t, "item", items[i], i)
		items[i] = 7
		equal(t, "result", got[i], -i)
	}
}

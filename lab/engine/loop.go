package engine

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/destel/rill"
	"github.com/sourcegraph/conc/iter"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
	"golang.org/x/sync/errgroup"
)

// A Body is the body of a loop in the forms that engines take, made once, as a
// Task is.
type Body struct {
	Plain   func(i int)
	Task    func(ctx context.Context, i int) error
	Pointer func(i *int) // i points into a slice of indexes

	// Range runs the items from lo to hi-1. For small items its loop is written
	// out, so that it compiles to the same code as a plain loop.
	Range func(lo, hi int)
}

// BodyOf returns f in all forms. All but the first cost an extra call per item.
func BodyOf(f func(i int)) Body {
	return Body{
		Plain:   f,
		Task:    func(_ context.Context, i int) error { f(i); return nil },
		Pointer: func(i *int) { f(*i) },
		Range: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				f(i)
			}
		},
	}
}

// A Loop is an engine for a known number of items.
type Loop struct {
	result.Model // Doc names the API used

	// Unlimited loops take no limit: they run GOMAXPROCS items concurrently,
	// and are not for items that wait.
	Unlimited bool

	// AdaptiveMax is the largest number of concurrent items if no limit is set,
	// for loops with an adaptive limit.
	AdaptiveMax int

	// Run calls the body for 0 to n-1, with at most limit concurrent calls.
	// Limit 0 means no option, or GOMAXPROCS where a limit is required.
	Run func(n, limit int, b Body)
}

// loop returns a function that returns a loop of others.
func loop(name, doc string, run func(n, limit int, b Body)) func() Loop {
	return func() Loop { return Loop{Model: result.Peer.Model(name, doc), Run: run} }
}

// The loops of others and by hand. Those of a name that ends in Range have no call per
// item. PlainEach reads a slice, as par.Each does, which counts where items are tiny.
var (
	Plain = loop("plain", "for i := range n { f(i) }", func(n, _ int, b Body) {
		for i := range n {
			b.Plain(i)
		}
	})
	PlainRange = loop("plain-range", "for i := range n, the item written out in it", func(n, _ int, b Body) { b.Range(0, n) })
	PlainEach  = loop("plain-each", "for i := range s { f(&s[i]) }, over a slice", func(n, _ int, b Body) {
		s := indexes(n)
		for i := range s {
			b.Pointer(&s[i])
		}
	})
	Static = loop("static", "the indexes cut into limit chunks, a goroutine each", func(n, limit int, b Body) {
		chunks(n, limit, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				b.Plain(i)
			}
		})
	})
	StaticRange = loop("static-range", "the indexes cut into limit chunks, a goroutine and one call each", func(n, limit int, b Body) {
		chunks(n, limit, b.Range)
	})

	ErrgroupEach = loop("errgroup", "x/sync v0.24.0, errgroup.SetLimit, a function an item", func(n, limit int, b Body) {
		var g errgroup.Group
		g.SetLimit(limitOrProcs(limit))
		for i := range n {
			g.Go(func() error { b.Plain(i); return nil })
		}
		must(g.Wait())
	})
	ConcIter = loop("conc", "sourcegraph/conc v0.3.0, iter.ForEachIdx", func(n, limit int, b Body) {
		iter.Iterator[struct{}]{MaxGoroutines: limit}.ForEachIdx(make([]struct{}, n), func(i int, _ *struct{}) { b.Plain(i) })
	})
	Rill = loop("rill", "destel/rill v0.7.0, FromSlice and ForEach", func(n, limit int, b Body) {
		f := func(i int) error { b.Plain(i); return nil }
		must(rill.ForEach(rill.FromSlice(indexes(n), nil), limitOrProcs(limit), f))
	})
)

// GoroutineEach is a goroutine per item, without a limit.
func GoroutineEach() Loop {
	l := loop("goroutines", "a goroutine an item and a sync.WaitGroup, no limit", func(n, _ int, b Body) {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { b.Plain(i) })
		}
		wg.Wait()
	})()
	l.Unbounded = true
	return l
}

// Counter is limit goroutines that take indexes from an atomic counter, chunk
// at a time.
func Counter(chunk int) Loop {
	doc := fmt.Sprintf("limit goroutines on one atomic counter, %d at a time", chunk)
	return loop(fmt.Sprintf("counter-%d", chunk), doc, func(n, limit int, b Body) {
		var next atomic.Int64
		chunks(n, limit, func(_, _ int) {
			for {
				hi := int(next.Add(int64(chunk)))
				if hi-chunk >= n {
					return
				}
				for i := hi - chunk; i < min(hi, n); i++ {
					b.Plain(i)
				}
			}
		})
	})()
}

// Range is stint.Range.
func Range() Loop {
	return Loop{Model: result.Ours.Model("stint.Range", "Range, with a Limit where there is one"), AdaptiveMax: 256,
		Run: func(n, limit int, b Body) { must(stint.Range(context.Background(), n, b.Task, bound(limit)...)) }}
}

// Each is stint.Each over a slice of indexes.
func Each() Loop {
	return Loop{Model: result.Ours.Model("stint.Each", "Each over a slice, with a Limit where there is one"), AdaptiveMax: 256,
		Run: func(n, limit int, b Body) {
			must(stint.Each(context.Background(), indexes(n), b.Task, bound(limit)...))
		}}
}

// ParEach is par.Each over a slice of indexes.
func ParEach() Loop {
	return Loop{Model: result.Ours.Model("par.Each", "par.Each over a slice"), Unlimited: true,
		Run: func(n, _ int, b Body) { par.Each(indexes(n), b.Pointer) }}
}

// ParRange is par.Range, whose body takes many indexes at a time.
func ParRange() Loop {
	return Loop{Model: result.Ours.Model("par.Range", "par.Range"), Unlimited: true,
		Run: func(n, _ int, b Body) { par.Range(n, b.Range) }}
}

// chunks runs f on limit equal chunks of n indexes, with a goroutine each.
func chunks(n, limit int, f func(lo, hi int)) {
	parts := min(limitOrProcs(limit), n)
	var wg sync.WaitGroup
	for w := range parts {
		wg.Go(func() { f(w*n/parts, (w+1)*n/parts) })
	}
	wg.Wait()
}

// limitOrProcs returns limit, or GOMAXPROCS for 0.
func limitOrProcs(limit int) int {
	if limit == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return limit
}

var numbers struct {
	mu  sync.Mutex
	all []int
}

// indexes returns 0 to n-1 for engines that take a slice, which a program would
// already have. It is created in the warm-up round.
func indexes(n int) []int {
	numbers.mu.Lock()
	defer numbers.mu.Unlock()
	for len(numbers.all) < n {
		numbers.all = append(numbers.all, len(numbers.all))
	}
	return numbers.all[:n]
}

package features

import (
	"context"
	"iter"

	"github.com/sourcegraph/conc"
	conciter "github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
)

// concDerived returns a pool that shares the limit of another one.
func concDerived(ctx context.Context, limited *pool.Pool) *group {
	p := limited.WithContext(ctx).WithCancelOnError()
	return &group{
		Go:     func(_ context.Context, f task) { p.Go(f) },
		Wait:   p.Wait,
		Fork:   func(ctx context.Context) *group { return concDerived(ctx, limited) },
		Resize: func(limit int) { p.WithMaxGoroutines(limit) },
	}
}

// concLoop runs f for numbers below n in a loop of package iter.
func concLoop(limit, n int, f func(int)) {
	conciter.Iterator[int]{MaxGoroutines: limit}.ForEachIdx(make([]int, n), func(i int, _ *int) { f(i) })
}

var concLibrary = library{
	open: func(ctx context.Context, limit int) *group {
		return concDerived(ctx, pool.New().WithMaxGoroutines(limit))
	},
	two: func(small, large int) (*group, *group) { // the new limit replaces the shared one
		limited := pool.New().WithMaxGoroutines(large)
		p := limited.WithErrors().WithMaxGoroutines(small)
		return &group{Go: func(_ context.Context, f task) { p.Go(func() error { return f(ever) }) }, Wait: p.Wait}, concDerived(ever, limited)
	},
	single: func(limit int) func(func() string) func() string {
		limited := pool.NewWithResults[string]().WithMaxGoroutines(limit)
		return func(f func() string) func() string {
			p := limited.WithErrors()
			p.Go(func() (string, error) { return f(), nil })
			return func() string {
				values, _ := p.Wait() // no error
				return values[0]
			}
		}
	},
	each: concLoop,
	loop: func(n int, f func(lo, hi int)) { concLoop(2, n, func(i int) { f(i, i+1) }) },
	mapped: func(items []int, f func(int) string) []string {
		return conciter.Mapper[int, string]{MaxGoroutines: len(items)}.Map(items, func(i *int) string { return f(*i) })
	},
	stream: func(items iter.Seq[int], f func(int) int, emit func(int)) {
		s := stream.New().WithMaxGoroutines(4)
		for i := range items {
			s.Go(func() stream.Callback { r := f(i); return func() { emit(r) } })
		}
		s.Wait()
	},
	outside: func(f func()) {
		s := stream.New()
		for range 2 {
			s.Go(func() stream.Callback { f(); return func() {} })
		}
		s.Wait()
	},
	zero: func(f func()) {
		var wg conc.WaitGroup
		wg.Go(f)
		wg.Wait()
	},
	shows: map[string]demonstration{
		"Waiting for all": partly(waitingForAll),
		"Waiting for one": partly(waitingForOne),
		"Fixed function":  partly(fixedFunction),
	},
}

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
func concLoop(n, goroutines int, f func(int)) {
	conciter.Iterator[int]{MaxGoroutines: goroutines}.ForEachIdx(make([]int, n), func(i int, _ *int) { f(i) })
}

var concLibrary = library{
	api: [][2]string{
		{methods[*pool.Pool](), "Go MaxGoroutines Wait WithContext WithErrors WithMaxGoroutines"},
		{methods[*pool.ErrorPool](), "Go Wait WithContext WithFirstError WithMaxGoroutines"},
		{methods[*pool.ContextPool](), "Go Wait WithCancelOnError WithFirstError WithMaxGoroutines"},
		{methods[*stream.Stream](), "Go Wait WithMaxGoroutines"},
		{signature((*pool.ResultPool[string]).Go), "func(*pool.ResultPool[string], func() string)"},
		{signature((*stream.Stream).Go), "func(*stream.Stream, stream.Task)"},
	},
	submit: (*pool.ContextPool).Go,
	value:  (*pool.ResultPool[string]).Go,
	open: func(ctx context.Context, limit int) *group {
		return concDerived(ctx, pool.New().WithMaxGoroutines(limit))
	},
	two: func(small, large int) (*group, *group) { // the new limit replaces the shared one
		limited := pool.New().WithMaxGoroutines(large)
		p := limited.WithErrors().WithMaxGoroutines(small)
		return &group{Go: func(_ context.Context, f task) { p.Go(func() error { return f(none) }) }, Wait: p.Wait}, concDerived(ever, limited)
	},
	single: func(limit int) (func(func() string) func() string, func()) {
		limited := pool.NewWithResults[string]().WithMaxGoroutines(limit)
		return func(f func() string) func() string {
			p := limited.WithErrors()
			p.Go(func() (string, error) { return f(), nil })
			return func() string {
				values, _ := p.Wait() // no error
				return values[0]
			}
		}, func() {}
	},
	fixed: func(n int, f func(int)) { concLoop(n, 2, f) },
	free:  func(n int, f func()) { concLoop(n, 0, func(int) { f() }) },
	loop:  func(n int, f func(lo, hi int)) { concLoop(n, 2, func(i int) { f(i, i+1) }) },
	mapped: func(n int, f func(int) string) []string {
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		return conciter.Mapper[int, string]{MaxGoroutines: n}.Map(items, func(i *int) string { return f(*i) })
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
	cells: map[string]shown{
		"Worker reuse":        {Yes, "Until Wait.", nil},
		"Context":             {Yes, "In pools made by WithContext.", nil},
		"Waiting for all":     {Partly, "Once: Wait ends the pool and its workers. Others that share its limit go on.", partly(waitingForAll)},
		"Waiting for one":     {Partly, "With a pool for each task, derived from one with a limit; Go itself returns nothing.", nil},
		"Errors":              {Yes, "In pools made by WithErrors or WithContext.", nil},
		"Resizing":            {No, "WithMaxGoroutines panics after the first task.", nil},
		"Limit":               {Yes, "", nil},
		"Shared limit":        {Partly, "Pools derived from one with a limit share it, but keep their slots until they are waited for, even when idle.", nil},
		"Two limits":          {No, "A pool derived from one with a limit, and given another limit, has only the latter.", nil},
		"Nesting":             {No, "Go waits for the slot of the task that calls it.", nil},
		"Tasks from tasks":    {Partly, "While the limit is not reached; at the limit, Go in a task waits for ever if all tasks do so.", nil},
		"Adaptive limit":      {Partly, "The loops of iter use GOMAXPROCS, which suits tasks that compute; pools have no limit.", nil},
		"Chunks":              {Partly, "The loops of iter take one item at a time: 50 ns instead of 300 of a task, by its documentation.", nil},
		"Fixed function":      {Partly, "The loops of iter have one function, for a slice; a task of a pool is a closure.", partly(fixedFunction)},
		"First error cancels": {Partly, "WithCancelOnError cancels the context; tasks that have not started run all the same.", nil},
		"All errors":          {Yes, "Joined, unless WithFirstError is given.", nil},
		"Panics":              {Yes, "The first of several panics; errors are then lost.", nil},
		"Goexit":              {Partly, "The slot is free again and Wait returns, but without an error.", nil},
		"Bounded queue":       {Partly, "There is no queue: Go returns when the task starts.", nil},
		"Giving up":           {No, "Go continues to wait when the context ends.", nil},
		"Try":                 {No, "Go is the only way to start a task.", nil},
		"Pausing":             {No, "A limit is at least 1, and cannot be changed.", nil},
		"Dropping the queue":  {No, "There is no queue, and tasks waiting in Go start in any case, also after cancellation.", nil},
		"Typed results":       {Yes, "By iter.Map, and in pools made by NewWithResults.", nil},
		"Results in order":    {Yes, "By iter.Map; results of a pool come in the order in which tasks finish.", nil},
		"Ordered stream":      {Yes, "Package stream, with a function to call in order for each task.", nil},
		"Batches":             {No, "A stream takes tasks one by one.", nil},
		"Statistics":          {No, "A pool reports nothing but MaxGoroutines.", nil},
		"Bubbles":             {Partly, "Pools and loops; a stream crashes in the second bubble, since its package keeps channels of the first.", nil},
		"Zero value":          {Yes, "conc.WaitGroup and iter.Iterator.", nil},
	},
}

package features

import (
	"context"
	"iter"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/par"
	"github.com/stint-go/stint/stream"
)

// stintGroup returns a group under a limiter.
func stintGroup(ctx context.Context, limit *stint.Limiter, opts ...stint.Option) *group {
	g := stint.NewGroup(ctx, append(opts, limit, stint.Queue(0))...)
	return &group{
		Go:     func(ctx context.Context, f task) { _ = g.GoContext(ctx, f) }, // an error if the group has ended
		Wait:   g.Wait,
		Fork:   func(ctx context.Context) *group { return stintGroup(ctx, limit) },
		Try:    func(f task) bool { return g.TryGo(f) },
		Resize: limit.Set,
	}
}

var stintLibrary = library{
	api: [][2]string{
		{methods[*stint.Group](), "Go GoContext TryGo Wait"},
		{methods[*stint.Pool](), "Close Go GoContext Idle SetLimit Shutdown Stats TryGo"},
		{signature((*stint.Results[string]).Go), "func(*stint.Results[string], func(context.Context) (string, error)) bool"},
		{signature((*stint.Pool).Go), "func(*stint.Pool, func(context.Context)) error"},
	},
	submit: (*stint.Group).Go,
	value:  (*stint.Results[string]).Go,
	open:   func(ctx context.Context, limit int) *group { return stintGroup(ctx, stint.Limit(limit)) },
	tolerant: func(ctx context.Context, limit int) *group {
		return stintGroup(ctx, stint.Limit(limit), stint.KeepGoing())
	},
	queue: func(_ context.Context, limit, room int) *group {
		p := stint.NewPool(stint.Limit(limit), stint.Queue(room))
		return &group{
			Go:    func(ctx context.Context, f task) { _ = p.GoContext(ctx, func(ctx context.Context) { _ = f(ctx) }) },
			Wait:  func() error { p.Close(); return nil },
			Stats: func() (int, int) { s := p.Stats(); return s.Running, s.Queued },
		}
	},
	two: func(small, large int) (*group, *group) { // panics
		p := stint.NewPool(stint.Limit(large))
		defer p.Close()
		stint.NewGroup(ever, p, stint.Limit(small))
		return nil, nil
	},
	single: func(limit int) (func(func() string) func() string, func()) {
		limiter := stint.Limit(limit)
		return func(f func() string) func() string {
			g := stint.NewResults[string](ever, limiter)
			g.Go(func(context.Context) (string, error) { return f(), nil })
			return func() string { values, _ := g.Wait(); return values[0] } // no error
		}, func() {}
	},
	fixed: func(n int, f func(int)) {
		_ = stint.Range(ever, n, func(_ context.Context, i int) error { f(i); return nil }, stint.Limit(2))
	},
	free: func(n int, f func()) {
		_ = stint.Range(ever, n, func(context.Context, int) error { f(); return nil })
	},
	loop: par.Range,
	mapped: func(n int, f func(int) string) []string {
		g := stint.NewResults[string](ever, stint.Limit(n))
		for i := range n {
			g.Go(func(context.Context) (string, error) { return f(i), nil })
		}
		values, _ := g.Wait() // no error
		return values
	},
	stream: func(items iter.Seq[int], f func(int) int, emit func(int)) {
		same := func(_ context.Context, i int) (int, error) { return f(i), nil }
		for r := range stint.MapSeq(ever, items, same, stint.Limit(4)) {
			emit(r)
		}
	},
	batches: func(items <-chan int, size int, linger time.Duration, emit func([]int)) {
		for b := range stream.Chunk(stream.FromChan(items), size, linger).All(ever) {
			emit(b)
		}
	},
	zero: func(f func()) {
		_ = stint.Range(ever, 1, func(context.Context, int) error { f(); return nil })
	},
	hollow: func() { new(stint.Group).Go(plain(func() {})) },
	cells: map[string]shown{
		"Worker reuse":        {Yes, "In calls and groups until they return, in pools until a worker has been idle for a second.", nil},
		"Context":             {Yes, "", nil},
		"Waiting for all":     {Yes, "Once: Wait ends the group, but not its pool or limiter.", nil},
		"Waiting for one":     {Partly, "With a group with results for each task, under a shared limiter or pool; Go itself returns nothing to wait for.", nil},
		"Errors":              {Yes, "", nil},
		"Resizing":            {Yes, "", nil},
		"Limit":               {Yes, "", nil},
		"Shared limit":        {Yes, "A Limiter or a Pool is an option of calls, groups and streams.", nil},
		"Two limits":          {No, "A call has one limit: a Limiter and a Pool together are refused.", nil},
		"Nesting":             {Yes, "A waiting task lends its permit to a call that gets its context and the same Limiter or Pool.", nil},
		"Tasks from tasks":    {Yes, "By GoContext, with the context of the task.", nil},
		"Adaptive limit":      {Yes, "A worker per processor; for tasks that wait, workers are added while throughput improves, up to 256.", nil},
		"Chunks":              {Yes, "In par.Range, which passes the chunks; Each, Map and Range take several short items at once.", nil},
		"Fixed function":      {Partly, "Loops have one function, and an item allocates nothing; a task of a group or a pool is a closure.", partly(fixedFunction)},
		"First error cancels": {Yes, "", nil},
		"All errors":          {Yes, "Under KeepGoing, joined, each with the index of its task.", nil},
		"Panics":              {Yes, "Raised again, with the other panics and errors. In tasks of Pool.Go, it crashes the process or goes to OnPanic.", nil},
		"Goexit":              {Yes, "As ErrGoexit. In Each, Map and Range the caller also runs items; there it ends the caller's goroutine, as in a loop.", nil},
		"Bounded queue":       {Yes, "Queue; the default bound is 1,024 or the limit.", nil},
		"Giving up":           {Yes, "GoContext.", nil},
		"Try":                 {Yes, "TryGo.", nil},
		"Pausing":             {No, "A limit is at least 1, of a pool too.", nil},
		"Dropping the queue":  {Yes, "By the end of a group's context, or Shutdown of a pool, when its context ends. The context of running tasks ends too.", nil},
		"Typed results":       {Yes, "", nil},
		"Results in order":    {Yes, "Map, and groups with results.", nil},
		"Ordered stream":      {Yes, "MapSeq, and stream.ParMap between stages.", nil},
		"Batches":             {Yes, "Chunk of package stream, to within a millisecond.", nil},
		"Statistics":          {Yes, "Of pools and limiters.", nil},
		"Bubbles":             {Yes, "A pool that is not closed keeps the bubble from ending.", nil},
		"Zero value":          {Partly, "Each, Map and Range are functions; groups, pools and limiters have constructors, and a zero Group panics.", nil},
	},
}

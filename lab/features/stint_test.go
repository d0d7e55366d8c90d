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
	shows: map[string]demonstration{
		"Fixed function": partly(fixedFunction),
	},
}

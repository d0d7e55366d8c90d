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
	open: func(ctx context.Context, limit int) *group { return stintGroup(ctx, stint.Limit(limit)) },
	tolerant: func(ctx context.Context, limit int) *group {
		return stintGroup(ctx, stint.Limit(limit), stint.KeepGoing())
	},
	queue: func(_ context.Context, limit, room int) *group {
		p := stint.NewPool(stint.Limit(limit), stint.Queue(room))
		return &group{
			Go:     func(ctx context.Context, f task) { _ = p.GoContext(ctx, func(ctx context.Context) { _ = f(ctx) }) },
			Wait:   func() error { p.Close(); return nil },
			Try:    func(f task) bool { return p.TryGo(func(ctx context.Context) { _ = f(ctx) }) },
			Stats:  func() (int, int) { s := p.Stats(); return s.Running, s.Queued },
			Resize: p.SetLimit,
		}
	},
	two: func(small, large int) (*group, *group) {
		p := stint.NewPool(stint.Limit(large))
		part, all := stint.NewGroup(ever, p, stint.Limit(small)), stint.NewGroup(ever, p)
		within := &group{Go: func(ctx context.Context, f task) { _ = part.GoContext(ctx, f) }, Wait: part.Wait}
		return within, &group{
			Go:   func(ctx context.Context, f task) { _ = all.GoContext(ctx, f) },
			Wait: all.Wait,
			Kill: p.Close, // when both have ended: a closed pool takes no task
		}
	},
	single: func(limit int) func(func() string) func() string {
		limiter := stint.Limit(limit)
		return func(f func() string) func() string {
			g := stint.NewResults[string](ever, limiter)
			g.Go(func(context.Context) (string, error) { return f(), nil })
			return func() string { values, _ := g.Wait(); return values[0] } // no error
		}
	},
	each: func(limit, n int, f func(int)) {
		var opts []stint.Option
		if limit > 0 {
			opts = append(opts, stint.Limit(limit))
		}
		_ = stint.Range(ever, n, func(_ context.Context, i int) error { f(i); return nil }, opts...)
	},
	loop: par.Range,
	mapped: func(items []int, f func(int) string) []string {
		same := func(_ context.Context, i int) (string, error) { return f(i), nil }
		values, _ := stint.Map(ever, items, same, stint.Limit(len(items))) // no error
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
		"Waiting for one": partly(waitingForOne),
		"Fixed function":  partly(fixedFunction),
	},
}

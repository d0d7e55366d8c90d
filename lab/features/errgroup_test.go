package features

import (
	"context"

	"golang.org/x/sync/errgroup"
)

var errgroupLibrary = library{
	open: func(ctx context.Context, limit int) *group {
		g, ctx := errgroup.WithContext(ctx)
		if limit > 0 {
			g.SetLimit(limit)
		}
		return &group{
			Go:     func(_ context.Context, f task) { g.Go(func() error { return f(ctx) }) },
			Wait:   g.Wait,
			Try:    func(f task) bool { return g.TryGo(func() error { return f(ctx) }) },
			Resize: g.SetLimit,
		}
	},
	zero: func(f func()) {
		var g errgroup.Group
		g.Go(func() error { f(); return nil })
		_ = g.Wait() // nil
	},
	shows: map[string]demonstration{
		"Context": partly(contexts),
	},
}

package nestorder

import (
	"context"

	"github.com/stint-go/stint"
)

func task(context.Context) error      { return nil }
func item(context.Context, int) error { return nil }

var disk, network = stint.Limit(1), stint.Limit(2)

func up(ctx context.Context) {
	disk.Do(ctx, func(ctx context.Context) error { return network.Do(ctx, task) })
}

func down(ctx context.Context) {
	network.Do(ctx, func(ctx context.Context) error {
		return stint.Range(ctx, 2, item, disk) // want `disk is used in a task on network, and in a.go:15 the other way round: each can wait for the other; nest them in the same order`
	})
}

type server struct {
	in, out      *stint.Limiter
	small, large *stint.Pool
}

func (s *server) send(ctx context.Context) error { return s.out.Do(ctx, task) }

func (s *server) handle(ctx context.Context) {
	s.in.Do(ctx, s.send)
	s.in.Do(ctx, func(ctx context.Context) error { return s.send(ctx) })
	g := stint.NewGroup(ctx, s.out)
	g.Go(func(ctx context.Context) error {
		return s.in.Do(ctx, task) // want `in is used in a task on out, and in a.go:29 the other way round`
	})
	g.Wait()
}

func (s *server) pools(ctx context.Context) {
	s.small.Go(func(context.Context) { s.large.Go(func(context.Context) {}) })
	s.large.Go(func(context.Context) { s.small.Go(func(context.Context) {}) }) // want `small is used in a task on large`
}

func keys(ctx context.Context, all *stint.Limiter, tenants *stint.Limiters[string]) {
	all.Do(ctx, func(ctx context.Context) error { return tenants.Do(ctx, "a", task) })
	tenants.Do(ctx, "a", func(ctx context.Context) error {
		return all.Do(ctx, task) // want `all is used in a task on tenants`
	})
}

// A helper.
func with(ctx context.Context, l *stint.Limiter, f func(context.Context)) {
	l.Do(ctx, func(ctx context.Context) error {
		f(ctx)
		return nil
	})
}

func helped(ctx context.Context, a, b, c *stint.Limiter) {
	with(ctx, a, func(ctx context.Context) { with(ctx, b, func(context.Context) {}) })
	with(ctx, b, func(ctx context.Context) { // want `a is used in a task on b, and in a.go:62 the other way round`
		with(ctx, a, func(context.Context) {})
		with(ctx, c, func(context.Context) {})
	})
	with(ctx, c, func(context.Context) {})
}

func fine(ctx context.Context, limits []*stint.Limiter) {
	a, b, c := stint.Limit(1), stint.Limit(1), stint.Limit(1)
	a.Do(ctx, func(ctx context.Context) error {
		return b.Do(ctx, func(ctx context.Context) error { return a.Do(ctx, task) }) // on the permit that it has
	})
	b.Do(ctx, func(ctx context.Context) error { return a.TryDo(ctx, task) }) // does not wait
	b.Do(ctx, func(ctx context.Context) error { return c.Do(ctx, task) })
	b.Do(ctx, task)
	a.Do(ctx, task)
	limits[0].Do(ctx, func(ctx context.Context) error { return limits[1].Do(ctx, task) })
	limits[1].Do(ctx, func(ctx context.Context) error { return limits[0].Do(ctx, task) })
}

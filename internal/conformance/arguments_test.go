package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint"
)

func TestBadArguments(t *testing.T) {
	ctx := context.Background()
	var none context.Context
	item := func(context.Context, int) error { return nil }
	value := func(context.Context, int) (int, error) { return 0, nil }
	task := func(context.Context) error { return nil }
	result := func(context.Context) (int, error) { return 0, nil }
	plain := func(context.Context) {}
	p := stint.NewPool()
	g := stint.NewGroup(ctx)
	r := stint.NewResults[int](ctx)
	l := stint.Limit(1)
	onPanic := stint.OnPanic(func(*stint.PanicError) {})
	for _, c := range []struct {
		want string
		call func()
	}{
		{"stint: Limit(0): want 1 or more", func() { stint.Limit(0) }},
		{"stint: Limit(-3): want 1 or more", func() { stint.Limit(-3) }},
		{"stint: Limiter.Set(0): want 1 or more", func() { l.Set(0) }},
		{"stint: Queue(-1): want 0 or more", func() { stint.Queue(-1) }},
		{"stint: OnPanic: nil function", func() { stint.OnPanic(nil) }},
		{"stint: Range: n is -1, want 0 or more", func() { stint.Range(ctx, -1, item) }},

		{"stint: Each: nil context", func() { stint.Each(none, []int{1}, item) }},
		{"stint: Map: nil context", func() { stint.Map(none, []int{1}, value) }},
		{"stint: Range: nil context", func() { stint.Range(none, 1, item) }},
		{"stint: First: nil context", func() { stint.First(none, []int{1}, value) }},
		{"stint: EachSeq: nil context", func() { stint.EachSeq(none, count(1), item) }},
		{"stint: MapSeq: nil context", func() { stint.MapSeq(none, count(1), value) }},
		{"stint: NewGroup: nil context", func() { stint.NewGroup(none) }},
		{"stint: NewResults: nil context", func() { stint.NewResults[int](none) }},
		{"stint: Group.GoContext: nil context", func() { g.GoContext(none, task) }},
		{"stint: Results.GoContext: nil context", func() { r.GoContext(none, result) }},
		{"stint: Pool.GoContext: nil context", func() { p.GoContext(none, plain) }},
		{"stint: Pool.Idle: nil context", func() { p.Idle(none) }},
		{"stint: Pool.Shutdown: nil context", func() { p.Shutdown(none) }},

		{"stint: Each: nil function", func() { stint.Each[int](ctx, nil, nil) }},
		{"stint: Map: nil function", func() { stint.Map[int, int](ctx, nil, nil) }},
		{"stint: Range: nil function", func() { stint.Range(ctx, 0, nil) }},
		{"stint: First: nil function", func() { stint.First[int, int](ctx, nil, nil) }},
		{"stint: EachSeq: nil function", func() { stint.EachSeq(ctx, count(1), nil) }},
		{"stint: MapSeq: nil function", func() { stint.MapSeq[int, int](ctx, count(1), nil) }},
		{"stint: Group.Go: nil function", func() { g.Go(nil) }},
		{"stint: Group.GoContext: nil function", func() { g.GoContext(ctx, nil) }},
		{"stint: Group.TryGo: nil function", func() { g.TryGo(nil) }},
		{"stint: Results.Go: nil function", func() { r.Go(nil) }},
		{"stint: Results.GoContext: nil function", func() { r.GoContext(ctx, nil) }},
		{"stint: Results.TryGo: nil function", func() { r.TryGo(nil) }},
		{"stint: Pool.Go: nil function", func() { p.Go(nil) }},
		{"stint: Pool.GoContext: nil function", func() { p.GoContext(ctx, nil) }},
		{"stint: Pool.TryGo: nil function", func() { p.TryGo(nil) }},

		{"stint: EachSeq: nil sequence", func() { stint.EachSeq(ctx, nil, item) }},
		{"stint: MapSeq: nil sequence", func() { stint.MapSeq(ctx, nil, value) }},

		{"stint: Auto: nil Option", func() { stint.Auto(1, 2, nil) }},
		{"stint: Range: nil Option", func() { stint.Range(ctx, 0, item, nil) }},
		{"stint: NewPool: nil Option", func() { stint.NewPool(nil) }},
		{"stint: NewGroup: nil Limiter", func() { stint.NewGroup(ctx, (*stint.Limiter)(nil)) }},
		{"stint: NewGroup: Limiter was not made by Limit or Auto", func() { stint.NewGroup(ctx, new(stint.Limiter)) }},
		{"stint: NewGroup: nil Pool", func() { stint.NewGroup(ctx, (*stint.Pool)(nil)) }},
		{"stint: NewGroup: Pool was not made by NewPool", func() { stint.NewGroup(ctx, new(stint.Pool)) }},

		{"stint: Each: Queue does not apply", func() { stint.Each(ctx, []int{1}, item, stint.Queue(1)) }},
		{"stint: Map: Unordered does not apply", func() { stint.Map(ctx, []int{1}, value, stint.Unordered()) }},
		{"stint: Range: OnPanic does not apply", func() { stint.Range(ctx, 0, item, onPanic) }},
		{"stint: First: KeepGoing does not apply", func() { stint.First(ctx, nil, value, stint.KeepGoing()) }},
		{"stint: EachSeq: Unordered does not apply", func() { stint.EachSeq(ctx, count(1), item, stint.Unordered()) }},
		{"stint: MapSeq: OnPanic does not apply", func() { stint.MapSeq(ctx, count(1), value, onPanic) }},
		{"stint: NewGroup: Unordered does not apply", func() { stint.NewGroup(ctx, stint.Unordered()) }},
		{"stint: NewResults: OnPanic does not apply", func() { stint.NewResults[int](ctx, onPanic) }},
		{"stint: NewPool: KeepGoing does not apply", func() { stint.NewPool(stint.KeepGoing()) }},
		{"stint: NewPool: Unordered does not apply", func() { stint.NewPool(stint.Unordered()) }},
		{"stint: NewPool: a Pool does not apply", func() { stint.NewPool(p) }},
		{"stint: NewGroup: a Pool and a Limiter: the pool has its own limit", func() { stint.NewGroup(ctx, p, l) }},
		{"stint: Each: a Pool and a Limiter: the pool has its own limit", func() { stint.Each(ctx, []int{}, item, l, p) }},

		{"stint: Group.Go: Group was not made by NewGroup", func() { new(stint.Group).Go(task) }},
		{"stint: Group.GoContext: Group was not made by NewGroup", func() { new(stint.Group).GoContext(ctx, task) }},
		{"stint: Group.TryGo: Group was not made by NewGroup", func() { new(stint.Group).TryGo(task) }},
		{"stint: Group.Wait: Group was not made by NewGroup", func() { new(stint.Group).Wait() }},
		{"stint: Results.Go: Results was not made by NewResults", func() { new(stint.Results[int]).Go(result) }},
		{"stint: Results.GoContext: Results was not made by NewResults", func() { new(stint.Results[int]).GoContext(ctx, result) }},
		{"stint: Results.TryGo: Results was not made by NewResults", func() { new(stint.Results[int]).TryGo(result) }},
		{"stint: Results.Wait: Results was not made by NewResults", func() { new(stint.Results[int]).Wait() }},
		{"stint: Pool.Go: Pool was not made by NewPool", func() { new(stint.Pool).Go(plain) }},
		{"stint: Pool.GoContext: Pool was not made by NewPool", func() { new(stint.Pool).GoContext(ctx, plain) }},
		{"stint: Pool.TryGo: Pool was not made by NewPool", func() { new(stint.Pool).TryGo(plain) }},
		{"stint: Pool.Close: Pool was not made by NewPool", func() { new(stint.Pool).Close() }},
		{"stint: Pool.Shutdown: Pool was not made by NewPool", func() { new(stint.Pool).Shutdown(ctx) }},
		{"stint: Pool.Idle: Pool was not made by NewPool", func() { new(stint.Pool).Idle(ctx) }},
		{"stint: Pool.SetLimit: Pool was not made by NewPool", func() { new(stint.Pool).SetLimit(1) }},
		{"stint: Pool.Stats: Pool was not made by NewPool", func() { new(stint.Pool).Stats() }},
		{"stint: Pool.SetLimit(-1): want 1 or more", func() { p.SetLimit(-1) }},
		{"stint: Limiter.Set: Limiter was not made by Limit or Auto", func() { new(stint.Limiter).Set(1) }},
		{"stint: Limiter.Current: Limiter was not made by Limit or Auto", func() { new(stint.Limiter).Current() }},
		{"stint: Limiter.Stats: Limiter was not made by Limit or Auto", func() { new(stint.Limiter).Stats() }},
	} {
		if got := recovered(c.call); got != c.want {
			t.Errorf("got  %v\nwant %v", got, c.want)
		}
	}
	t.Run("in a task", func(t *testing.T) { // a wait that would be for the caller itself
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(1))
			p.Go(func(ctx context.Context) {
				equal(t, "Idle", recovered(func() { p.Idle(ctx) }), any("stint: Pool.Idle: called by a task that holds a permit of the pool's limiter"))
				equal(t, "Shutdown", recovered(func() { p.Shutdown(ctx) }), any("stint: Pool.Shutdown: called by a task that holds a permit of the pool's limiter"))
			})
			p.Close()
		})
	})
	t.Run("after the end", func(t *testing.T) { // is not one: the answer is a value
		g.Wait()
		equal(t, "Group.Go", g.Go(task), false)
		equal(t, "Group.TryGo", g.TryGo(task), false)
		equal(t, "Group.GoContext", g.GoContext(ctx, task), stint.ErrClosed)
		equal(t, "Group.Wait", g.Wait(), nil)
		r.Wait()
		equal(t, "Results.Go", r.Go(result), false)
		equal(t, "Results.TryGo", r.TryGo(result), false)
		equal(t, "Results.GoContext", r.GoContext(ctx, result), stint.ErrClosed)
		p.Close()
		p.Close()
		equal(t, "Pool.Go", p.Go(plain), stint.ErrClosed)
		equal(t, "Pool.TryGo", p.TryGo(plain), false)
		equal(t, "Pool.GoContext", p.GoContext(ctx, plain), stint.ErrClosed)
		equal(t, "Pool.Idle", p.Idle(ctx), nil)
		n, err := p.Shutdown(ctx)
		equal(t, "abandoned", n, 0)
		equal(t, "Shutdown", err, nil)
		for _, e := range entryPoints {
			equal(t, e.name, e.run(ctx, 1, item, p), stint.ErrClosed)
		}
		p.SetLimit(2) // without effect
	})
}

package conformance_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint"
)

var (
	noContext  context.Context
	someValue  = valued(nothing)
	someTask   = func(context.Context) error { return nil }
	someResult = func(context.Context) (int, error) { return 0, nil }
	plainTask  = func(context.Context) {}

	someLimiters = stint.NewLimiters(func(int) *stint.Limiter { return nil })
)

// A badCall panics with a message.
type badCall struct {
	want string
	call func()
}

// nilContexts are calls without a context.
func nilContexts(p *stint.Pool, g *stint.Group, r *stint.Results[int]) []badCall {
	return []badCall{
		{"stint: Each: nil context", func() { stint.Each(noContext, []int{1}, nothing) }},
		{"stint: Map: nil context", func() { stint.Map(noContext, []int{1}, someValue) }},
		{"stint: Range: nil context", func() { stint.Range(noContext, 1, nothing) }},
		{"stint: First: nil context", func() { stint.First(noContext, []int{1}, someValue) }},
		{"stint: EachSeq: nil context", func() { stint.EachSeq(noContext, count(1), nothing) }},
		{"stint: MapSeq: nil context", func() { stint.MapSeq(noContext, count(1), someValue) }},
		{"stint: NewGroup: nil context", func() { stint.NewGroup(noContext) }},
		{"stint: NewResults: nil context", func() { stint.NewResults[int](noContext) }},
		{"stint: Group.GoContext: nil context", func() { g.GoContext(noContext, someTask) }},
		{"stint: Results.GoContext: nil context", func() { r.GoContext(noContext, someResult) }},
		{"stint: Pool.GoContext: nil context", func() { p.GoContext(noContext, plainTask) }},
		{"stint: Pool.Idle: nil context", func() { p.Idle(noContext) }},
		{"stint: Pool.Shutdown: nil context", func() { p.Shutdown(noContext) }},
		{"stint: Limiters.Do: nil context", func() { someLimiters.Do(noContext, 1, someTask) }},
		{"stint: Limiters.TryDo: nil context", func() { someLimiters.TryDo(noContext, 1, someTask) }},
	}
}

// nilFunctions are calls without a function or a sequence.
func nilFunctions(p *stint.Pool, g *stint.Group, r *stint.Results[int]) []badCall {
	return []badCall{
		{"stint: OnPanic: nil function", func() { stint.OnPanic(nil) }},
		{"stint: Each: nil function", func() { stint.Each[int](bg, nil, nil) }},
		{"stint: Map: nil function", func() { stint.Map[int, int](bg, nil, nil) }},
		{"stint: Range: nil function", func() { stint.Range(bg, 0, nil) }},
		{"stint: First: nil function", func() { stint.First[int, int](bg, nil, nil) }},
		{"stint: EachSeq: nil function", func() { stint.EachSeq(bg, count(1), nil) }},
		{"stint: MapSeq: nil function", func() { stint.MapSeq[int, int](bg, count(1), nil) }},
		{"stint: Group.Go: nil function", func() { g.Go(nil) }},
		{"stint: Group.GoContext: nil function", func() { g.GoContext(bg, nil) }},
		{"stint: Group.TryGo: nil function", func() { _ = g.TryGo(nil) }},
		{"stint: Results.Go: nil function", func() { r.Go(nil) }},
		{"stint: Results.GoContext: nil function", func() { r.GoContext(bg, nil) }},
		{"stint: Results.TryGo: nil function", func() { _ = r.TryGo(nil) }},
		{"stint: Pool.Go: nil function", func() { p.Go(nil) }},
		{"stint: Pool.GoContext: nil function", func() { p.GoContext(bg, nil) }},
		{"stint: Pool.TryGo: nil function", func() { _ = p.TryGo(nil) }},
		{"stint: NewLimiters: nil function", func() { stint.NewLimiters[int](nil) }},
		{"stint: Limiters.Do: nil function", func() { someLimiters.Do(bg, 1, nil) }},
		{"stint: Limiters.TryDo: nil function", func() { someLimiters.TryDo(bg, 1, nil) }},
		{"stint: EachSeq: nil sequence", func() { stint.EachSeq(bg, nil, nothing) }},
		{"stint: MapSeq: nil sequence", func() { stint.MapSeq(bg, nil, someValue) }},
	}
}

// badOptions are calls with options that do not apply, or were not made.
func badOptions(p *stint.Pool, l *stint.Limiter) []badCall {
	return []badCall{
		{"stint: Auto: nil Option", func() { stint.Auto(1, 2, nil) }},
		{"stint: Range: nil Option", func() { stint.Range(bg, 0, nothing, nil) }},
		{"stint: NewPool: nil Option", func() { stint.NewPool(nil) }},
		{"stint: NewGroup: nil Limiter", func() { stint.NewGroup(bg, (*stint.Limiter)(nil)) }},
		{"stint: NewGroup: Limiter was not made by Limit or Auto", func() { stint.NewGroup(bg, new(stint.Limiter)) }},
		{"stint: NewGroup: nil Pool", func() { stint.NewGroup(bg, (*stint.Pool)(nil)) }},
		{"stint: NewGroup: Pool was not made by NewPool", func() { stint.NewGroup(bg, new(stint.Pool)) }},
		{"stint: Each: Queue does not apply", func() { stint.Each(bg, []int{1}, nothing, stint.Queue(1)) }},
		{"stint: Map: Unordered does not apply", func() { stint.Map(bg, []int{1}, someValue, stint.Unordered()) }},
		{"stint: Range: OnPanic does not apply", func() { stint.Range(bg, 0, nothing, stint.OnPanic(func(*stint.PanicError) {})) }},
		{"stint: First: KeepGoing does not apply", func() { stint.First(bg, nil, someValue, stint.KeepGoing()) }},
		{"stint: Map: HedgeAfter does not apply", func() { stint.Map(bg, nil, someValue, stint.HedgeAfter(1)) }},
		{"stint: EachSeq: Unordered does not apply", func() { stint.EachSeq(bg, count(1), nothing, stint.Unordered()) }},
		{"stint: MapSeq: OnPanic does not apply", func() { stint.MapSeq(bg, count(1), someValue, stint.OnPanic(func(*stint.PanicError) {})) }},
		{"stint: NewGroup: Unordered does not apply", func() { stint.NewGroup(bg, stint.Unordered()) }},
		{"stint: NewResults: OnPanic does not apply", func() { stint.NewResults[int](bg, stint.OnPanic(func(*stint.PanicError) {})) }},
		{"stint: NewPool: KeepGoing does not apply", func() { stint.NewPool(stint.KeepGoing()) }},
		{"stint: NewPool: Unordered does not apply", func() { stint.NewPool(stint.Unordered()) }},
		{"stint: NewPool: a Pool does not apply", func() { stint.NewPool(p) }},
	}
}

// notMade are methods of zero values.
func notMade() []badCall {
	return []badCall{
		{"stint: Group.Go: Group was not made by NewGroup", func() { new(stint.Group).Go(someTask) }},
		{"stint: Group.GoContext: Group was not made by NewGroup", func() { new(stint.Group).GoContext(bg, someTask) }},
		{"stint: Group.TryGo: Group was not made by NewGroup", func() { _ = new(stint.Group).TryGo(someTask) }},
		{"stint: Group.Wait: Group was not made by NewGroup", func() { new(stint.Group).Wait() }},
		{"stint: Results.Go: Results was not made by NewResults", func() { new(stint.Results[int]).Go(someResult) }},
		{"stint: Results.GoContext: Results was not made by NewResults", func() { new(stint.Results[int]).GoContext(bg, someResult) }},
		{"stint: Results.TryGo: Results was not made by NewResults", func() { _ = new(stint.Results[int]).TryGo(someResult) }},
		{"stint: Results.Wait: Results was not made by NewResults", func() { new(stint.Results[int]).Wait() }},
		{"stint: Pool.Go: Pool was not made by NewPool", func() { new(stint.Pool).Go(plainTask) }},
		{"stint: Pool.GoContext: Pool was not made by NewPool", func() { new(stint.Pool).GoContext(bg, plainTask) }},
		{"stint: Pool.TryGo: Pool was not made by NewPool", func() { _ = new(stint.Pool).TryGo(plainTask) }},
		{"stint: Pool.Close: Pool was not made by NewPool", func() { new(stint.Pool).Close() }},
		{"stint: Pool.Shutdown: Pool was not made by NewPool", func() { new(stint.Pool).Shutdown(bg) }},
		{"stint: Pool.Idle: Pool was not made by NewPool", func() { new(stint.Pool).Idle(bg) }},
		{"stint: Pool.SetLimit: Pool was not made by NewPool", func() { new(stint.Pool).SetLimit(1) }},
		{"stint: Pool.Stats: Pool was not made by NewPool", func() { new(stint.Pool).Stats() }},
		{"stint: Limiter.Set: Limiter was not made by Limit or Auto", func() { new(stint.Limiter).Set(1) }},
		{"stint: Limiter.Current: Limiter was not made by Limit or Auto", func() { new(stint.Limiter).Current() }},
		{"stint: Limiter.Stats: Limiter was not made by Limit or Auto", func() { new(stint.Limiter).Stats() }},
		{"stint: Limiters.Do: Limiters was not made by NewLimiters", func() { new(stint.Limiters[int]).Do(bg, 1, someTask) }},
		{"stint: Limiters.TryDo: Limiters was not made by NewLimiters", func() { new(stint.Limiters[int]).TryDo(bg, 1, someTask) }},
		{"stint: Limiters.Len: Limiters was not made by NewLimiters", func() { new(stint.Limiters[int]).Len() }},
	}
}

func TestBadArguments(t *testing.T) {
	p, g, r, l := stint.NewPool(), stint.NewGroup(bg), stint.NewResults[int](bg), stint.Limit(1)
	numbers := []badCall{
		{"stint: Limit(0): want 1 or more", func() { stint.Limit(0) }},
		{"stint: Limit(-3): want 1 or more", func() { stint.Limit(-3) }},
		{"stint: Limiter.Set(-1): want 0 or more", func() { l.Set(-1) }},
		{"stint: Limiter.SetBounds(0, 1): want 1 or more, and a maximum that is not less, or 0 and 0", func() { l.SetBounds(0, 1) }},
		{"stint: Limiter.SetBounds(-1, 0): want 1 or more, and a maximum that is not less, or 0 and 0", func() { l.SetBounds(-1, 0) }},
		{"stint: Limiter.SetBounds(3, 2): want 1 or more, and a maximum that is not less, or 0 and 0", func() { l.SetBounds(3, 2) }},
		{"stint: Queue(-1): want 0 or more", func() { stint.Queue(-1) }},
		{"stint: HedgeAfter(0s): want more than 0", func() { stint.HedgeAfter(0) }},
		{"stint: HedgeAfter(-1ns): want more than 0", func() { stint.HedgeAfter(-1) }},
		{"stint: Range: n is -1, want 0 or more", func() { stint.Range(bg, -1, nothing) }},
		{"stint: Pool.SetLimit(-1): want 0 or more", func() { p.SetLimit(-1) }},
	}
	for _, c := range slices.Concat(numbers, nilContexts(p, g, r), nilFunctions(p, g, r), badOptions(p, l), notMade()) {
		equal(t, "panic", recovered(c.call), any(c.want))
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
		equal(t, "Group.Go", g.Go(someTask), false)
		equal(t, "Group.TryGo", g.TryGo(someTask), false)
		equal(t, "Group.GoContext", g.GoContext(bg, someTask), stint.ErrClosed)
		equal(t, "Group.Wait", g.Wait(), nil)
		r.Wait()
		equal(t, "Results.Go", r.Go(someResult), false)
		equal(t, "Results.TryGo", r.TryGo(someResult), false)
		equal(t, "Results.GoContext", r.GoContext(bg, someResult), stint.ErrClosed)
		p.Close()
		p.Close()
		equal(t, "Pool.Go", p.Go(plainTask), stint.ErrClosed)
		equal(t, "Pool.TryGo", p.TryGo(plainTask), false)
		equal(t, "Pool.GoContext", p.GoContext(bg, plainTask), stint.ErrClosed)
		equal(t, "Pool.Idle", p.Idle(bg), nil)
		n, err := p.Shutdown(bg)
		equal(t, "abandoned", n, 0)
		equal(t, "Shutdown", err, nil)
		for _, e := range entryPoints {
			equal(t, e.name, e.run(bg, 1, nothing, p), stint.ErrClosed)
		}
		p.SetLimit(2) // without effect
	})
}

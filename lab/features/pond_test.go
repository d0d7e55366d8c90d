package features

import (
	"context"
	"errors"
	"testing"

	"github.com/alitto/pond/v2"
)

// pondGroup returns a group of a pool.
func pondGroup(p pond.Pool, g pond.TaskGroup) *group {
	return &group{
		Go:     func(_ context.Context, f task) { g.SubmitErr(func() error { return f(g.Context()) }) },
		Wait:   g.Wait,
		Fork:   func(ctx context.Context) *group { return pondGroup(p, p.NewGroupContext(ctx)) },
		Try:    func(f task) bool { _, ok := p.TrySubmit(func() { _ = f(ever) }); return ok },
		Resize: p.Resize,
		Drop:   g.Stop,
		Stats:  func() (int, int) { return int(p.RunningWorkers()), int(p.WaitingTasks()) },
	}
}

var pondLibrary = library{
	open: func(ctx context.Context, limit int) *group {
		p := pond.NewPool(limit)
		return pondGroup(p, p.NewGroupContext(ctx))
	},
	queue: func(ctx context.Context, limit, room int) *group {
		p := pond.NewPool(limit, pond.WithQueueSize(room), pond.WithContext(ctx))
		return pondGroup(p, p.NewGroup())
	},
	two: func(small, large int) (*group, *group) {
		p := pond.NewPool(large)
		return pondGroup(p, p.NewSubpool(small).NewGroup()), pondGroup(p, p.NewGroup())
	},
	single: func(limit int) func(func() string) func() string {
		p := pond.NewResultPool[string](limit)
		return func(f func() string) func() string {
			result := p.Submit(f)
			return func() string { value, _ := result.Wait(); return value } // no error
		}
	},
	mapped: func(items []int, f func(int) string) []string {
		g := pond.NewResultPool[string](len(items)).NewGroup()
		for _, i := range items {
			g.Submit(func() string { return f(i) })
		}
		values, _ := g.Wait() // no error
		return values
	},
	outside: func(f func()) {
		p := pond.NewPool(2)
		_, _ = p.Go(f), p.Go(f) // nil
		p.StopAndWait()
	},
	zero:   func(f func()) { _ = pond.Submit(f).Wait() }, // nil
	hollow: func() { var p pond.Pool; _ = p.Go(func() {}) },
	shows: map[string]demonstration{
		"Context": partly(contexts),
		"All errors": func(t *testing.T, l *library) Answer {
			p, second := pond.NewPool(1), errors.New("second")
			a, b := p.SubmitErr(func() error { return errTask }), p.SubmitErr(func() error { return second })
			return grade(a.Wait() == errTask && b.Wait() == second, allErrors(t, l) == Yes)
		},
	},
}

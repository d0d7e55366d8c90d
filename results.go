package stint

import (
	"context"
	"slices"
	"sync"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/work"
)

// Results is a [Group] whose tasks return values. The rules of Group apply. A Results
// must be made by NewResults and waited for.
type Results[R any] struct {
	tasks results[R]
}

// NewResults returns a Results whose tasks get a context made from ctx, as [NewGroup] does.
// Options: Limiter, Pool, Queue, KeepGoing, LowPriority, Name.
func NewResults[R any](ctx context.Context, opts ...Option) *Results[R] {
	checkArgs("NewResults", ctx, false)
	o := collectIn(ctx, "NewResults", groupOptions, opts)
	r := new(Results[R])
	r.tasks.init(ctx, "Results.Wait", &o, &r.tasks, o.Room(o.Backlog()))
	return r
}

// Go starts f as [Group.Go] does.
func (r *Results[R]) Go(f func(context.Context) (R, error)) bool {
	r.tasks.check("Results.Go", f == nil)
	return r.tasks.start(f)
}

// GoContext starts f as [Group.GoContext] does.
func (r *Results[R]) GoContext(ctx context.Context, f func(context.Context) (R, error)) error {
	checkArgs("Results.GoContext", ctx, f == nil)
	r.tasks.check("Results.GoContext", false)
	if values := limit.Values(ctx, r.tasks.outcome.ctx, r.tasks.name); values != nil {
		plain := f
		f = func(ctx context.Context) (R, error) { return plain(limit.WithValues(ctx, values)) }
	}
	return r.tasks.submitContext(ctx, f)
}

// TryGo starts f as [Group.TryGo] does.
func (r *Results[R]) TryGo(f func(context.Context) (R, error)) bool {
	r.tasks.check("Results.TryGo", f == nil)
	return r.tasks.offer(f)
}

// Wait waits as [Group.Wait] does, and returns a value for each accepted task, in the order in
// which the tasks were accepted. The value is zero for a task that failed or did not run. The
// caller owns the slice. Later calls return the same slice.
func (r *Results[R]) Wait() ([]R, error) {
	t := &r.tasks
	t.check("Results.Wait", false)
	err := t.wait()
	n := t.executor.Source.Accepted()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.growLocked(n)
	return t.values, err
}

// results are the tasks of a Results.
type results[R any] struct {
	tasks

	mu     sync.Mutex
	values []R
}

// Run runs a task and keeps its value.
func (r *results[R]) Run(ctx context.Context, t work.Task) error {
	v, err := t.Payload.(func(context.Context) (R, error))(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.growLocked(t.Index + 1)
	r.values[t.Index] = v
	return nil
}

// growLocked extends values to n.
func (r *results[R]) growLocked(n int) {
	if n > len(r.values) {
		r.values = slices.Grow(r.values, n-len(r.values))[:n]
	}
}

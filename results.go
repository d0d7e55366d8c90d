package stint

import (
	"context"
	"slices"
	"sync"

	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// Results is a Group whose tasks return values. Its rules are those of Group.
//
// A Results must be made by NewResults and waited for.
type Results[R any] struct {
	tasks tasks

	mu     sync.Mutex
	values []R
}

// NewResults returns a Results whose tasks are given a context made from ctx. It
// starts no goroutine.
//
// Options: a Limiter or a Pool, Burst, Overload, Queue, KeepGoing, Name. NewResults
// panics if ctx is nil.
func NewResults[R any](ctx context.Context, opts ...Option) *Results[R] {
	check("NewResults", ctx, false)
	o := collect("NewResults", groupOptions, opts)
	r := new(Results[R])
	r.tasks.init(ctx, &o, (*resultsJob[R])(r), o.Room(o.Backlog()))
	return r
}

// Go starts f as a task, as Group.Go does. It panics if f is nil.
func (r *Results[R]) Go(f func(context.Context) (R, error)) bool {
	r.tasks.check("Results.Go", f == nil)
	return r.tasks.submit(nil, f, r.tasks.place.Home) == work.Accepted
}

// GoContext starts f as a task, as Group.GoContext does: from a task of the same
// Results, or to give up waiting when ctx ends. It panics if ctx or f is nil.
func (r *Results[R]) GoContext(ctx context.Context, f func(context.Context) (R, error)) error {
	check("Results.GoContext", ctx, f == nil)
	r.tasks.check("Results.GoContext", false)
	return r.tasks.submitContext(ctx, f)
}

// TryGo starts f if that takes no waiting, as Group.TryGo does. It panics if f is
// nil.
func (r *Results[R]) TryGo(f func(context.Context) (R, error)) bool {
	r.tasks.check("Results.TryGo", f == nil)
	return r.tasks.offer(f) == work.Accepted
}

// Wait waits as Group.Wait does, and returns the values in the order in which the
// tasks were started: of several goroutines that start tasks, the order in which
// the calls were accepted. The slice has a place for each accepted task; that of
// a task that failed or did not run holds the zero value. The caller owns it;
// calling Wait again returns the same one.
func (r *Results[R]) Wait() ([]R, error) {
	r.tasks.check("Results.Wait", false)
	err := r.tasks.wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grow(r.tasks.place.Source.Accepted())
	return r.values, err
}

// grow makes room for n values. It is called with mu held.
func (r *Results[R]) grow(n int) {
	if n > len(r.values) {
		r.values = slices.Grow(r.values, n-len(r.values))[:n]
	}
}

// resultsJob is a Results as the job of its source.
type resultsJob[R any] Results[R]

func (j *resultsJob[R]) Run(ctx context.Context, t work.Task) error {
	v, err := t.Func.(func(context.Context) (R, error))(ctx)
	if err != nil {
		return err
	}
	r := (*Results[R])(j)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grow(t.Index + 1)
	r.values[t.Index] = v
	return nil
}

func (j *resultsJob[R]) Failed(t work.Task, o task.Outcome) { j.tasks.failed(t, o) }

func (j *resultsJob[R]) Abandoned() { j.tasks.verdict.fail(ErrClosed) }

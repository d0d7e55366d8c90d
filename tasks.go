package stint

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// tasks are what the tasks of a Group, a Results and the sequence functions have in common.
type tasks struct {
	name     string
	outcome  callOutcome
	executor work.Executor
	closing  sync.Once
}

// init makes t ready. runner runs the tasks; room is the length of the queue.
func (t *tasks) init(ctx context.Context, o *option.Options, runner work.Runner, room int) {
	t.name = o.Name
	t.outcome.init(ctx, o)
	t.executor.Open(ctx, o.Engine, o.Config(), o.Source(ctx, t.outcome.ctx, runner, room))
	t.outcome.source = t.executor.Source
}

// check panics if t was not made by its constructor, or if the function is nil. caller
// is the method with its type.
func (t *tasks) check(caller string, nilFunc bool) {
	if t.executor.Source == nil {
		name, _, _ := strings.Cut(caller, ".")
		panic("stint: " + caller + ": " + name + " was not made by New" + name)
	}
	if nilFunc {
		panic("stint: " + caller + ": nil function")
	}
}

func (t *tasks) submit(done <-chan struct{}, f any, from *limit.Scope) work.Answer {
	a := t.executor.Source.Submit(done, f, from)
	t.answered(a)
	return a
}

func (t *tasks) offer(f any) work.Answer {
	a := t.executor.Source.Offer(f, t.executor.Parent)
	t.answered(a)
	return a
}

// answered records that a closed pool did not take a task: the work is not complete.
func (t *tasks) answered(a work.Answer) {
	if a == work.Over && t.executor.Closed() {
		t.outcome.refuse()
	}
}

// valuesOf returns what WithValues adds to the context of a task that GoContext starts, or nil.
func (t *tasks) valuesOf(ctx context.Context) context.Context {
	return limit.Values(ctx, t.outcome.ctx, t.name)
}

func (t *tasks) submitContext(ctx context.Context, f any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	from := limit.ScopeOf(ctx)
	if from == nil {
		from = t.executor.Parent
	}
	switch t.submit(ctx.Done(), f, from) {
	case work.Accepted:
		return nil
	case work.GaveUp:
		return context.Cause(ctx)
	}
	if cause := context.Cause(t.outcome.ctx); cause != nil && cause != context.Canceled && cause != ErrClosed {
		return fmt.Errorf("%w: %w", ErrClosed, cause)
	}
	return ErrClosed
}

// Failed records how a task failed. If the rest is cancelled, it drops the queued
// tasks at once, so that no worker has to.
func (t *tasks) Failed(w work.Task, o task.Outcome) {
	if t.outcome.failed(w.Index, o) {
		t.executor.Source.Stop()
	}
}

// Abandoned records that the pool was shut down.
func (t *tasks) Abandoned() { t.outcome.fail(ErrClosed) }

// stop cancels the tasks and drops the queued ones.
func (t *tasks) stop(cause error) {
	t.outcome.cancelCause(cause)
	t.executor.Source.Stop()
}

func (t *tasks) wait() error {
	t.executor.Wait()
	t.close()
	return t.outcome.result()
}

// close releases the workers of the group. It is called when no task is left.
func (t *tasks) close() {
	t.closing.Do(func() {
		t.executor.Close()
		t.outcome.close(false)
	})
}

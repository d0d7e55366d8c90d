package stint

import (
	"context"
	"fmt"
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

// init makes t ready. by raises panics, runner runs the tasks, room is the length of the queue.
func (t *tasks) init(ctx context.Context, by string, o *option.Options, runner work.Runner, room int) {
	t.name = o.Name
	t.outcome.init(ctx, by, o)
	t.executor.Open(ctx, o.Engine, o.Config(), o.Source(ctx, t.outcome.ctx, runner, room))
	t.outcome.source = t.executor.Source
}

// check panics if t was not made by its constructor, or if the function is nil.
func (t *tasks) check(caller string, nilFunc bool) {
	checkMethod(caller, t.executor.Source != nil, nilFunc)
}

// start submits a task with the scope of the call, and reports whether it was accepted.
func (t *tasks) start(f any) bool { return t.submit(nil, f, t.executor.Parent) == work.Accepted }

func (t *tasks) submit(done <-chan struct{}, f any, from *limit.Scope) work.Answer {
	a := t.executor.Source.Submit(done, f, from)
	t.answered(a)
	return a
}

// offer is start if that needs no waiting.
func (t *tasks) offer(f any) bool {
	a := t.executor.Source.Offer(f, t.executor.Parent)
	t.answered(a)
	return a == work.Accepted
}

// answered records that a closed pool did not take a task. The work is not complete then, but
// nothing is cancelled: the pool runs the tasks that it has accepted.
func (t *tasks) answered(a work.Answer) {
	if a == work.Over && t.executor.Closed() {
		t.outcome.refused.Store(true)
	}
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

// Failed records how a task failed.
func (t *tasks) Failed(w work.Task, o task.Outcome) { t.outcome.failed(w.Index, o) }

// Abandoned records that the pool was shut down.
func (t *tasks) Abandoned() { t.outcome.fail(ErrClosed) }

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

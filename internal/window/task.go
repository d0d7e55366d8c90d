package window

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/work"
)

// A Task is one item, and then its result.
type Task[T, R any] struct {
	index  int64
	item   T
	result R
	done   bool // the call has returned a result
	err    error
	from   *limit.Scope // in which it is submitted, and then runs

	key any

	// guarded by Window.mu
	finished bool
	next     *Task[T, R] // in the list
	behind   *Task[T, R] // the next of its key
}

// Err returns the error of t, or nil.
func (t *Task[T, R]) Err() error { return t.err }

// Result returns the result or the error of t, and reports whether it has either.
func (t *Task[T, R]) Result() (result R, ok bool, err error) {
	return t.result, t.done || t.err != nil, t.err
}

// taskOf returns the task that runs as wt.
func (w *Window[T, R]) taskOf(wt work.Task) *Task[T, R] {
	if w.Key == nil {
		return wt.Payload.(*Task[T, R])
	}
	return wt.Payload.(*turn[T, R]).task
}

// Index returns the index of the item of the task that runs as wt.
func (w *Window[T, R]) Index(wt work.Task) int { return int(w.taskOf(wt).index) }

// Run runs a task: it calls the function for its item, also if the context has ended, since the
// task counts as completed; and finishes it. After an error, which it returns, the runner calls
// Finish, or the window is over.
func (w *Window[T, R]) Run(ctx context.Context, wt work.Task) error {
	if w.Key != nil {
		w.begin(wt.Payload.(*turn[T, R]), limit.ScopeOf(ctx))
	}
	t := w.taskOf(wt)
	if t.index <= w.last.Load() {
		r, err := w.Call(ctx, t.item)
		if err != nil {
			return err
		}
		t.result, t.done = r, true
	}
	w.finish(t) // from now on it belongs to the consumer
	return nil
}

// Finish finishes the task that has failed as wt, with err, or nil to forget it.
func (w *Window[T, R]) Finish(wt work.Task, err error) {
	t := w.taskOf(wt)
	t.err = err
	w.finish(t)
}

// StopBehind makes no more items wanted behind the task that has failed as wt: their tasks
// finish without a call. Under Unordered no item is wanted any more.
func (w *Window[T, R]) StopBehind(wt work.Task) {
	last := int64(-1)
	if !w.Unordered {
		last = w.taskOf(wt).index
	}
	for old := w.last.Load(); old > last && !w.last.CompareAndSwap(old, last); {
		old = w.last.Load()
	}
}

// finish lets the consumer take t, and the next task of its key run.
func (w *Window[T, R]) finish(t *Task[T, R]) {
	var zero T
	t.item = zero
	if w.Key == nil || !race.Sharp {
		w.pass(t)
		return
	}
	w.ends.Release(t.key)
	race.Aside(func() bool { // or the lock would order the tasks
		w.made.Acquire()
		w.pass(t)
		return true
	})
}

// pass is finish, once t has ended. The next task of the key is offered in the scope of t, since
// a closed pool takes what its tasks start.
func (w *Window[T, R]) pass(t *Task[T, R]) {
	w.mu.Lock()
	t.finished = true
	from := t.from
	w.room.demand.Finish(w.Executor.Limiter().Controller(), w.limit())
	if w.Unordered {
		w.appendLocked(t)
	}
	isNext := t == w.head
	again := w.Key != nil && w.keys.leave(t)
	w.mu.Unlock()
	if isNext {
		w.Executor.Source.NotifyAtEnd()
	}
	if again {
		w.Executor.Source.Offer(new(turn[T, R]), from) // refused only if the window is over
	}
}

package window

import (
	"context"
	"runtime"
	"time"

	"github.com/stint-go/stint/internal/lane"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/work"
)

// A Task is items for which one worker calls the function, and their results.
type Task[T, R any] struct {
	index   int64 // of its first item
	items   []T
	results []R
	done    int                     // results
	first   int                     // of them, that Tick has not made those of another task
	err     error                   // of the item behind the results
	from    *limit.Scope            // in which it is submitted
	turn    *lane.Turn[*Task[T, R]] // in which it runs, if there are Rows
	claims  *claims                 // nil: it has one item
	item    [1]T                    // memory of items, if they are one
	result  [1]R                    // memory of results, if they are one

	// guarded by Window.mu
	finished bool
	next     *Task[T, R]
}

// Item returns the first item of t, which has not finished.
func (t *Task[T, R]) Item() T { return t.items[0] }

// Results returns the results of t.
func (t *Task[T, R]) Results() []R { return t.results[t.first:t.done] }

// Err returns the error of the item behind the results, or nil.
func (t *Task[T, R]) Err() error { return t.err }

// One returns the result or the error of t, which has one item, and reports whether it has
// either.
func (t *Task[T, R]) One() (result R, ok bool, err error) {
	if t.done > 0 {
		return t.results[0], true, nil
	}
	return result, t.err != nil, t.err
}

// taskOf returns the task that runs as wt.
func (w *Window[T, R]) taskOf(wt work.Task) *Task[T, R] {
	if w.Rows == nil {
		return wt.Payload.(*Task[T, R])
	}
	return wt.Payload.(*lane.Turn[*Task[T, R]]).Task
}

// Index returns the index of the first item of the task that runs as wt.
func (w *Window[T, R]) Index(wt work.Task) int { return int(w.taskOf(wt).index) }

// begin returns the task that runs as wt from now on.
func (w *Window[T, R]) begin(ctx context.Context, wt work.Task) *Task[T, R] {
	if w.Rows != nil {
		turn := wt.Payload.(*lane.Turn[*Task[T, R]])
		w.Rows.Begin(turn, limit.ScopeOf(ctx))
		turn.Task.turn = turn
	}
	return w.taskOf(wt)
}

// Run runs a task: it calls the function for its items, and finishes it. It returns the first
// error; then the runner calls Finish, or the window is over.
func (w *Window[T, R]) Run(ctx context.Context, wt work.Task) error {
	t := w.begin(ctx, wt)
	items := t.items
	results := t.result[:]
	if len(items) > 1 {
		results = make([]R, len(items))
	}
	t.results = results
	var start time.Time
	if w.MaxSize > 1 {
		start = time.Now()
	}
	if len(items) > 1 {
		w.watch(t, limit.ScopeOf(ctx), start)
	}
	for i := range items {
		if t.index > w.last.Load() || !t.claims.claim(i) {
			break
		}
		if ctx.Err() != nil {
			return nil // no more items are wanted
		}
		r, err := w.Call(ctx, items[i])
		if err != nil {
			return err
		}
		results[i] = r
		t.done = i + 1
	}
	if w.MaxSize > 1 && t.done > 0 && (!race.Sharp || t.index >= maxApart) {
		w.cost.learn(time.Since(start), t.done)
	}
	w.finish(t) // from now on it belongs to the consumer
	if len(items) > 1 && w.asleep.Load() {
		runtime.Gosched() // the consumer has been woken, and short calls may keep all CPUs busy
	}
	return nil
}

// Finish finishes the task that has failed as wt: its results end with err, unless that is
// nil.
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

// finish lets the consumer take t. If another task of its key may run now, finish submits the
// turn of t again: in the scope of the task, since a closed pool takes what its tasks start.
// That comes last, so that results under Unordered are in order within a key.
func (w *Window[T, R]) finish(t *Task[T, R]) {
	turn := t.turn
	w.mu.Lock()
	w.unwatchLocked(t)
	clear(t.items)
	t.finished = true
	w.room.demand.Finish(w.Executor.Engine.Limiter().Controller(), w.limit())
	if w.Unordered {
		w.list.insert(w.list.tail, t)
	}
	isNext := t == w.list.head
	w.mu.Unlock()
	if isNext {
		w.Executor.Source.NotifyAtEnd()
	}
	if turn == nil {
		return
	}
	if from := turn.From; w.Rows.Leave(turn) {
		w.Executor.Source.Offer(turn, from) // refused only if the window is over
	}
}

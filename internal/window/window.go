// Package window calls a function for the items of a sequence, concurrently, and keeps the
// results in order. MapSeq and MapKey of package stint, and ParMap and ParMapKey of package
// stream, are a window each.
//
// A feeder asks for room by Admit and submits items. Submit cuts them into tasks: of one item
// each, or of several if MaxSize allows that and calls are short. Workers run the tasks. The
// consumer takes finished tasks by Next, and frees their room by Release. README.md has the
// states and races.
package window

import (
	"context"
	"iter"
	"math"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/lane"
	"github.com/stint-go/stint/internal/work"
)

// A Config configures a Window.
type Config[T, R any] struct {
	Call      func(context.Context, T) (R, error)
	Executor  *work.Executor         // runs the tasks; its runner calls Run, and its queue has no bound
	Context   context.Context        // of the tasks; the window is over when it ends
	Rows      lane.Rows[*Task[T, R]] // of keys, or nil
	Unordered bool                   // tasks are taken in the order in which they finish
	Queue     int                    // items in progress beyond the limit; -1: the default
	MaxSize   int                    // of a task, in items; 1 if there are Rows
	Bytes     int                    // of an item and its result
	Closed    error                  // of a task that a closed pool refuses
	NeedTick  func()                 // called when NeedsTick becomes true; not called if MaxSize is 1
}

// A Window has the tasks of one run.
type Window[T, R any] struct {
	Config[T, R]
	cost    cost
	last    atomic.Int64 // index behind which no item is wanted
	asleep  atomic.Bool  // the consumer
	dropped atomic.Bool  // the queued tasks: see Drop
	isReady func() bool  // ready, one allocation a run
	index   int64        // of the next item; owned by the feeder
	taken   *Task[T, R]  // finished tasks, owned by the consumer

	mu      sync.Mutex
	room    room
	list    list[T, R]
	watched []*Task[T, R] // that Tick may split
}

// Open makes w ready. Close must follow.
func (w *Window[T, R]) Open(c Config[T, R]) {
	w.Config = c
	w.isReady = w.ready
	w.last.Store(math.MaxInt64)
	w.room.reserve = reserveBytes / int64(max(1, c.Bytes))
	w.room.vacant = make(chan struct{}, 1)
	w.room.watcher.Wake = w.room.vacant
	c.Executor.Engine.Limiter().Watch(&w.room.watcher)
}

// Close makes the limiter forget w, which wakes no feeder any more.
func (w *Window[T, R]) Close() { w.Executor.Engine.Limiter().Unwatch(&w.room.watcher) }

// Submit makes tasks of admitted items, which belong to w from now on, and gives back the room
// of unused ones. The answer is Accepted, or Over if some tasks do not run: a closed pool has
// refused them, or the window is over. Calls of Submit and SubmitOne must not overlap.
func (w *Window[T, R]) Submit(items []T, unused int) work.Answer {
	if unused > 0 {
		w.vacate(unused)
	}
	answer := work.Accepted
	for len(items) > 0 {
		n := min(w.taskSize(), len(items))
		if a := w.submit(&Task[T, R]{items: items[:n]}); a != work.Accepted {
			answer = a
		}
		items = items[n:]
	}
	return answer
}

// SubmitOne is Submit for one item.
func (w *Window[T, R]) SubmitOne(item T) work.Answer {
	t := &Task[T, R]{item: [1]T{item}}
	t.items = t.item[:]
	return w.submit(t)
}

// submit submits t, the next in order.
func (w *Window[T, R]) submit(t *Task[T, R]) work.Answer {
	t.index, t.from = w.index, w.Executor.Parent
	w.index += int64(len(t.items))
	w.mu.Lock()
	w.insertLocked(w.list.tail, t)
	w.mu.Unlock()
	return w.offer(t)
}

// insertLocked counts a new task, and inserts it into the list after another. Under Unordered
// it joins the list when it finishes.
func (w *Window[T, R]) insertLocked(after, t *Task[T, R]) {
	w.list.pending++
	w.room.demand.Submit(1)
	if !w.Unordered {
		w.list.insert(after, t)
	}
}

// offer submits t, or leaves it behind the others of its key.
func (w *Window[T, R]) offer(t *Task[T, R]) work.Answer {
	var payload any = t
	if w.Rows != nil {
		if w.Executor.Refuses() { // or a key without end would hold up the end of the pool
			w.refuse(t)
			return work.Over
		}
		turn := w.Rows.Enter(t)
		if turn == nil {
			return work.Accepted
		}
		payload = turn
	}
	a := w.Executor.Source.Offer(payload, t.from)
	if a == work.Over && w.Executor.Closed() {
		w.refuse(t)
	}
	return a
}

// refuse finishes t, which a closed pool has refused.
func (w *Window[T, R]) refuse(t *Task[T, R]) {
	t.err = w.Closed
	w.finish(t)
	w.Executor.Source.Notify() // t is no task that ends
}

// End says that the feeder submits no more.
func (w *Window[T, R]) End() {
	w.mu.Lock()
	w.list.ended = true
	w.mu.Unlock()
	w.Executor.Source.Notify()
}

// Drop says that the queued tasks do not run. The window is over then; its context has not
// ended, so that the tasks that run do not fail before the consumer knows.
func (w *Window[T, R]) Drop() { w.dropped.Store(true) }

// Dropped reports whether Drop has been called.
func (w *Window[T, R]) Dropped() bool { return w.dropped.Load() }

// Next returns the next task, or nil if it has not finished, or there is none.
func (w *Window[T, R]) Next() *Task[T, R] {
	if w.taken == nil {
		w.mu.Lock()
		w.taken = w.list.take()
		w.mu.Unlock()
	}
	t := w.taken
	if t != nil {
		w.taken = t.next
	}
	return t
}

// Await waits until Next returns a task, or there will be none: then all are taken, or the
// window is over. The permit of the task that has made the call is lent meanwhile.
func (w *Window[T, R]) Await() {
	w.asleep.Store(true)
	w.Executor.Source.AwaitLending(w.isReady)
	w.asleep.Store(false)
}

// ready reports whether the consumer need not wait.
func (w *Window[T, R]) ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list.head != nil && w.list.head.finished || w.list.complete() || w.Context.Err() != nil || w.dropped.Load()
}

// Complete reports whether the feeder has ended and all tasks are taken.
func (w *Window[T, R]) Complete() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list.complete()
}

// Release frees the room of t, which Next has returned.
func (w *Window[T, R]) Release(t *Task[T, R]) { w.vacate(len(t.items) - t.first) }

// Untaken returns the tasks that Next has not returned. It is called when no task runs.
func (w *Window[T, R]) Untaken() iter.Seq[*Task[T, R]] {
	return func(yield func(*Task[T, R]) bool) {
		for _, t := range []*Task[T, R]{w.taken, w.list.head} {
			for ; t != nil; t = t.next {
				if !yield(t) {
					return
				}
			}
		}
	}
}

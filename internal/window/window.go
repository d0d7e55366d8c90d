// Package window calls a function for the items of a sequence, concurrently, and keeps the
// results in order. MapSeq and MapKey of package stint, and ParMap and ParMapKey of package
// stream, are a window each.
//
// A feeder asks for room by Admit and submits an item, which is a task. Workers run the tasks.
// The consumer takes finished tasks by Next, and frees their room by Release. README.md has the
// states and races.
package window

import (
	"context"
	"iter"
	"math"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/work"
)

// A Config configures a Window.
type Config[T, R any] struct {
	Call      func(context.Context, T) (R, error)
	Key       func(T) any     // nil, or of an item: those of equal keys run one after the other
	Executor  *work.Executor  // runs the tasks; its runner calls Run, and its queue has no bound
	Context   context.Context // of the tasks; the window is over when it ends
	Unordered bool            // tasks are taken in the order in which they finish
	Queue     int             // items in progress beyond the limit; -1: as many as the limit
	Closed    error           // of a task that a closed pool refuses
}

// A Window has the tasks of one run.
type Window[T, R any] struct {
	Config[T, R]
	last    atomic.Int64 // index behind which no item is wanted
	dropped atomic.Bool  // the queued tasks: see Drop
	isReady func() bool  // ready, one allocation a run
	index   int64        // of the next item; owned by the feeder
	made    race.Ends    // Open
	ends    race.Keys    // of the tasks of each key

	mu   sync.Mutex
	room room
	keys keys[T, R]

	list[T, R]
}

// list has the tasks that are not taken: in the order of their items, or under Unordered in
// that in which they finish. It is guarded by Window.mu.
type list[T, R any] struct {
	head, tail *Task[T, R]
	pending    int  // tasks that are not taken, also those that have not joined the list
	ended      bool // the feeder: there will be no more
}

// Open makes w ready. Close must follow.
func (w *Window[T, R]) Open(c Config[T, R]) {
	w.Config = c
	w.isReady = w.ready
	w.last.Store(math.MaxInt64)
	w.room.vacant = make(chan struct{}, 1)
	w.room.watcher.Wake = w.room.vacant
	c.Executor.Limiter().Watch(&w.room.watcher)
	w.ends.Open()
	w.made.Release()
}

// Close makes the limiter forget w, which wakes no feeder any more.
func (w *Window[T, R]) Close() { w.Executor.Limiter().Unwatch(&w.room.watcher) }

// Submit submits the task of an item that Admit has admitted. The answer is Accepted, or Over
// if the task does not run: a closed pool has refused it, or the window is over. Submit calls
// Key. Calls must not overlap.
func (w *Window[T, R]) Submit(item T) work.Answer {
	t := &Task[T, R]{index: w.index, item: item, from: w.Executor.Parent}
	if w.Key != nil {
		t.key = w.Key(item)
		if t.key != t.key { // panics if the key cannot be compared
			t.key = t // equals no other either, and itself
		}
	}
	w.index++
	w.mu.Lock()
	w.pending++
	w.room.demand.Submit(1)
	if !w.Unordered {
		w.appendLocked(t)
	}
	w.mu.Unlock()
	if w.Key == nil {
		return w.answer(t, w.Executor.Source.Offer(t, t.from))
	}
	if w.Executor.Refuses() { // or a key without end would hold up the end of the pool
		w.refuse(t)
		return work.Over
	}
	if !w.enter(t) {
		return work.Accepted // behind others of its key
	}
	return w.answer(t, w.Executor.Source.Offer(new(turn[T, R]), t.from))
}

// answer is called with the answer to the offer of t.
func (w *Window[T, R]) answer(t *Task[T, R], a work.Answer) work.Answer {
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

// appendLocked adds t to the list.
func (w *Window[T, R]) appendLocked(t *Task[T, R]) {
	if w.tail == nil {
		w.head = t
	} else {
		w.tail.next = t
	}
	w.tail = t
}

// End says that the feeder submits no more.
func (w *Window[T, R]) End() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.Executor.Source.Notify()
}

// Drop says that the queued tasks do not run. The window is over then; its context has not
// ended, so that the tasks that run do not fail before the consumer knows.
func (w *Window[T, R]) Drop() { w.dropped.Store(true) }

// Dropped reports whether Drop has been called.
func (w *Window[T, R]) Dropped() bool { return w.dropped.Load() }

// Next takes the next task. It returns nil if that has not finished, or there is none.
func (w *Window[T, R]) Next() *Task[T, R] {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.head
	if t == nil || !t.finished {
		return nil
	}
	w.pending--
	if w.head = t.next; w.head == nil {
		w.tail = nil
	}
	t.next = nil
	if w.Key != nil {
		w.ends.Acquire(t.key)
	}
	return t
}

// Await waits until Next returns a task, or there will be none: then all are taken, or the
// window is over. The permit of the task that has made the call is lent meanwhile.
func (w *Window[T, R]) Await() { w.Executor.Source.AwaitLending(w.isReady) }

// ready reports whether the consumer need not wait.
func (w *Window[T, R]) ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.head != nil && w.head.finished || w.allTakenLocked() || w.Context.Err() != nil || w.dropped.Load()
}

// AllTaken reports whether the feeder has ended and all tasks are taken.
func (w *Window[T, R]) AllTaken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.allTakenLocked()
}

func (w *Window[T, R]) allTakenLocked() bool { return w.ended && w.pending == 0 }

// Untaken returns the tasks that Next has not returned. It is called when no task runs.
func (w *Window[T, R]) Untaken() iter.Seq[*Task[T, R]] {
	return func(yield func(*Task[T, R]) bool) {
		for t := w.head; t != nil && yield(t); t = t.next {
		}
	}
}

package window

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/limit"
)

// claims say which items of a task of several have begun. A worker claims each before it calls
// the function for it, since Tick may split off the others.
type claims struct {
	scope   *limit.Scope // of the task
	start   time.Time
	claimed atomic.Uint32 // items whose calls have started or will; sealed: no more will

	// guarded by Window.mu
	watched bool
	at      int  // in Window.watched
	ticked  bool // a tick has passed since the start
}

// sealed is the value of claims.claimed from which no item is claimed.
const sealed = math.MaxUint32

// claim claims item i, and reports false if it was split off.
func (c *claims) claim(i int) bool {
	return c == nil || c.claimed.CompareAndSwap(uint32(i), uint32(i+1))
}

// watch lets Tick split t, which starts now.
func (w *Window[T, R]) watch(t *Task[T, R], scope *limit.Scope, start time.Time) {
	w.mu.Lock()
	t.claims = &claims{scope: scope, start: start, watched: true, at: len(w.watched)}
	w.watched = append(w.watched, t)
	w.mu.Unlock()
	w.NeedTick()
}

// unwatchLocked ends watch, if it has not ended.
func (w *Window[T, R]) unwatchLocked(t *Task[T, R]) {
	c := t.claims
	if c == nil || !c.watched {
		return
	}
	last := len(w.watched) - 1
	moved := w.watched[last]
	w.watched[c.at], moved.claims.at = moved, c.at
	w.watched[last] = nil
	w.watched, c.watched = w.watched[:last], false
}

// NeedsTick reports whether a task of several items runs that Tick may split.
func (w *Window[T, R]) NeedsTick() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.watched) > 0
}

// Tick splits the tasks that were running at the tick before: they take much longer than
// expected. It reports what NeedsTick would.
func (w *Window[T, R]) Tick() bool {
	var rest []*Task[T, R]
	w.mu.Lock()
	n := len(w.watched)
	for i := n - 1; i >= 0; i-- { // backwards, since the last replaces one that is removed
		if t := w.watched[i]; t.claims.ticked {
			rest = append(rest, w.splitLocked(t)...)
		} else {
			t.claims.ticked = true
		}
	}
	w.mu.Unlock()
	if n == 0 {
		return false
	}
	w.Executor.Source.Notify() // the head may be a task that was split off
	for _, t := range rest {
		w.offer(t)
	}
	return w.NeedsTick()
}

// splitLocked makes a finished task of the results of t, before it in the list, and returns
// tasks of the items that are not claimed, behind it.
func (w *Window[T, R]) splitLocked(t *Task[T, R]) (rest []*Task[T, R]) {
	w.unwatchLocked(t)
	claimed := t.claims.claimed.Load()
	if w.limit() > 1 { // else no other worker could run them, and the order would change
		claimed = t.claims.claimed.Swap(sealed)
		rest = w.splitRestLocked(t, int(claimed))
	}
	if n := int(claimed) - 1; n > 0 { // all but the last claimed are done
		r := &Task[T, R]{items: t.items[:n], results: t.results, done: n, finished: true}
		t.first = n
		w.list.pending++
		before := w.list.tail
		if !w.Unordered {
			before = w.list.before(t)
		}
		w.list.insert(before, r)
	}
	return rest
}

// splitRestLocked makes tasks of the items of t behind the first n. They are submitted by a
// running task: a closed pool accepts them.
func (w *Window[T, R]) splitRestLocked(t *Task[T, R], n int) (rest []*Task[T, R]) {
	items, index, after := t.items[n:], t.index+int64(n), t
	if len(items) == 0 {
		return nil
	}
	w.cost.learn(time.Since(t.claims.start), max(n, 1))
	if c := w.Executor.Engine.Limiter().NeedController(); c != nil && !w.Short() {
		c.NotifyWaiting() // nothing else may do so before a call has returned
	}
	for size := w.taskSize(); len(items) > 0; {
		r := &Task[T, R]{index: index, items: items[:min(size, len(items))], from: t.claims.scope}
		w.insertLocked(after, r)
		rest = append(rest, r)
		items, index, after = items[len(r.items):], index+int64(len(r.items)), r
	}
	t.items = t.items[:n]
	return rest
}

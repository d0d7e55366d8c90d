package window

import (
	"container/heap"

	"github.com/stint-go/stint/internal/limit"
)

// keys put the tasks of each key in a row: a task enters behind the others of its key, and the
// next one may run when it leaves. The tasks that may run wait in a heap. For each of them a
// turn is queued, which belongs to none: who begins a turn runs the first of all tasks that may
// run, in the order of the items. So of the keys that come often none is held up by the others.
type keys[T, R any] struct {
	last  map[any]*Task[T, R] // the last task of each key that has not left
	ready ready[T, R]         // tasks that may run and have not begun; as many as turns are queued
}

// A turn is a permission to run a task, once it has begun.
type turn[T, R any] struct{ task *Task[T, R] }

// enter reports whether t may run. Otherwise t waits for others of its key.
func (w *Window[T, R]) enter(t *Task[T, R]) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := &w.keys
	if k.last == nil {
		k.last = map[any]*Task[T, R]{}
	}
	before := k.last[t.key]
	k.last[t.key] = t
	if before != nil {
		before.behind = t
		return false
	}
	heap.Push(&k.ready, t)
	return true
}

// begin gives a turn its task, which runs in a scope.
func (w *Window[T, R]) begin(u *turn[T, R], from *limit.Scope) {
	w.mu.Lock()
	defer w.mu.Unlock()
	u.task = heap.Pop(&w.keys.ready).(*Task[T, R]) // not a refused one: that is the last, and has no turn
	u.task.from = from
	w.ends.Acquire(u.task.key)
}

// leave reports whether another task of the key of t may run now. It is called with the lock of
// the window.
func (k *keys[T, R]) leave(t *Task[T, R]) bool {
	next := t.behind
	if next == nil {
		if k.last[t.key] == t { // not if it has been refused
			delete(k.last, t.key)
		}
		return false
	}
	t.behind = nil
	heap.Push(&k.ready, next)
	return true
}

// ready is a heap of tasks by index.
type ready[T, R any] []*Task[T, R]

func (r ready[T, R]) Len() int           { return len(r) }
func (r ready[T, R]) Less(i, j int) bool { return r[i].index < r[j].index }
func (r ready[T, R]) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ready[T, R]) Push(t any)        { *r = append(*r, t.(*Task[T, R])) }

func (r *ready[T, R]) Pop() any {
	last := len(*r) - 1
	t := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	return t
}

// Package lane puts the tasks of each key in a row.
//
// A key has a lane from the time when a task enters it until all tasks of the key have
// left. The first task of a lane may run; when it has ended and leaves, the next one may. So
// tasks of a key run one after the other, in the order in which they entered, and there are
// never more lanes than tasks.
package lane

import "sync"

// Lanes are the lanes of tasks of type N. The zero value has none. Its methods may be called
// concurrently.
type Lanes[K comparable, N any] struct {
	mu    sync.Mutex
	lanes map[K]*lane[K, N]
	free  []*lane[K, N]
}

// A Ticket says where a task is, for Leave. The zero Ticket is for no lane.
type Ticket struct{ lane any }

// A lane has the tasks of a key behind the one that may run.
type lane[K comparable, N any] struct {
	key     K
	waiting []N
	first   int
}

// maxFree is how many empty lanes are kept for other keys.
const maxFree = 64

// Enter adds n to the lane of key, and reports whether it may run at once. It sets at to
// where n is before Leave can return n. A key that does not equal itself, such as a NaN, has
// no lane: all its tasks may run. Enter panics if key cannot be compared.
func (l *Lanes[K, N]) Enter(key K, n N, at *Ticket) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in := l.lanes[key]; in != nil {
		at.lane = in
		in.waiting = append(in.waiting, n)
		return false
	}
	if key != key {
		return true
	}
	if l.lanes == nil {
		l.lanes = map[K]*lane[K, N]{}
	}
	in := l.empty()
	in.key, at.lane = key, in
	l.lanes[key] = in
	return true
}

// empty returns an empty lane.
func (l *Lanes[K, N]) empty() *lane[K, N] {
	last := len(l.free) - 1
	if last < 0 {
		return new(lane[K, N])
	}
	in := l.free[last]
	l.free = l.free[:last]
	return in
}

// Leave takes the task that may run out of its lane, and returns the next one of the key,
// which may run now.
func (l *Lanes[K, N]) Leave(at Ticket) (next N, ok bool) {
	in, ok := at.lane.(*lane[K, N])
	if !ok {
		return next, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if in.first < len(in.waiting) {
		return in.pop(), true
	}
	delete(l.lanes, in.key)
	if len(l.free) < maxFree {
		*in = lane[K, N]{waiting: in.waiting[:0]}
		l.free = append(l.free, in)
	}
	return next, false
}

// pop takes the first of the waiting tasks. It closes the gap in front of the others once
// that is the larger part.
func (l *lane[K, N]) pop() N {
	var none N
	n := l.waiting[l.first]
	l.waiting[l.first] = none
	if l.first++; 2*l.first > len(l.waiting) {
		left := copy(l.waiting, l.waiting[l.first:])
		clear(l.waiting[left:])
		l.waiting, l.first = l.waiting[:left], 0
	}
	return n
}

// Len returns the number of lanes.
func (l *Lanes[K, N]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lanes)
}

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
	lanes map[K]*lane[N]
	free  []*lane[N]
}

// A lane has the tasks behind the one that may run.
type lane[N any] struct {
	waiting []N
	first   int
}

// maxFree is how many empty lanes are kept for other keys.
const maxFree = 64

// Enter adds n to the lane of key, and reports whether it may run at once. A key that does
// not equal itself, such as a NaN, has a lane for each task. Enter panics if key cannot be
// compared.
func (l *Lanes[K, N]) Enter(key K, n N) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.lanes[key]; at != nil {
		at.waiting = append(at.waiting, n)
		return false
	}
	if key != key {
		return true
	}
	if l.lanes == nil {
		l.lanes = map[K]*lane[N]{}
	}
	l.lanes[key] = l.empty()
	return true
}

// empty returns an empty lane.
func (l *Lanes[K, N]) empty() *lane[N] {
	last := len(l.free) - 1
	if last < 0 {
		return new(lane[N])
	}
	at := l.free[last]
	l.free = l.free[:last]
	return at
}

// Leave takes the task that may run out of the lane of key, and returns the next one, which
// may run now.
func (l *Lanes[K, N]) Leave(key K) (next N, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.lanes[key]
	if at == nil { // not equal to itself
		return next, false
	}
	if at.first < len(at.waiting) {
		next = at.waiting[at.first]
		clear(at.waiting[at.first : at.first+1])
		at.first++
		at.compact()
		return next, true
	}
	delete(l.lanes, key)
	if len(l.free) < maxFree {
		l.free = append(l.free, at)
	}
	return next, false
}

// compact makes room in front of the waiting tasks once it is the larger part.
func (l *lane[N]) compact() {
	if l.first < len(l.waiting)-l.first {
		return
	}
	n := copy(l.waiting, l.waiting[l.first:])
	clear(l.waiting[n:])
	l.waiting, l.first = l.waiting[:n], 0
}

// Len returns the number of lanes.
func (l *Lanes[K, N]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lanes)
}

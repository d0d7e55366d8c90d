package stream

import "sync/atomic"

// firstSlots is how many records a queue has room for before its sender is ahead by more.
const firstSlots = 256

// A queue has the records between one sender and its receiver, in a ring that grows up to a
// size. The sender alone writes to a slot that is free, and the receiver alone uses one that is
// taken:
//
//	free   the sender may put a record there
//	taken  from the increment of sent until release
type queue[T any] struct {
	from *chain // the sender
	to   *receiver[T]
	size int // slots at most

	// Owned by the sender.
	at   int // the next slot
	room int // slots that it knows to be free, at most half of all

	sent   uintptr       // records, modulo its size; atomic
	vacant chan struct{} // has a value for a sender that waited

	taken[T]
}

// taken are the slots of a queue, guarded by mu of the receiver. The sender alone replaces slots,
// and reads it unlocked.
type taken[T any] struct {
	slots    []T
	first    int     // the first taken slot
	released uintptr // records, modulo its size
	waiting  bool    // the sender
	ended    bool
	err      error // with which it ended
}

func newQueue[T any](from *chain, to *receiver[T], size int) *queue[T] {
	q := &queue[T]{from: from, to: to, size: size, vacant: make(chan struct{}, 1)}
	from.flush = q.flush
	return q
}

// one sends a record. It waits for room, and reports false if no more records are wanted.
func (q *queue[T]) one(v T) bool {
	if q.room == 0 && !q.makeRoom() {
		return false
	}
	q.slots[q.at] = v
	q.advance(1)
	return true
}

// many sends records, as one does.
func (q *queue[T]) many(vs []T) bool {
	for len(vs) > 0 {
		if q.room == 0 && !q.makeRoom() {
			return false
		}
		n := copy(q.slots[q.at:min(q.at+q.room, len(q.slots))], vs)
		q.advance(n)
		vs = vs[n:]
	}
	return true
}

// advance makes the next n slots taken. A record after a silence wakes the receiver.
func (q *queue[T]) advance(n int) {
	q.room -= n
	if q.at += n; q.at == len(q.slots) {
		q.at = 0
	}
	atomic.AddUintptr(&q.sent, uintptr(n))
	if atomic.LoadUint32(&q.from.active) == 0 {
		q.from.activate()
		q.flush()
	}
}

// makeRoom waits for room, and wakes the receiver for what has been sent. It reports false if
// no more records are wanted.
func (q *queue[T]) makeRoom() bool {
	for !q.findRoom() {
		select {
		case <-q.vacant:
		case <-q.from.ctx.Done():
			return false
		}
	}
	return true
}

// findRoom reports whether there is room. If not, the sender waits.
func (q *queue[T]) findRoom() bool {
	q.to.mu.Lock()
	defer q.to.mu.Unlock()
	unread := q.unreadLocked()
	free := len(q.slots) - unread
	if free == 0 {
		free = q.growLocked()
	}
	if free == 0 || unread >= half(min(q.size, maxBoundary)) {
		q.flushLocked()
	}
	q.waiting = free == 0
	q.room = min(free, half(len(q.slots)))
	return free > 0
}

func half(n int) int { return max(n/2, 1) }

// growLocked makes a ring that is full larger, unless it has its size, and returns by how much.
func (q *queue[T]) growLocked() (slots int) {
	old := q.slots
	if len(old) == q.size {
		return 0
	}
	q.slots = make([]T, min(max(2*len(old), firstSlots), q.size))
	n := copy(q.slots, old[q.at:])
	copy(q.slots[n:], old[:q.at])
	q.first, q.at = 0, len(old)
	return len(q.slots) - len(old)
}

// unreadLocked returns how many records are not released.
func (q *queue[T]) unreadLocked() int { return int(atomic.LoadUintptr(&q.sent) - q.released) }

// frontLocked returns the first of n records: a quarter of the ring, so that the sender can
// continue before all are released, or one turn of a Merge. They belong to the receiver.
func (q *queue[T]) frontLocked(n int, merged bool) []T {
	n = min(n, max(len(q.slots)/4, 1), len(q.slots)-q.first)
	if merged {
		n = min(n, mergeTurn)
	}
	return q.slots[q.first:][:n]
}

// release frees the first n slots. The sender is woken when half of all are free.
func (q *queue[T]) release(n int) {
	q.to.mu.Lock()
	defer q.to.mu.Unlock()
	clear(q.slots[q.first:][:n]) // that the ring has grown meanwhile does not matter
	q.first = (q.first + n) % len(q.slots)
	q.released += uintptr(n)
	if q.waiting && len(q.slots)-q.unreadLocked() >= half(len(q.slots)) {
		q.waiting = false
		select {
		case q.vacant <- struct{}{}:
		default: // a value is left from a wait that ended by itself
		}
	}
}

// flush wakes the receiver for what has been sent.
func (q *queue[T]) flush() {
	q.to.mu.Lock()
	defer q.to.mu.Unlock()
	q.flushLocked()
}

func (q *queue[T]) flushLocked() {
	if q.unreadLocked() > 0 {
		q.to.wakeLocked()
	}
}

// end says that no more records come, because of an error if that is not nil.
func (q *queue[T]) end(err error) {
	q.to.mu.Lock()
	defer q.to.mu.Unlock()
	q.ended, q.err = true, err
	q.to.wakeLocked()
}

package work

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/limit"
)

// A Task is what a Source queues: a function or a pointer, of a type that the source's
// Runner knows, and its number, which counts the accepted tasks of the source.
// Functions and pointers are one word, which an any holds without an allocation.
type Task struct {
	Payload any
	Index   int
}

const (
	minRing   = 4           // slots of a queue's first ring; the next ones are larger
	maxUnused = 1024        // slots that a queue keeps, however few tasks there are
	trimDelay = time.Second // for which a larger one is kept
)

// queue is a first-in first-out list in a ring, guarded by the engine's lock. Its first tasks
// may be open: then workers claim them without the lock.
type queue struct {
	ring       atomic.Pointer[ring] // nil: empty
	next       int                  // number of the next task that comes
	told       int                  // how many tasks are counted as given out or dropped
	smallSince time.Duration        // when the ring became too large for its tasks, by limit.Clock; 0: it is not
}

// A ring has the tasks of a queue. Task i is in slot i modulo the number of slots, which is a
// power of 2.
type ring struct {
	head  atomic.Uint64 // number of the first task << openBits | how many tasks are open
	base  int           // number of the first task that it has had
	slots []slot
}

const (
	openBits = 12
	openMask = 1<<openBits - 1
	oneTask  = 1 << openBits
)

// A slot has one task. Whoever has taken a task owns its slot until it increases laps. Only then
// is another task put there, so a worker may read its task late.
type slot struct {
	payload any
	laps    atomic.Int64 // how many tasks were read from it
}

// newRing returns a ring for the tasks from first on.
func newRing(first, slots int) *ring {
	r := &ring{base: first, slots: make([]slot, slots)}
	r.head.Store(uint64(first) << openBits)
	return r
}

func (r *ring) at(number int) *slot { return &r.slots[number&(len(r.slots)-1)] }

// isFree reports whether the slot of a task is free for it.
func (r *ring) isFree(number int) bool {
	return r.at(number).laps.Load() == int64(number-r.base)>>bits.TrailingZeros(uint(len(r.slots)))
}

// first returns the number of the first task.
func (r *ring) first() int { return int(r.head.Load() >> openBits) }

// claim takes the first task if it is open. It needs no lock.
func (r *ring) claim() (t Task, ok bool) {
	for {
		head := r.head.Load()
		if head&openMask == 0 {
			return t, false
		}
		if r.head.CompareAndSwap(head, head+oneTask-1) {
			return r.read(int(head >> openBits)), true
		}
	}
}

// read returns a task that the caller has taken, and frees its slot.
func (r *ring) read(number int) Task {
	s := r.at(number)
	t := Task{s.payload, number}
	s.payload = nil
	s.laps.Add(1)
	return t
}

// len returns how many tasks are not given out.
func (q *queue) len() int {
	if r := q.ring.Load(); r != nil {
		return q.next - r.first()
	}
	return 0
}

// taken returns how many tasks were given out since it was last called.
func (q *queue) taken() int {
	n := q.next - q.len() - q.told
	q.told += n
	return n
}

func (q *queue) push(payload any) {
	r := q.ring.Load()
	if r == nil || !r.isFree(q.next) { // full, or a worker has yet to read
		r = q.move(r)
	}
	r.at(q.next).payload = payload
	q.next++
}

// move moves the tasks to a new ring that has room for one more, except those that a worker has
// claimed.
func (q *queue) move(old *ring) *ring {
	q.shut()
	n, slots := q.len(), minRing
	for slots <= n {
		slots *= 4 // by 2, the rings that are left would be as large as the last
	}
	r := newRing(q.next-n, slots)
	for i := q.next - n; i < q.next; i++ {
		r.at(i).payload = old.at(i).payload
	}
	q.ring.Store(r)
	return r
}

// pop removes the first task. There must be one.
func (q *queue) pop() Task {
	r := q.ring.Load()
	if t, ok := r.claim(); ok {
		return t // not the last, which is not open
	}
	head := r.head.Add(oneTask) // nobody else changes it while no task is open
	return r.read(int(head>>openBits) - 1)
}

// trim frees the memory of a burst when few tasks have been queued or running for a while: bursts
// may follow each other.
func (q *queue) trim(running int) {
	r := q.ring.Load()
	if len(r.slots) <= maxUnused || q.len()+running >= len(r.slots)/16 {
		q.smallSince = 0
		return
	}
	switch now := limit.Clock(); {
	case q.smallSince == 0:
		q.smallSince = now
	case now-q.smallSince >= trimDelay:
		q.smallSince = 0
		q.move(r)
	}
}

// rest frees the memory of a burst when the source is idle.
func (q *queue) rest() {
	if r := q.ring.Load(); r != nil && len(r.slots) > maxUnused {
		q.ring.Store(nil)
	}
}

// open lets workers claim all tasks but the last.
func (q *queue) open() {
	if r := q.ring.Load(); q.len() > 1 && r.head.Load()&openMask == 0 {
		r.head.Add(uint64(min(q.len()-1, openMask)))
	}
}

// shut ends the claims.
func (q *queue) shut() {
	if r := q.ring.Load(); r != nil {
		r.head.And(^uint64(openMask))
	}
}

// clear empties the queue, which must be shut, and returns how many tasks it had.
func (q *queue) clear() int {
	n := q.len()
	q.told += n
	q.ring.Store(nil)
	return n
}

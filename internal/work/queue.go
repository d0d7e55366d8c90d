package work

import "sync/atomic"

// A Task is what a Source queues: a function or a pointer, of a type that the source's
// Runner knows, and its number, which counts the accepted tasks of the source.
// Functions and pointers are one word, which an any holds without an allocation.
type Task struct {
	Payload any
	Index   int
}

const (
	minSegment       = 4   // tasks in the first segment; each is twice as large as the one before,
	maxSegment       = 256 // up to this
	maxSpareSegments = 8
)

// queue is a first-in first-out list of segments, guarded by the engine's lock. Its
// first segment may be open: then workers claim tasks without the lock, and reconcile
// brings the counts up to date.
//
// Empty segments are reused, so a queue that fills and empties repeatedly allocates
// nothing. trim frees the memory of a burst.
type queue struct {
	head, tail *segment
	n          int // tasks that are not given out
	unclaimed  int // those of the open segment, when they were last counted
	open       bool
	spare      *segment
	spares     int
}

// A segment holds tasks with consecutive numbers. While it is shut, all but claimed is
// guarded by the engine's lock. While it is open, only claimed, read and the tasks
// that are claimed change.
type segment struct {
	// claimed is -n while the segment is open and n tasks before end are unclaimed. A
	// worker adds 1: a sum of 0 or less means that it has claimed a task, and a sum above 0
	// that the segment is shut or that all its tasks are claimed.
	claimed atomic.Int64
	read    atomic.Int64 // tasks that were claimed and read; a worker counts its first, and then its others together
	claims  int          // tasks that were claimed before it was shut
	tasks   []any
	base    int // the number of the first task
	first   int // task to pop
	end     int // of the tasks that may be claimed
	next    *segment
}

// claim takes the first task of an open segment without the lock, and reports whether it
// was the last. The segment is not reused before read counts the task; a claim that fails
// reads nothing.
func (s *segment) claim() (t Task, last, ok bool) {
	left := int(-s.claimed.Add(1)) // behind this task
	if left < 0 {
		return Task{}, false, false
	}
	i := s.end - 1 - left
	t = Task{s.tasks[i], s.base + i}
	s.tasks[i] = nil
	return t, left == 0, true
}

// push appends a task whose number is larger than the one before. A gap in the numbers,
// left by a task that was not queued, starts a new segment of at most maxSize tasks.
func (q *queue) push(payload any, number, maxSize int) {
	s := q.tail
	if s == nil || q.sealed(s) || len(s.tasks) > 0 && number != s.base+len(s.tasks) {
		s = q.grow(maxSize)
	}
	n := len(s.tasks)
	if n == 0 {
		s.base = number
	}
	s.tasks = s.tasks[:n+1]
	s.tasks[n] = payload
	q.n++
}

// sealed reports whether s takes no more tasks: it is full, or a worker may be reading
// it.
func (q *queue) sealed(s *segment) bool {
	return len(s.tasks) == cap(s.tasks) || s.claims > 0 || q.open && s == q.head
}

func (q *queue) grow(maxSize int) *segment {
	s := q.spare
	if s != nil {
		q.spare, s.next = s.next, nil
		q.spares--
	} else {
		size := minSegment
		if q.tail != nil {
			size = min(2*cap(q.tail.tasks), maxSize)
		}
		s = &segment{tasks: make([]any, 0, size)}
		s.claimed.Store(1)
	}
	if q.tail == nil {
		q.head = s
	} else {
		q.tail.next = s
	}
	q.tail = s
	return s
}

// pop removes the first task, if there is one.
func (q *queue) pop() (t Task, ok bool) {
	if q.open {
		if t, _, ok = q.head.claim(); ok {
			q.head.read.Add(1)
			q.reconcile()
			return t, true
		}
		q.shut()
	}
	if q.n == 0 {
		return Task{}, false
	}
	s := q.head
	t = Task{s.tasks[s.first], s.base + s.first}
	s.tasks[s.first] = nil
	s.first++
	q.n--
	if s.first == len(s.tasks) {
		q.drop()
	}
	return t, true
}

// reconcile counts the claims that were made since it was last called.
func (q *queue) reconcile() {
	if q.open {
		left := max(0, int(-q.head.claimed.Load()))
		q.n -= q.unclaimed - left
		q.unclaimed = left
	}
}

// openUpTo opens up to n tasks of the first segment and returns it, unless there are
// fewer than two, or a task is unread that was claimed when it was open before.
func (q *queue) openUpTo(n int) *segment {
	s := q.head
	if q.open || s == nil {
		return nil
	}
	n = min(n, len(s.tasks)-s.first)
	if n < 2 || !s.settled() {
		return nil
	}
	s.end = s.first + n
	q.open, q.unclaimed = true, n
	s.claimed.Store(int64(-n))
	return s
}

// shut ends the claims. The tasks that were not claimed are popped as before.
func (q *queue) shut() {
	if !q.open {
		return
	}
	s := q.head
	left := max(0, int(-s.claimed.Swap(1)))
	q.n -= q.unclaimed - left
	q.open, q.unclaimed = false, 0
	s.claims += s.end - left - s.first
	s.first = s.end - left
	if s.first == len(s.tasks) {
		q.drop()
	}
}

// drop removes the first segment, whose tasks are all given out. A segment with an
// unread task is left to the garbage collector.
func (q *queue) drop() {
	s := q.head
	reusable := s.settled()
	if s == q.tail && reusable {
		s.reset() // it stays, to be filled from its start
		return
	}
	q.head, s.next = s.next, nil // a worker may refer to s, which must not keep what follows
	if q.head == nil {
		q.tail = nil
	}
	if reusable && (q.spare == nil || cap(s.tasks) >= cap(q.spare.tasks)) {
		s.reset()
		q.keep(s)
	}
}

// keep stores an empty segment.
func (q *queue) keep(s *segment) {
	s.claimed.Store(1)
	s.next, q.spare = q.spare, s
	q.spares++
}

// trim frees spare segments beyond maxSpareSegments.
func (q *queue) trim() {
	for q.spares > maxSpareSegments {
		q.spare = q.spare.next
		q.spares--
	}
}

// settled reports whether every claimed task has been read.
func (s *segment) settled() bool { return int(s.read.Load()) == s.claims }

func (s *segment) reset() {
	s.tasks, s.first, s.next, s.claims = s.tasks[:0], 0, nil, 0
	s.read.Store(0)
}

// clear empties the queue, which must be shut, and returns how many tasks it had. It
// drops them even from a segment that a worker still refers to.
func (q *queue) clear() int {
	n := q.n
	for s := q.head; s != nil; {
		clear(s.tasks[s.first:]) // a worker may be reading those before
		s, s.next = s.next, nil
	}
	*q = queue{}
	return n
}

package work

import "sync/atomic"

// A Task is what a Source queues: a function or a pointer, of a type that the
// job's Run knows, and its number, which counts the source's accepted tasks.
// Functions and pointers are one word, which fits an any without an allocation.
type Task struct {
	Func  any
	Index int
}

const (
	firstSegment = 4   // tasks; each segment is twice the one before
	lastSegment  = 256 // up to this
	fewSegments  = 8   // are kept for the next burst
)

// queue is a first-in first-out list of segments, guarded by the engine's lock.
// The segment at its head may be open: then workers claim its tasks without the
// lock, and what is counted here is brought up to date by account.
//
// A segment is used again when it is empty: a queue that runs empty and full
// allocates nothing. Once nothing is left to do, trim lets the memory of a burst go.
type queue struct {
	head, tail *segment
	n          int // tasks that are not given out
	unclaimed  int // those of them in the open segment, when they were counted last
	open       bool
	spare      *segment
	spares     int
}

// A segment holds tasks that follow each other. While it is shut, all but claimed
// is guarded by the engine's lock. While it is open, nothing but claimed, read and
// the tasks that are claimed changes.
type segment struct {
	// claimed is -n while the segment is open and n of its tasks, those before end,
	// are not given out; who adds one to it and gets no more than 0 has one of them.
	// Above 0 there is none: the segment is shut, or all are given out.
	claimed atomic.Int64
	read    atomic.Int64 // tasks that were claimed and read: by each worker, when it reads the first and when it is done
	claims  int          // tasks that were claimed before it was shut
	tasks   []any
	base    int // the number of the first task
	first   int // task to pop
	end     int // of the tasks that may be claimed
	next    *segment
}

// claim gives out the first task of an open segment, and says whether it was the
// last. It needs no lock: after a claim that succeeds the segment is not used again
// before read has counted it, and one that fails looks at nothing else.
func (s *segment) claim() (t Task, last, ok bool) {
	left := int(-s.claimed.Add(1)) // behind this one
	if left < 0 {
		return Task{}, false, false
	}
	i := s.end - 1 - left
	t = Task{s.tasks[i], s.base + i}
	s.tasks[i] = nil
	return t, left == 0, true
}

// push appends a task whose number is larger than that of the one before. The tasks of a
// segment follow each other: where one was given out without being queued, the next
// begins another. most is the size of the largest segment.
func (q *queue) push(f any, number, most int) {
	s := q.tail
	if s == nil || q.sealed(s) || len(s.tasks) > 0 && number != s.base+len(s.tasks) {
		s = q.grow(most)
	}
	n := len(s.tasks)
	if n == 0 {
		s.base = number
	}
	s.tasks = s.tasks[:n+1]
	s.tasks[n] = f
	q.n++
}

// sealed reports whether s takes no more tasks: it is full, or somebody may be
// reading it.
func (q *queue) sealed(s *segment) bool {
	return len(s.tasks) == cap(s.tasks) || s.claims > 0 || q.open && s == q.head
}

func (q *queue) grow(most int) *segment {
	s := q.spare
	if s != nil {
		q.spare, s.next = s.next, nil
		q.spares--
	} else {
		size := firstSegment
		if q.tail != nil {
			size = min(2*cap(q.tail.tasks), most)
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

// pop takes the first task out, if there is one.
func (q *queue) pop() (t Task, ok bool) {
	if q.open {
		if t, _, ok = q.head.claim(); ok {
			q.head.read.Add(1)
			q.account()
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

// account counts the claims that were made since it was called last.
func (q *queue) account() {
	if q.open {
		left := max(0, int(-q.head.claimed.Load()))
		q.n -= q.unclaimed - left
		q.unclaimed = left
	}
}

// opened makes up to n tasks of the segment at the head open to claims and returns
// it, unless there is a single one or none, or somebody has still to read a task
// that was claimed when it was open before.
func (q *queue) opened(n int) *segment {
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

// shut ends the claims. What was not claimed is popped as before.
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

// drop takes out the head, whose tasks are all given out. One that somebody has
// still to read a task of is left to the garbage collector.
func (q *queue) drop() {
	s := q.head
	reusable := s.settled()
	if s == q.tail && reusable {
		s.reset() // it stays, to be filled from its start
		return
	}
	q.head, s.next = s.next, nil // s may be part of the engine, and must not keep what follows
	if q.head == nil {
		q.tail = nil
	}
	if reusable && (q.spare == nil || cap(s.tasks) >= cap(q.spare.tasks)) {
		s.reset()
		q.keep(s)
	}
}

// keep puts an empty segment by.
func (q *queue) keep(s *segment) {
	s.claimed.Store(1)
	s.next, q.spare = q.spare, s
	q.spares++
}

// trim keeps a few of the segments that are not in use.
func (q *queue) trim() {
	for q.spares > fewSegments {
		q.spare = q.spare.next
		q.spares--
	}
}

// settled reports whether every task that was claimed has been read.
func (s *segment) settled() bool { return int(s.read.Load()) == s.claims }

func (s *segment) reset() {
	s.tasks, s.first, s.next, s.claims = s.tasks[:0], 0, nil, 0
	s.read.Store(0)
}

// clear empties the queue and lets its memory go, also where one of the segments is part
// of the engine and stays. It must be shut.
func (q *queue) clear() int {
	n := q.n
	for s := q.head; s != nil; {
		clear(s.tasks[s.first:]) // those before may be being read
		s, s.next = s.next, nil
	}
	*q = queue{}
	return n
}

package errgroup

// A queue is a first-in, first-out queue of tasks in a ring. Use newQueue.
type queue struct {
	ring []func() error // its length is a power of two
	head int            // of the first task
	n    int

	worker func()          // Group.queueWorker, as a value that is made once; nil: not yet
	first  [4]func() error // the ring at first, and again after a burst
}

func newQueue() *queue {
	q := new(queue)
	q.ring = q.first[:]
	return q
}

// maxIdleRing is the length of the longest ring that an empty queue keeps.
const maxIdleRing = 1024

func (q *queue) push(f func() error) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = f
	q.n++
}

func (q *queue) grow() {
	ring := make([]func() error, 2*q.n)
	k := copy(ring, q.ring[q.head:])
	copy(ring[k:], q.ring[:q.head])
	clear(q.ring) // it may be first
	q.ring, q.head = ring, 0
}

// pop removes the first task. The queue must not be empty.
func (q *queue) pop() func() error {
	f := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	if q.n == 0 && len(q.ring) > maxIdleRing {
		q.ring, q.head = q.first[:], 0
	}
	return f
}

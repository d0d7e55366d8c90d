package work

// A Task is what a Source queues: a function or a pointer, of a type that the source's
// Runner knows, and its number, which counts the accepted tasks of the source.
// Functions and pointers are one word, which an any holds without an allocation.
type Task struct {
	Payload any
	Index   int
}

const (
	minQueue  = 4    // tasks that a queue has space for at first; it grows by doubling
	maxUnused = 2048 // tasks that the space of an idle queue is kept for
)

// queue is a first-in first-out list in a ring, guarded by the engine's lock.
type queue struct {
	ring  []Task // its length is a power of 2
	first int
	n     int
}

// at returns the place of task i of the queue.
func (q *queue) at(i int) *Task { return &q.ring[(q.first+i)&(len(q.ring)-1)] }

func (q *queue) push(t Task) {
	if q.n == len(q.ring) {
		q.grow()
	}
	*q.at(q.n) = t
	q.n++
}

func (q *queue) grow() {
	ring := make([]Task, max(minQueue, 2*q.n))
	n := copy(ring, q.ring[q.first:])
	copy(ring[n:], q.ring[:q.first])
	q.ring, q.first = ring, 0
}

// pop removes the first task. The queue must not be empty.
func (q *queue) pop() Task {
	t := *q.at(0)
	*q.at(0) = Task{}
	q.first = (q.first + 1) & (len(q.ring) - 1)
	q.n--
	return t
}

// trim frees the memory of a burst. The queue must be empty.
func (q *queue) trim() {
	if len(q.ring) > maxUnused {
		*q = queue{}
	}
}

// clear empties the queue, and returns how many tasks it had.
func (q *queue) clear() int {
	n := q.n
	*q = queue{}
	return n
}

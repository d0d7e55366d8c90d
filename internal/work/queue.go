package work

// A Task is what a Source queues: a function or a pointer, of a type that the
// job's Run knows, and its number, which counts the source's accepted tasks.
// Functions and pointers are one word, which fits an any without an allocation.
type Task struct {
	Func  any
	Index int
}

const (
	firstSegment = 8   // tasks; each segment is twice the one before
	lastSegment  = 512 // up to this
)

// queue is a first-in first-out list of segments. A segment is dropped as soon
// as it is empty, but for one spare, so that a burst leaves no memory behind and
// a queue that neither grows nor shrinks allocates nothing.
type queue struct {
	head, tail *segment
	first      int // of head, the next to pop
	n          int
	spare      *segment
}

type segment struct {
	tasks []Task
	next  *segment
}

func (q *queue) push(t Task) {
	if q.tail == nil || len(q.tail.tasks) == cap(q.tail.tasks) {
		q.grow()
	}
	q.tail.tasks = append(q.tail.tasks, t)
	q.n++
}

func (q *queue) grow() {
	s := q.spare
	q.spare = nil
	if s == nil {
		size := firstSegment
		if q.tail != nil {
			size = min(2*cap(q.tail.tasks), lastSegment)
		}
		s = &segment{tasks: make([]Task, 0, size)}
	}
	if q.tail == nil {
		q.head = s
	} else {
		q.tail.next = s
	}
	q.tail = s
}

// pop must not be called on an empty queue.
func (q *queue) pop() Task {
	s := q.head
	t := s.tasks[q.first]
	s.tasks[q.first] = Task{}
	q.first++
	q.n--
	if q.first == len(s.tasks) {
		q.drop(s)
	}
	return t
}

// drop takes out the head, whose tasks are all popped. The only segment stays
// where it is, to be filled again from its start.
func (q *queue) drop(s *segment) {
	q.first = 0
	s.tasks = s.tasks[:0]
	if s == q.tail {
		return
	}
	q.head = s.next
	s.next = nil
	if q.spare == nil || cap(q.spare.tasks) < cap(s.tasks) {
		q.spare = s
	}
}

// clear empties the queue and lets its memory go.
func (q *queue) clear() int {
	n := q.n
	*q = queue{}
	return n
}

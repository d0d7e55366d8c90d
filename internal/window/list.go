package window

// A list has tasks that are not taken, in the order in which they will be: that of their
// items, or under Unordered that in which they finish.
type list[T, R any] struct {
	head, tail *Task[T, R]
	pending    int  // tasks that are not taken, also those that have not joined the list
	ended      bool // there will be no more
}

// complete reports whether all tasks are taken.
func (l *list[T, R]) complete() bool { return l.ended && l.pending == 0 }

// insert inserts t after a task, or at the head if that is nil.
func (l *list[T, R]) insert(after, t *Task[T, R]) {
	if after == nil {
		t.next, l.head = l.head, t
	} else {
		t.next, after.next = after.next, t
	}
	if t.next == nil {
		l.tail = t
	}
}

// before returns the task before t, or nil.
func (l *list[T, R]) before(t *Task[T, R]) *Task[T, R] {
	var before *Task[T, R]
	for u := l.head; u != t; u = u.next {
		before = u
	}
	return before
}

// take removes the finished tasks at the head, and returns the first of them.
func (l *list[T, R]) take() *Task[T, R] {
	first := l.head
	var last *Task[T, R]
	for t := first; t != nil && t.finished; t = t.next {
		last = t
		l.pending--
	}
	if last == nil {
		return nil
	}
	l.head, last.next = last.next, nil
	if l.head == nil {
		l.tail = nil
	}
	return first
}

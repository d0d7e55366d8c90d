package limit

import "github.com/stint-go/stint/internal/fifo"

// borrowers are the waiters that may borrow a HeldPermit. They are guarded by the limiter's
// lock. Each is in a lane; the lanes of a priority have turns. Waiters on the goroutine of the
// task that holds the permit may have it whenever it is free. The others may have it while the
// task on that goroutine waits that made their call. No step looks at more than one waiter: a
// lane whose task is found not to wait is put aside, until Lend of that task.
type borrowers struct {
	lanes map[laneKey]*lane   // those with waiters
	ready [2]fifo.List[*lane] // those that are not put aside, by priority
}

// A lane is the waiters of one priority in calls of one task.
type lane struct {
	laneKey
	waiters fifo.List[*Waiter]
	node    fifo.Node[*lane] // in ready, unless the lane is put aside
}

type laneKey struct {
	task     *Scope // nil: the waiters are on the goroutine of the permit
	priority int
}

// priority returns the index of the lists for waiters of a priority, in the order in which
// they are served.
func priority(low bool) int {
	if low {
		return 1
	}
	return 0
}

// key returns the key of the lane of w.
func (w *Waiter) key() laneKey {
	k := laneKey{nil, priority(w.Low)}
	if w.branch != nil {
		k.task = w.branch.lender()
	}
	return k
}

// push adds w behind the others of its lane.
func (b *borrowers) push(w *Waiter) {
	k := w.key()
	l := b.lanes[k]
	if l == nil {
		l = &lane{laneKey: k}
		b.lanes[k] = l
		b.ready[k.priority].Push(&l.node, l)
	}
	l.waiters.Push(&w.lent, w)
}

// remove removes w. Its lane goes behind the others, which have their turns first.
func (b *borrowers) remove(w *Waiter) {
	w.lent.Remove()
	l := b.lanes[w.key()]
	ready := l.node.InList()
	l.node.Remove()
	switch {
	case l.waiters.Len() == 0:
		delete(b.lanes, l.laneKey)
	case ready:
		b.ready[l.priority].Push(&l.node, l)
	}
}

// lend makes the lanes of a task, which waits, ready again.
func (b *borrowers) lend(task *Scope) {
	if b == nil {
		return
	}
	for i := range b.ready {
		if l := b.lanes[laneKey{task, i}]; l != nil && !l.node.InList() {
			b.ready[i].Push(&l.node, l)
		}
	}
}

// next returns the waiter that may have the permit next, or nil. reclaimed says that only
// those on the task's own goroutine may have it.
func (b *borrowers) next(reclaimed bool) *Waiter {
	if b == nil {
		return nil
	}
	for i := range b.ready {
		l := b.lanes[laneKey{nil, i}]
		if !reclaimed {
			l = b.nextLane(i)
		}
		if l != nil {
			return first(&l.waiters)
		}
	}
	return nil
}

// nextLane returns the lane of a priority whose turn it is, or nil.
func (b *borrowers) nextLane(priority int) *lane {
	for n := b.ready[priority].First(); n != nil; n = b.ready[priority].First() {
		if l := n.Value(); l.task == nil || l.task.waits.Load() > 0 {
			return l
		}
		n.Remove()
	}
	return nil
}

// first returns the first waiter of q, or nil.
func first(q *fifo.List[*Waiter]) *Waiter {
	if n := q.First(); n != nil {
		return n.Value()
	}
	return nil
}

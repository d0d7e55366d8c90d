package limit

import "github.com/stint-go/stint/internal/fifo"

// borrowers are the waiters that may borrow a HeldPermit. They are guarded by the limiter's
// lock. Those on the goroutine of the task that holds the permit may have it whenever it is
// free. The others are in lanes, by the task on that goroutine that made their calls: they
// may have it while that task waits. No step looks at more than one waiter: a lane whose task
// is found not to wait is put aside, until Lend of that task.
type borrowers struct {
	own   [2]fifo.List[*Waiter] // by priority
	ready [2]fifo.List[*lane]   // lanes that are not put aside, by priority
	lanes map[laneKey]*lane     // those with waiters
}

// A lane is the waiters of one priority in calls of one task.
type lane struct {
	laneKey
	waiters fifo.List[*Waiter]
	node    fifo.Node[*lane] // in ready, unless the lane is put aside
}

type laneKey struct {
	task     *Scope
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

// key returns the key of the lane of w, whose branch is not nil.
func (w *Waiter) key() laneKey { return laneKey{w.branch.lender(), priority(w.Low)} }

// push adds w behind the others of its priority.
func (b *borrowers) push(w *Waiter) {
	if w.branch == nil {
		b.own[priority(w.Low)].Push(&w.lent, w)
		return
	}
	k := w.key()
	l := b.lanes[k]
	if l == nil {
		l = &lane{laneKey: k}
		if b.lanes == nil {
			b.lanes = make(map[laneKey]*lane)
		}
		b.lanes[k] = l
		b.ready[k.priority].Push(&l.node, l)
	}
	l.waiters.Push(&w.lent, w)
}

// remove removes w. Its lane goes behind the others, which have their turns first.
func (b *borrowers) remove(w *Waiter) {
	w.lent.Remove()
	if w.branch == nil {
		return
	}
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
	if b == nil || len(b.lanes) == 0 {
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
	for i := range b.own {
		w := earlier(first(&b.own[i]), b.nextOfLanes(i, reclaimed))
		if w != nil {
			return w
		}
	}
	return nil
}

// nextOfLanes is next among the waiters of one priority on other goroutines.
func (b *borrowers) nextOfLanes(priority int, reclaimed bool) *Waiter {
	if reclaimed {
		return nil
	}
	for {
		n := b.ready[priority].First()
		if n == nil {
			return nil
		}
		if l := n.Value(); l.task.waits.Load() > 0 {
			return first(&l.waiters)
		}
		n.Remove()
	}
}

// first returns the first waiter of q, or nil.
func first(q *fifo.List[*Waiter]) *Waiter {
	if n := q.First(); n != nil {
		return n.Value()
	}
	return nil
}

// earlier returns the waiter that joined first. Either may be nil.
func earlier(a, b *Waiter) *Waiter {
	if a == nil || b != nil && int32(b.number-a.number) < 0 { // numbers start again at 0
		return b
	}
	return a
}

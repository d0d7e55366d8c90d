package errgroup

import "sync"

// bound is the limit of a group, and the line of those who wait for it.
//
// A submitter that waits has put its task at the end of the queue. It is let in,
// first come, first served, when a task has ended: its task counts as active from
// then on, and Go returns.
type bound struct {
	limit    int       // negative: none
	came     uint64    // submitters that have had to wait so far
	admitted uint64    // those of them that were let in
	room     sync.Cond // those that wait, in the order in which they came
}

// newBound returns a bound that mu guards.
func newBound(mu *sync.Mutex) *bound { return &bound{room: sync.Cond{L: mu}} }

// waiting returns how many submitters wait, whose tasks are the last in the queue.
func (b *bound) waiting() int {
	if b == nil {
		return 0
	}
	return int(b.came - b.admitted)
}

// tell wakes n submitters that were let in. They are the first n of those that room
// keeps, as long as nobody else is woken: one that waits again would stand behind those
// that came later, and be missed.
func (b *bound) tell(n int) {
	for range n {
		b.room.Signal()
	}
}

// The functions below are called with Group.mu held.

// full reports whether as many tasks are active as the limit says.
func (g *Group) full() bool {
	b := g.bound
	return b != nil && b.limit >= 0 && g.count() >= b.limit
}

// block puts f at the end of the queue and waits until it is let in. Somebody will
// do that: the group is full, and each task that ends lets in who it makes room for.
func (g *Group) block(f func() error) {
	b := g.bound
	g.push(f)
	mine := b.came
	b.came++
	for b.admitted <= mine {
		b.room.Wait()
	}
}

// admit lets in submitters as long as there is room, and returns how many: tell must
// follow.
func (g *Group) admit() (n int) {
	for ; g.bound.waiting() > 0 && !g.full(); n++ {
		g.bound.admitted++
		g.active.Add(1)
	}
	return n
}

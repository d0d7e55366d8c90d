package errgroup

import "sync"

// A limiter is the limit of a group, and the submitters that wait for it.
//
// A submitter that waits has put its task at the end of the queue. It is admitted, first
// come, first served, when a task has finished: then its task is active and Go returns.
type limiter struct {
	limit    int       // negative: none
	blocked  uint64    // submitters that have had to wait so far
	admitted uint64    // of them
	room     sync.Cond // the submitters that wait, in order
}

// newLimiter returns a limiter that mu guards.
func newLimiter(mu *sync.Mutex) *limiter { return &limiter{room: sync.Cond{L: mu}} }

// waiting returns how many submitters wait. Their tasks are the last in the queue.
func (l *limiter) waiting() int {
	if l == nil {
		return 0
	}
	return int(l.blocked - l.admitted)
}

// wake wakes n admitted submitters. They are the first n that wait for room, because no
// others are ever woken: a submitter that waited again would be behind later ones.
func (l *limiter) wake(n int) {
	for range n {
		l.room.Signal()
	}
}

// The functions below are called with Group.mu held.

// full reports whether as many tasks are active as the limit allows.
func (g *Group) full() bool {
	l := g.limiter
	return l != nil && l.limit >= 0 && g.count() >= l.limit
}

// block puts f at the end of the queue and waits until it is admitted. The group is full:
// each task that finishes admits the submitters that it makes room for.
func (g *Group) block(f func() error) {
	l := g.limiter
	g.push(f)
	ticket := l.blocked
	l.blocked++
	for l.admitted <= ticket {
		l.room.Wait()
	}
}

// admit admits submitters while there is room, and returns how many. The caller must wake
// them.
func (g *Group) admit() (n int) {
	for ; g.limiter.waiting() > 0 && !g.full(); n++ {
		g.limiter.admitted++
		g.active.Add(1)
	}
	return n
}

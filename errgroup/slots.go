package errgroup

import (
	"math"
	"sync"

	"github.com/stint-go/stint/internal/race"
)

// slots is the state of a group in one word, so that a task takes or returns its slot in one
// step: the limit plus 1, or 0 without a limit; the bit waiting; the number of active tasks.
//
// Steps that change the limit or the bit are made with Group.mu held, and so are all steps
// while the bit is set, except that tasks start without it when there is no limit.
type slots uint64

const (
	waiting    slots = 1 << 31 // submitters wait
	activeMask slots = waiting - 1
	limitShift       = 32
	largeLimit       = math.MaxInt32 // any larger one is as good: so many tasks cannot be counted
)

func (s slots) active() int { return int(s & activeMask) }

func (s slots) limited() bool { return s>>limitShift > 0 }

// limit is the limit, if there is one.
func (s slots) limit() int { return int(s>>limitShift - 1) }

func (s slots) withLimit(n int) slots {
	s &= waiting | activeMask
	if n >= 0 {
		s |= (slots(min(n, largeLimit)) + 1) << limitShift
	}
	return s
}

// full reports whether a task finds no slot.
func (s slots) full() bool { return s.limited() && s.active() >= s.limit() }

// take takes a slot for a task, unless all are taken or submitters wait for one.
func (g *Group) take() (race.Ticket, bool) {
	for {
		s := slots(g.slots.Load())
		if s.full() || s.limited() && s&waiting != 0 {
			return race.Ticket{}, false
		}
		if g.slots.CompareAndSwap(uint64(s), uint64(s+1)) {
			g.tasks.Add(1)
			return g.ticket(s), true
		}
	}
}

// A line is the submitters that wait for a slot, in the order in which they came. Each is
// woken once, after it was given the slot of a finished task.
type line struct {
	joined, admitted uint64    // submitters so far
	room             sync.Cond // its waiters are those that are not admitted, and perhaps the last admitted
}

// wait waits until the submitter is given a slot for its task.
func (g *Group) wait() race.Ticket {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line == nil {
		g.line = &line{room: sync.Cond{L: &g.mu}}
	}
	l := g.line
	number := l.joined
	l.joined++
	g.slots.Or(uint64(waiting))
	ticket := g.ticket(slots(g.slots.Load()))
	g.admitLocked() // a task may have finished since take
	for l.admitted <= number {
		l.room.Wait()
	}
	return ticket
}

// admitLocked gives free slots to submitters that wait.
func (g *Group) admitLocked() {
	l := g.line
	if l == nil || l.admitted == l.joined {
		return
	}
	for l.admitted < l.joined && !slots(g.slots.Load()).full() {
		g.slots.Add(1)
		g.tasks.Add(1)
		l.admitted++
		l.room.Signal()
	}
	if l.admitted == l.joined {
		g.slots.And(uint64(^waiting))
	}
}

// release returns the slot of a task that has finished.
func (g *Group) release() {
	defer g.tasks.Done() // after its slot went to a submitter that waits: Wait waits for that one too
	for {
		s := slots(g.slots.Load())
		if s&waiting != 0 {
			break
		}
		if g.slots.CompareAndSwap(uint64(s), uint64(s-1)) {
			return
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.slots.Add(^uint64(0))
	g.admitLocked()
}

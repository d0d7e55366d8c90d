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
// while the bit is set, except that tasks start without it when there is no limit. Steps
// without the lock are hidden from the race detector. With a limit, it is told by Group.ends
// that a task starts after those that have ended, as with the original.
type slots uint64

const (
	waiting    slots = 1 << 31 // submitters wait
	activeMask slots = waiting - 1
	limitShift       = 32
	largeLimit       = math.MaxInt32 // any larger one is as good: so many tasks cannot be counted
)

func (s slots) active() int { return int(s & activeMask) }

func (s slots) limited() bool { return s>>limitShift > 0 }

// withLimit returns s with a limit of n, or without one if n is negative.
func (s slots) withLimit(n int) slots {
	limit := slots(max(-1, min(n, largeLimit)) + 1)
	return limit<<limitShift | s&(waiting|activeMask)
}

// full reports whether there is no free slot.
func (s slots) full() bool { return s.limited() && s.active() >= int(s>>limitShift-1) }

// open reports whether a task that comes now gets a slot: submitters that wait come first.
func (s slots) open() bool { return !s.limited() || s&waiting == 0 && !s.full() }

// take takes a slot for a task, and reports whether there was one for it.
func (g *Group) take() bool {
	race.Disable()
	s := slots(g.slots.Load())
	for s.open() && !g.slots.CompareAndSwap(uint64(s), uint64(s+1)) {
		s = slots(g.slots.Load())
	}
	race.Enable()
	if !s.open() {
		return false
	}
	g.tasks.Add(1)
	if s.limited() {
		g.ends.Acquire()
	}
	return true
}

// A line is the submitters that wait for a slot, in the order in which they came. Each is
// woken once, after it was given the slot of a finished task.
type line struct {
	joined, admitted uint64    // submitters so far
	room             sync.Cond // its waiters are those that are not admitted, and perhaps the last admitted
}

// wait waits until the submitter is given a slot for its task.
func (g *Group) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line == nil {
		g.line = &line{room: sync.Cond{L: &g.mu}}
	}
	l := g.line
	number := l.joined
	l.joined++
	g.slots.Or(uint64(waiting))
	g.admitLocked() // a task may have finished since take
	for l.admitted <= number {
		l.room.Wait()
	}
	g.ends.Acquire() // of tasks that have finished without the lock
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
	g.ends.Release()
	race.Disable()
	s := slots(g.slots.Load())
	for s&waiting == 0 && !g.slots.CompareAndSwap(uint64(s), uint64(s-1)) {
		s = slots(g.slots.Load())
	}
	race.Enable()
	if s&waiting == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.slots.Add(^uint64(0))
	g.admitLocked()
}

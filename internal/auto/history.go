package auto

import (
	"slices"
	"time"
)

// A Change is a step of the search: the limit from then on, and why.
type Change struct {
	Time       time.Time
	Limit      int
	Throughput float64 // tasks a second, as measured before; 0 if it was not
	Reason     string
}

// remembered is how many changes are kept.
const remembered = 64

// A history is the last changes.
type history struct {
	changes []Change // a ring once it is full
	next    int      // in it, the oldest
}

func (h *history) add(c Change) {
	if len(h.changes) < remembered {
		h.changes = append(h.changes, c)
		return
	}
	h.changes[h.next] = c
	h.next = (h.next + 1) % remembered
}

// all returns the changes, the oldest first.
func (h *history) all() []Change {
	return append(slices.Clone(h.changes[h.next:]), h.changes[:h.next]...)
}

// A State is what a Controller is about, and how it came to it.
type State struct {
	Phase      Phase
	Throughput float64 // tasks a second, in the last window; 0 if none has ended
	Changes    []Change
}

// State returns the state of c at one instant.
func (c *Controller) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finder == nil {
		return State{}
	}
	s := State{Phase: c.finder.phase, Throughput: c.finder.latest, Changes: c.finder.changes.all()}
	if c.fixed.Load() {
		s.Phase = Fixed
	}
	return s
}

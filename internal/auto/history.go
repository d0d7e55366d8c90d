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

package auto

import "time"

// How often a worker with short tasks looks at the clock: no more often than each
// look, and at least once in tellAtMost tasks. The count of a worker whose tasks become
// long is late by that many.
const (
	look       = 20 * time.Microsecond
	tellAtMost = 128
)

// A Meter counts the ends of one worker's tasks for a Controller. Its zero value is
// ready.
type Meter struct {
	of     *Controller // that it told last
	tasks  int         // ended and not told yet
	every  int         // tasks to tell at once
	period uint32      // of the controller, in which it told last, or its worker has rested; 0: not since it rested
	last   time.Time   // when that was
}

// Done counts n tasks as ended. It is called while c is Active.
func (m *Meter) Done(c *Controller, n int) {
	if m.tasks += n; m.tasks >= m.every {
		m.tell(c)
	}
}

// Rest tells m that its worker had nothing to do, or waited for its place, and goes on.
// The time of its next task is known, unless tasks of before are yet to be told with it.
func (m *Meter) Rest() {
	m.period, m.every = 0, 1
	if m.of != nil && m.tasks == 0 {
		if m.period = m.of.active.Load(); m.period != 0 {
			m.last = time.Now()
		}
	}
}

func (m *Meter) tell(c *Controller) {
	now := time.Now()
	period := c.active.Load()
	known := period != 0 && m.period == period
	took := time.Duration(0)
	if known {
		took = now.Sub(m.last)
	}
	if known && took < look {
		m.every = min(2*m.every, tellAtMost)
		if !c.mu.TryLock() {
			return // somebody else is telling: these are told with the next
		}
	} else {
		m.every = max(m.every/2, 1)
		c.mu.Lock()
	}
	c.end(m.tasks, took)
	c.mu.Unlock()
	m.of, m.tasks, m.last, m.period = c, 0, now, period
}

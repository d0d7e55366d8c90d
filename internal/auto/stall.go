package auto

import "time"

const (
	stallTime        = 500 * time.Millisecond // without a finished task, after which the limit may rise
	stallBurstFactor = 4                      // of Burst: the limit that stalls reach before the first task has finished
	stallFactor      = 2                      // of the limit: what stalls reach later
)

// A stall is a time in which no task finishes.
type stall struct {
	started     bool          // a task has finished
	last        time.Duration // when one finished last, or the period began
	since       time.Duration // when the period began
	beforeStall int           // the limit to return to when one finishes; 0: no stall
}

// overdue reports whether no task has finished for stallTime, and for twice the time
// that a task takes.
func (s *search) overdue(now time.Duration) bool {
	return now-s.last >= max(stallTime, time.Duration(2*s.window.latency.mean()))
}

// stalled raises the limit when no task has finished for some time: tasks may wait for
// tasks that have not started. It reports whether it has raised the limit. If a task has
// finished before, the old limit returns when another task finishes.
func (s *search) stalled(now time.Duration) bool {
	before := s.limit
	if s.beforeStall > 0 {
		before = s.beforeStall
	}
	n, highest := s.limit+max(1, s.limit/8), stallFactor*before
	if !s.started {
		n, highest = max(n, s.Burst), stallBurstFactor*s.Burst
	}
	n, _ = s.allowed(min(n, highest, s.Max))
	if n <= s.limit {
		return false
	}
	s.last, s.limit = now, n
	if s.started {
		s.beforeStall = before
	} else {
		s.phase, s.start.from, s.start.top = SlowStart, n, n
	}
	s.noted(now, reading{}, "no task has finished for some time")
	return true
}

// endStall returns to the limit before the stall.
func (s *search) endStall(now time.Duration) {
	if s.beforeStall > 0 {
		s.move(now, s.beforeStall)
		s.start.pace.last = now
		s.noted(now, reading{}, "tasks finish again")
	}
}

// exceeded notes that tasks get permits beyond the limit, as none has finished for long. It ends
// a probe of a lower limit without a conclusion, since more tasks run than that allows: probe
// after probe would find a lower limit as good.
func (s *search) exceeded(now time.Duration) {
	s.last = now
	if s.phase == Probing && s.limit < s.held {
		s.returnToHeld(now, 1)
	}
}

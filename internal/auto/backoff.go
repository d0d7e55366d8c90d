package auto

import (
	"fmt"
	"time"
)

// overloaded notes that a task has failed because of excess load; finished will count it,
// too. Few overloaded tasks are ignored: other clients of the server may cause them.
func (s *search) overloaded(now time.Duration) {
	s.uncounted = min(s.uncounted+1, s.limit) // finished never counts tasks of a worker that has left
	s.overloads++
	if overloadShare*s.overloads < s.limit || s.stale > 0 && s.limit < s.ceiling {
		return // too few, or tasks that started under the higher limit
	}
	s.overloads = 0
	s.setCeiling(now, max(s.limit, s.Min+1))
	if s.limit > s.Min {
		s.backOff(now, fmt.Sprintf("overload with %d", s.limit))
	}
}

// leaveOut returns how many of n finished tasks were overloaded: they are no
// throughput.
func (s *search) leaveOut(n int) int {
	if s.generation += n; s.generation >= s.limit {
		s.generation, s.overloads = 0, 0
	}
	m := min(n, s.uncounted)
	s.uncounted -= m
	s.stale = max(0, s.stale-n)
	if s.settling > 1 {
		s.settling = max(1, s.settling-m)
	}
	return m
}

// setCeiling makes n the ceiling. If the last ceiling was lifted recently, n holds for
// twice as long.
func (s *search) setCeiling(now time.Duration, n int) {
	if s.ceiling == 0 {
		if now-s.retryAt < s.ceilingTime {
			s.ceilingTime = min(2*s.ceilingTime, maxCeilingTime)
		} else {
			s.ceilingTime = minCeilingTime
		}
	}
	s.ceiling, s.retryAt = n, now+s.ceilingTime
}

// holdCeiling makes the ceiling, if there is one, hold at least until then.
func (s *search) holdCeiling(then time.Duration) {
	if s.ceiling > 0 {
		s.retryAt = max(s.retryAt, then)
	}
}

// liftCeiling starts slow start again when the time of the ceiling is over.
func (s *search) liftCeiling(now time.Duration) {
	if s.ceiling == 0 || now < s.retryAt {
		return
	}
	s.ceiling = 0
	if top, _ := s.allowed(min(2*s.limit, s.Max)); top > s.limit+s.limit/8 { // as in nextRound
		s.settling, s.alarmed = 0, false
		s.window.open(now)
		s.phase, s.start = SlowStart, slowStart{from: s.limit, top: top, pace: pace{last: now}}
		s.noted(now, reading{}, "a higher limit is tried again")
	}
}

// backOff lowers the limit for a reason that throughput does not show.
func (s *search) backOff(now time.Duration, reason string) {
	s.backoffs++
	n := clamp(s.Min, int(backoffFactor*float64(s.limit)), s.limit)
	s.pause, s.up, s.steps, s.reach = 4, true, 1, near
	s.held, s.known, s.beforeStall = n, s.known[:0], 0
	s.stale = s.limit
	s.returnToHeld(now, 4)
	s.noted(now, reading{}, reason)
}

// stalled raises the limit when no task has finished for some time: tasks may wait for
// tasks that have not started. It reports whether it has raised the limit. If a task has
// finished before, the old limit returns when another task finishes.
func (s *search) stalled(now time.Duration) bool {
	n := s.limit + max(1, s.limit/8)
	if !s.started {
		n = max(n, s.Burst)
	}
	n, _ = s.allowed(min(n, s.stallLimit()))
	if n <= s.limit {
		return false
	}
	s.last = now
	switch {
	case !s.started:
		s.phase, s.start.from, s.start.top = SlowStart, n, n
	case s.beforeStall == 0:
		s.beforeStall = s.limit
	}
	s.limit = n
	s.noted(now, reading{}, "no task has finished for some time")
	return true
}

// endStall returns to the limit before the stall.
func (s *search) endStall(now time.Duration) {
	if n := s.beforeStall; n > 0 {
		s.beforeStall = 0
		s.move(now, n)
		s.start.pace.last = now
		s.noted(now, reading{}, "tasks finish again")
	}
}

// stallLimit returns the largest limit that stalls lead to.
func (s *search) stallLimit() int {
	if s.started {
		return min(stallFactor*s.proven, s.Max)
	}
	return min(stallBurstFactor*s.Burst, s.Max)
}

// overdue reports whether no task has finished for stallTime, and for twice the time
// that a task takes.
func (s *search) overdue(now time.Duration) bool {
	return now-s.last >= max(stallTime, time.Duration(2*s.window.assumed.mean()))
}

// exceeded notes that tasks get permits beyond the limit, as none has finished for long. It ends
// a probe of a lower limit without a conclusion, since more tasks run than that allows: probe
// after probe would find a lower limit as good. It reports whether the limit has changed.
func (s *search) exceeded(now time.Duration) bool {
	s.last = now
	if s.phase != Probing || s.limit >= s.held {
		return false
	}
	s.returnToHeld(now, s.pause)
	if s.probeNoted {
		s.noted(now, s.known.at(s.held), "tasks wait for each other beyond the limit")
	}
	return true
}

package limit

import (
	"math"
	"time"
)

const (
	minPause     = time.Second // before a higher limit than that of the system is tried
	maxPause     = time.Minute // it doubles each time that the system refuses again
	systemReason = "the system starts no more processes"
)

// A system is how many processes the system has started when it refused one more.
type system struct {
	most   int // 0: it has not refused
	since  time.Time
	pause  time.Duration
	raised bool // after it has refused
}

// refused notes that the system refused a process beside those that run.
func (s *system) refused(running int, now time.Time) {
	if s.pause = max(s.pause, minPause); s.raised {
		s.pause = min(2*s.pause, maxPause)
	}
	s.most, s.since, s.raised = max(1, running), now, false
}

// limit returns how many processes may run. It rises by a quarter after each pause.
func (s *system) limit(now time.Time) int {
	if s.most == 0 {
		return math.MaxInt
	}
	if now.Sub(s.since) >= s.pause {
		s.most, s.since, s.raised = s.most+max(1, s.most/4), now, true
	}
	return s.most
}

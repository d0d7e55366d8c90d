package limit

import (
	"math"
	"time"
)

const (
	minPause       = time.Second // before a higher limit than that of the system is tried
	maxPause       = time.Minute // it doubles each time that the system refuses again
	systemReason   = "the system starts no more processes"
	overloadReason = "jobs ended with status 75: too many"
	overloadShare  = 0.7 // of the jobs that ran are left when one says that they are too many
)

// A system is how many jobs may run since one was too many: the system refused to start it, or it
// said so.
type system struct {
	most    int // 0: there was none
	reason  string
	since   time.Time // most was set: later than it fell if it has risen since then
	lowered time.Time // it fell last
	pause   time.Duration
}

// refused notes that more than most are too many.
func (s *system) refused(most int, reason string, now time.Time) {
	if s.pause = max(s.pause, minPause); s.since.After(s.lowered) {
		s.pause = min(2*s.pause, maxPause)
	}
	s.most, s.reason, s.since, s.lowered = max(1, most), reason, now, now
}

// limit returns how many jobs may run. It rises by a quarter after each pause.
func (s *system) limit(now time.Time) int {
	if s.most == 0 {
		return math.MaxInt
	}
	if now.Sub(s.since) >= s.pause {
		s.most, s.since = s.most+max(1, s.most/4), now
	}
	return s.most
}

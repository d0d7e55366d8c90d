package auto

import (
	"math"
	"time"
)

// judgeHold ends a window at the limit that is held, and probes another limit when it
// is time. A changed throughput replaces what was measured before.
func (s *search) judgeHold(now time.Duration) {
	r := s.read()
	s.window.open(now)
	if s.base.tasks > 0 {
		if change := math.Abs(math.Log(r.rate() / s.base.rate())); change > max(0.3, 4/math.Sqrt(r.tasks)) {
			s.base = reading{}
			s.up, s.pause, s.hold = true, 2, 1
		}
	}
	if n := 4 * s.minHold(); s.base.tasks > n { // old tasks count less
		s.base.time *= n / s.base.tasks
		s.base.tasks = n
	}
	s.base = s.base.merge(r)
	s.base.running = float64(s.limit)
	if s.hold--; s.hold <= 0 {
		s.probe(now, r)
	}
}

// probe tries the next limit in the direction of up, or in the other direction if there
// is none.
func (s *search) probe(now time.Duration, r reading) {
	for range 2 {
		if n := s.nextProbe(); n != s.held {
			s.try(now, r, n, "")
			return
		}
		s.up, s.steps = !s.up, 1
	}
	s.returnToHeld(now, s.pause)
}

// nextProbe returns the limit to probe, or s.held if there is none.
func (s *search) nextProbe() int {
	if !s.up {
		n := int(math.Round(float64(s.held) * math.Exp2(-float64(s.steps)/2)))
		return max(min(n, s.held-1), s.Min)
	}
	n := int(math.Round(float64(s.held) * math.Exp2(float64(s.steps)/2)))
	n = min(max(n, s.held+1), s.Max)
	if s.ceiling > 0 {
		n = min(n, s.ceiling-1)
	}
	n, _ = s.allowed(n)
	return max(n, s.held)
}

// try probes the limit n. The probe is noted if there is a reason: most probes change
// nothing.
func (s *search) try(now time.Duration, r reading, n int, reason string) {
	s.phase = Probing
	s.move(now, n)
	if s.probeNoted = reason != ""; s.probeNoted {
		s.noted(now, r, reason)
	}
}

// judgeProbe compares the limit that is tried with the limit that is held, and ends the
// probe when the comparison is clear, or after four windows.
func (s *search) judgeProbe(now time.Duration) {
	r := s.read()
	r.running = float64(s.limit)
	e, se := elasticity(s.base, r)
	mark := minElasticity - elasticitySlack
	if s.up {
		mark = minElasticity + elasticitySlack
	}
	switch {
	case math.Abs(e-mark) < 1.5*se && r.tasks < 4*s.minHold(): // not sure yet
	case e > mark == s.up:
		s.accept(now, r)
	default:
		s.reject(now, r)
	}
}

// accept holds the limit that was tried, and probes further in the same direction.
func (s *search) accept(now time.Duration, r reading) {
	reason := compared("a higher limit is better", s.base, r)
	if !s.up {
		reason = compared("a lower limit is as good", s.base, r)
	}
	s.held, s.base = s.limit, r
	s.pause, s.fails, s.steps = 2, 0, 2
	s.noted(now, r, reason)
	s.probe(now, r)
}

// reject returns to the limit that is held, and probes the other direction next. When
// both have failed, it pauses, each time for twice as long.
func (s *search) reject(now time.Duration, r reading) {
	reason := compared("a higher limit is no better", s.base, r)
	if !s.up {
		reason = compared("a lower limit is worse", s.base, r)
	}
	s.up, s.steps = !s.up, 1
	hold := 1
	if s.fails++; s.fails >= 2 {
		s.pause, s.fails = min(2*s.pause, maxPause), 0
		hold = s.pause
	}
	s.returnToHeld(now, hold)
	if s.probeNoted {
		s.noted(now, s.base, reason)
	}
}

// interrupt ends a probe without a conclusion, as no task waits.
func (s *search) interrupt(now time.Duration) {
	s.returnToHeld(now, 1)
	if s.probeNoted {
		s.noted(now, s.base, "no task waits any more")
	}
}

// returnToHeld returns to s.held, for the given number of windows before the next probe.
func (s *search) returnToHeld(now time.Duration, hold int) {
	s.phase, s.hold = Holding, hold
	s.move(now, s.held)
}

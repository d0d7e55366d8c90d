package auto

import (
	"math"
	"time"
)

const (
	upGain     = 0.05 // in throughput, as a logarithm, that a higher limit needs
	downLoss   = 0.02 // that a lower limit may cost, compared with the best that is known
	sureErrors = 1.2  // standard errors that a comparison is to be off the mark, or else
	sureTasks  = 255  // at least are measured
	bigChange  = 0.5  // of throughput at one limit, as a logarithm: the server is another
)

// judgeHold ends a window at the limit that is held, and probes another limit when it
// is time. A changed throughput replaces what was measured before.
func (s *search) judgeHold(now time.Duration) {
	r := s.read()
	s.window.open(now)
	s.learn(r)
	s.hold--
	switch b := s.known.best(s.held); {
	case b.tasks > 0 && s.clearlyBetter(b.reading):
		s.up, s.steps = b.limit > s.held, 1
		s.try(now, r, b.limit, compared("another limit was better", r, b.reading))
	case s.hold <= 0:
		s.probe(now, r)
	}
}

// clearlyBetter reports whether r is better than what is held.
func (s *search) clearlyBetter(r reading) bool {
	g, se := gain(s.known.at(s.held), r)
	return g > downLoss+se
}

// learn adds a reading at the present limit to what is known. A reading that is far from
// what was known replaces it, and if that was well known, what is known of other limits
// has changed as much.
func (s *search) learn(r reading) {
	old := s.known.at(s.limit)
	if old.tasks > 0 {
		if g, _ := gain(old, r); math.Abs(g) > max(bigChange, 4/math.Sqrt(r.tasks)) {
			if old.tasks >= 2*s.minHold() {
				s.known.scale(math.Exp(g))
			}
			old = reading{}
			if s.phase == Holding {
				s.up, s.pause, s.hold = true, 2, 1
			}
		}
	}
	old.thin(4 * s.minHold())
	s.known.put(s.limit, old.merge(r))
	s.known.fade(s.limit)
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
	factor := math.Exp2(float64(s.steps) / 2)
	if s.fine {
		factor = math.Sqrt(math.Sqrt2)
	}
	if !s.up {
		n := int(math.Round(float64(s.held) / factor))
		return max(min(n, s.held-1), s.Min)
	}
	n := int(math.Round(float64(s.held) * factor))
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

// judgeProbe compares the limit that is tried with the best that is known, and ends the
// probe when the comparison is clear, or after many tasks.
func (s *search) judgeProbe(now time.Duration) {
	r := s.read()
	r.running = float64(s.limit)
	b := s.known.best(s.limit)
	if b.tasks == 0 {
		s.accept(now, r)
		return
	}
	mark := -downLoss
	if s.up {
		mark = upGain
		if s.fine {
			mark = upGain / 2
		}
	}
	g, se := gain(b.reading, r)
	switch {
	case math.Abs(g-mark) < sureErrors*se && r.tasks < max(4*s.minHold(), sureTasks): // not sure yet
	case g > mark:
		s.accept(now, r)
	default:
		s.reject(now, r)
	}
}

// accept holds the limit that was tried, and probes further in the same direction.
func (s *search) accept(now time.Duration, r reading) {
	what := "a higher limit is better"
	if !s.up {
		what = "a lower limit is as good"
	}
	reason := compared(what, s.known.at(s.held), r)
	s.learn(r)
	s.held, s.first = s.limit, false
	if s.fails, s.steps = 0, 2; s.up == s.wentUp { // otherwise it returns: two limits are about as good
		s.pause = 2
	}
	s.wentUp = s.up
	if s.fallen && s.up || s.fine {
		s.steps, s.fine = 1, false
	}
	s.noted(now, r, reason)
	s.probe(now, r)
}

// reject returns to the limit that is held, and probes the other direction next, at once
// after slow start. When both have failed, it pauses, each time for twice as long.
func (s *search) reject(now time.Duration, r reading) {
	base := s.known.at(s.held)
	reason := compared("a higher limit is no better", base, r)
	if !s.up {
		reason = compared("a lower limit is worse", base, r)
	}
	s.learn(r)
	s.up, s.steps = !s.up, 1
	hold := 1
	if s.fails++; s.fails >= 2 {
		s.pause, s.fails, s.fallen, s.fine = min(2*s.pause, maxPause), 0, false, !s.fine
		hold = s.pause
	}
	s.returnToHeld(now, hold)
	if s.probeNoted {
		s.noted(now, base, reason)
	}
	if s.first {
		s.first = false
		s.resume(now)
	}
}

// resume continues after the first probe was worse: with slow start if that was ended by the
// pace of tasks alone, once, and otherwise with a probe upwards.
func (s *search) resume(now time.Duration) {
	top, _ := s.allowed(min(roundFactor*s.held, s.Max))
	if !s.alarmed || top <= s.held {
		s.steps = 2
		s.probe(now, s.known.at(s.held))
		return
	}
	s.alarmed, s.settling = false, 0
	s.phase, s.start = SlowStart, slowStart{from: s.held, top: top, pace: pace{last: now}}
}

// interrupt ends a probe without a conclusion, as no task waits.
func (s *search) interrupt(now time.Duration) {
	s.returnToHeld(now, 1)
	if s.probeNoted {
		s.noted(now, s.known.at(s.held), "no task waits any more")
	}
}

// returnToHeld returns to s.held, for the given number of windows before the next probe.
func (s *search) returnToHeld(now time.Duration, hold int) {
	s.phase, s.hold = Holding, hold
	s.move(now, s.held)
}

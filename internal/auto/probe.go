package auto

import (
	"math"
	"time"
)

const (
	upGain     = 0.05 // in throughput, as a logarithm, that a higher limit needs
	downLoss   = 0.03 // that a lower limit may cost, compared with the best that is known
	sureErrors = 1.2  // standard errors that a comparison is to be off the mark, or else
	sureTasks  = 255  // at least are measured
	alarmDoubt = 0.5  // standard errors by which a lower limit may miss the mark after an alarm
	bigChange  = 0.5  // of throughput at one limit, as a logarithm: the server is another

	farFactor = 2   // of a far probe
	leastStep = 1.1 // factor between the limit that is held and one that is worth a probe

	harmErrors = 2.5                             // standard errors, and
	harmShare  = 0.15                            // share of the tasks that are missing if a higher limit does harm
	burstTime  = float64(500 * time.Microsecond) // for which a server may do something else: noise beyond that of independent tasks
)

// A reach is how far probes go.
type reach int

const (
	near reach = iota // a factor of √2 or 2
	fine              // the square root of √2
	far               // farFactor
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
		s.up, s.steps, s.reach = b.limit > s.held, 1, near
		s.try(now, r, b.limit, compared("another limit was better", s.known.at(s.held), b.reading))
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
				s.up, s.reach, s.pause, s.hold = true, near, 2, 1
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
	factor := s.probeFactor()
	if !s.up {
		n := int(math.Round(float64(s.held) / factor))
		return max(s.before(min(n, s.held-1)), s.Min)
	}
	n := int(math.Round(float64(s.held) * factor))
	n = s.before(min(max(n, s.held+1), s.Max))
	if s.ceiling > 0 {
		n = min(n, s.ceiling-1)
	}
	n, _ = s.allowed(n)
	return max(n, s.held)
}

// probeFactor returns how many times higher or lower the next probe is.
func (s *search) probeFactor() float64 {
	switch {
	case s.reach == fine:
		return math.Sqrt(math.Sqrt2)
	case s.reach == far:
		return farFactor
	}
	return math.Exp2(float64(s.steps) / 2)
}

// before returns n, or a limit halfway to one on the way to n that is known to be worse, or
// s.held if that is near.
func (s *search) before(n int) int {
	bad := s.known.worse(s.held, n)
	if bad == 0 {
		return n
	}
	n = int(math.Round(math.Sqrt(float64(s.held) * float64(bad))))
	if f := float64(n) / float64(s.held); max(f, 1/f) < leastStep {
		return s.held
	}
	return n
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
// probe when the comparison is clear, or after many tasks. Some seem enough for a lower limit
// after an alarm, which has shown already that fewer are better.
func (s *search) judgeProbe(now time.Duration) {
	r := s.readProbe()
	b := s.known.best(s.limit)
	if b.tasks == 0 {
		s.accept(now, r, b.reading, r)
		return
	}
	mark, enough, doubt := -downLoss, max(4*s.minHold(), sureTasks), 0.0
	switch {
	case s.alarmed:
		enough, doubt = s.minHold(), alarmDoubt
	case s.up:
		mark = [...]float64{near: upGain, fine: upGain / 2, far: upGain}[s.reach]
	}
	all := s.known.at(s.limit).merge(r)
	g, se := gain(b.reading, all)
	se = math.Hypot(se, math.Sqrt(burstTime/r.time))
	switch {
	case math.Abs(g-mark) < sureErrors*se && (r.tasks < enough || r.time < float64(minWindowTime)): // not sure yet
	case g+doubt*se > mark:
		s.accept(now, r, b.reading, all)
	default:
		s.reject(now, r, b.reading, all)
	}
}

// readProbe returns the reading of the window at the limit that is tried.
func (s *search) readProbe() reading {
	r := s.read()
	r.running = float64(s.limit)
	return r
}

// harms reports whether far fewer tasks have finished, since the probe began or since it has
// settled, than would have at the limit that is held.
func (s *search) harms() bool {
	w, rate := &s.window, s.known.at(s.held).rate()
	want := rate * (w.time - w.longest)
	return want-w.tasks > harmErrors*math.Sqrt(want*(1+rate*burstTime))+harmShare*want
}

// accept holds the limit that was tried, with the reading r, and probes further in the same
// direction. best and all were compared.
func (s *search) accept(now time.Duration, r, best, all reading) {
	reason := compared(direction(best, all)+" limit is better", best, all)
	if !s.up {
		reason = compared(direction(best, all)+" limit is as good", best, all)
	}
	if s.alarmed { // what was measured before the crowd had formed is too high
		s.known = s.known[:0]
	}
	s.learn(r)
	s.held, s.alarmed = s.limit, false
	if s.fails, s.steps = 0, 2; s.up == s.wentUp { // otherwise it returns: two limits are about as good
		s.pause = 2
	}
	s.wentUp = s.up
	if s.reach == fine {
		s.steps = 1
	}
	s.reach = near
	s.noted(now, r, reason)
	s.probe(now, r)
}

// direction says where b was measured, as seen from a.
func direction(a, b reading) string {
	if b.running < a.running {
		return "a lower"
	}
	return "a higher"
}

// reject returns to the limit that is held, and probes the other direction next. After an
// alarm, slow start continues: the alarm was false. When both directions have failed, it
// pauses, each time for twice as long, and then probes nearer limits, far ones, and these
// again: throughput may rise too slowly to tell neighbours apart. r, best and all are those of accept.
func (s *search) reject(now time.Duration, r, best, all reading) {
	base, alarmed, tried := s.known.at(s.held), s.alarmed, s.limit
	reason := compared(direction(best, all)+" limit is no better", best, all)
	if !s.up {
		reason = compared(direction(best, all)+" limit is worse", best, all)
	}
	s.learn(r)
	s.up, s.steps = !s.up, 1
	hold := 1
	if s.fails++; s.fails >= 2 {
		s.pause, s.fails, s.reach = min(2*s.pause, maxPause), 0, (s.reach+1)%(far+1)
		hold = s.pause
	}
	s.returnToHeld(now, hold)
	if s.probeNoted {
		s.noted(now, base, reason)
	}
	if alarmed {
		s.resume(now, r, tried)
	}
}

// interrupt ends a probe upwards without a conclusion, as no task waits.
func (s *search) interrupt(now time.Duration) {
	if s.phase != Probing || !s.up {
		return
	}
	s.returnToHeld(now, 1)
	if s.probeNoted {
		s.noted(now, s.known.at(s.held), "no task waits any more")
	}
}

// returnToHeld returns to s.held, for the given number of windows before the next probe.
func (s *search) returnToHeld(now time.Duration, hold int) {
	s.phase, s.hold, s.alarmed = Holding, hold, false
	s.move(now, s.held)
}

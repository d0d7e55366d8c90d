package auto

import (
	"math"
	"time"
)

// judgeHold takes in a window at the limit that holds, and probes when it is time.
func (s *search) judgeHold(now time.Duration) {
	w := &s.window
	if w.tasks < s.need() {
		return
	}
	if !w.valid() {
		w.open(now)
		return
	}
	r := s.read()
	w.open(now)
	if s.base.tasks > 0 {
		if change := math.Abs(math.Log(r.rate() / s.base.rate())); change > max(0.3, 4/math.Sqrt(r.tasks)) {
			s.base = reading{}
			s.up, s.pause, s.hold = true, 2, 1
		}
	}
	if most := 4 * s.need(); s.base.tasks > most { // what is old counts less
		s.base.time *= most / s.base.tasks
		s.base.tasks = most
	}
	s.base = s.base.and(r)
	s.base.running = float64(s.limit)
	if s.hold--; s.hold <= 0 {
		s.probe(now, r)
	}
}

// need is how many tasks a window has while the limit stays.
func (s *search) need() float64 { return max(enough, 2*float64(s.limit)) }

// probe tries the next limit in the direction of up, or in the other if there is
// none.
func (s *search) probe(now time.Duration, r reading) {
	for range 2 {
		if n := s.target(); n != s.at {
			s.try(now, r, n, "")
			return
		}
		s.up, s.steps = !s.up, 1
	}
	s.hold = s.pause
	s.phase = Holding
	s.move(now, s.at)
}

// target is the next limit to probe: the one that holds if there is none.
func (s *search) target() int {
	if !s.up {
		n := int(math.Round(float64(s.at) * math.Exp2(-float64(s.steps)/2)))
		return max(min(n, s.at-1), s.Min)
	}
	n := int(math.Round(float64(s.at) * math.Exp2(float64(s.steps)/2)))
	n = min(max(n, s.at+1), s.Max)
	if s.roof > 0 {
		n = min(n, s.roof-1)
	}
	n, _ = s.allowed(n)
	return max(n, s.at)
}

// try begins the window of a probe at the limit n. It is told with the reason, if
// there is one: of probes that change nothing there would be many.
func (s *search) try(now time.Duration, r reading, n int, reason string) {
	s.phase = Probing
	s.move(now, n)
	if s.told = reason != ""; s.told {
		s.noted(now, r, reason)
	}
}

// move changes the limit, and lets the tasks end that began before.
func (s *search) move(now time.Duration, n int) {
	n = between(s.Min, n, s.Max)
	s.settle = max(s.limit, n)
	s.limit = n
	s.window.open(now)
}

// judgeProbe compares the limit that is tried with the one that holds, and takes it
// if that is clearly right.
func (s *search) judgeProbe(now time.Duration) {
	w := &s.window
	if w.tasks < max(2*few, float64(s.limit)/2) {
		return
	}
	if !w.valid() {
		w.open(now)
		return
	}
	r := s.read()
	r.running = float64(s.limit)
	e, se := elasticity(s.base, r)
	mark := worth - slack
	if s.up {
		mark = worth + slack
	}
	if math.Abs(e-mark) < 1.5*se && r.tasks < 4*s.need() {
		return
	}
	if e > mark == s.up {
		s.accept(now, r)
		return
	}
	s.reject(now, r)
}

// accept makes the limit that was tried the one that holds, and tries the next in
// the same direction.
func (s *search) accept(now time.Duration, r reading) {
	reason := compared("more do better", s.base, r)
	if !s.up {
		reason = compared("fewer do as well", s.base, r)
	}
	s.at, s.base = s.limit, r
	s.pause, s.fails, s.steps = 2, 0, 2
	s.noted(now, r, reason)
	s.probe(now, r)
}

// reject goes back. The other direction is tried next; when both have failed, after
// a pause that doubles.
func (s *search) reject(now time.Duration, r reading) {
	reason := compared("more do no better", s.base, r)
	if !s.up {
		reason = compared("fewer do less", s.base, r)
	}
	s.up, s.steps, s.hold = !s.up, 1, 1
	if s.fails++; s.fails >= 2 {
		s.pause, s.fails = min(2*s.pause, longer), 0
		s.hold = s.pause
	}
	s.phase = Holding
	s.move(now, s.at)
	if s.told {
		s.noted(now, s.base, reason)
	}
}

// interrupt ends a probe without a conclusion, when there is nothing to do.
func (s *search) interrupt(now time.Duration) {
	if s.phase == Probing {
		s.phase, s.hold = Holding, 1
		s.move(now, s.at)
		if s.told {
			s.noted(now, s.base, "nobody waits any more")
		}
	}
}

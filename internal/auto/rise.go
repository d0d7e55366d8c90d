package auto

import (
	"math"
	"time"
)

// rise begins a round, in which the limit goes from one to another.
func (s *search) rise(from, top int) {
	s.phase, s.from, s.top = Rising, from, top
}

// grow raises the limit for n tasks that have ended, up to the top of the round.
// Rounds take the same time as long as the throughput rises with the limit: in one
// that takes longer than the last the limit stays where it is until it is judged.
func (s *search) grow(n int) {
	if s.prior.tasks > 0 && s.window.time > 1.5*s.prior.time {
		s.top = min(s.top, s.limit)
	}
	s.limit = min(s.limit+growth*min(n, s.Max), max(s.limit, s.top))
}

// judgeRise ends a round whose window says enough. The limit rises on while the
// throughput rises with it, clearly so.
func (s *search) judgeRise(now time.Duration) {
	w := &s.window
	if s.limit < s.top || w.tasks < max(few, float64(s.from)/2) {
		return
	}
	if !w.valid() {
		w.open(now)
		return
	}
	r := s.read().borne()
	if s.prior.tasks == 0 {
		s.again(now, r, "tasks have ended: as many again may begin")
		return
	}
	if r.running < 1.1*s.prior.running { // for want of processors: no limit shows in that
		s.settleAt(now, r, 8, "no more run than before")
		return
	}
	e, se := elasticity(s.prior, r)
	switch {
	case math.Abs(e-worth) < se && r.tasks < 4*s.prior.tasks+few:
		return // not sure yet
	case e > worth:
		s.again(now, r, "")
	default:
		s.descend(now, r, e+se/4 < 0)
	}
}

// again begins the next round after one that showed r.
func (s *search) again(now time.Duration, r reading, reason string) {
	if reason == "" {
		reason = compared("throughput rose", s.prior, r)
	}
	s.prior = r
	if s.limit >= s.Max {
		s.settleAt(now, r, 8, reason+"; this is the maximum")
		return
	}
	top, why := s.allowed(min(2*s.limit, s.Max))
	if top <= s.limit+s.limit/8 && why != "" { // what a ceiling allows varies
		s.forbid(now, s.limit+1) // a moment in which less is in use shows nothing
		s.settleAt(now, r, 8, why)
		return
	}
	s.window.open(now)
	s.rise(s.limit, top)
	s.noted(now, r, reason)
}

// settleAt holds the limit that was reached.
func (s *search) settleAt(now time.Duration, r reading, windows int, reason string) {
	s.phase, s.hold, s.up, s.steps = Holding, windows, false, 1
	s.at, s.base = s.limit, r
	s.base.running = float64(s.limit)
	s.window.open(now)
	s.noted(now, r, reason)
}

// descend ends the rise: the throughput did not follow. It looks whether fewer do
// as well: as few as before the last round, or fewer if the throughput fell.
func (s *search) descend(now time.Duration, r reading, fell bool) {
	s.at, s.base = int(math.Round(r.running)), r
	s.up, s.steps, s.fails = false, 2, 0
	if fell {
		s.try(now, r, int(s.prior.running/2), compared("throughput fell", s.prior, r))
		return
	}
	s.try(now, r, s.from, compared("throughput did not rise", s.prior, r))
}

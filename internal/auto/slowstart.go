package auto

import (
	"math"
	"time"
)

// grow raises the limit for n finished tasks, up to the top of the round. Rounds take
// the same time as long as throughput rises with the limit. In a round that takes
// longer than the one before, the limit stays until the round is judged.
func (s *search) grow(n int) {
	if s.prior.tasks > 0 && s.window.time > 1.5*s.prior.time {
		s.top = min(s.top, s.limit)
	}
	s.limit = min(s.limit+permitsPerTask*min(n, s.Max), max(s.limit, s.top))
}

// judgeSlowStart ends a round. Slow start continues while throughput clearly rises with
// the limit.
func (s *search) judgeSlowStart(now time.Duration) {
	r := s.read().feasible()
	if s.prior.tasks == 0 {
		s.nextRound(now, r, "tasks finish: the limit may double")
		return
	}
	if r.running < 1.1*s.prior.running { // CPUs are the bottleneck: other limits cannot be told apart
		s.holdAt(now, r, "no more tasks run than before")
		return
	}
	e, se := elasticity(s.prior, r)
	switch {
	case math.Abs(e-minElasticity) < se && r.tasks < 4*s.prior.tasks+minTasks: // not sure yet
	case e > minElasticity:
		s.nextRound(now, r, compared("throughput rose", s.prior, r))
	default:
		s.endSlowStart(now, r, e+se/4 < 0)
	}
}

// nextRound starts the next round after one with the reading r.
func (s *search) nextRound(now time.Duration, r reading, reason string) {
	s.prior = r
	if s.limit >= s.Max {
		s.holdAt(now, r, reason+"; the maximum is reached")
		return
	}
	top, why := s.allowed(min(2*s.limit, s.Max))
	if top <= s.limit+s.limit/8 && why != "" { // resources vary: a moment with a little more is no reason to continue
		s.setCeiling(now, s.limit+1)
		s.holdAt(now, r, why)
		return
	}
	s.window.open(now)
	s.phase, s.from, s.top = SlowStart, s.limit, top
	s.noted(now, r, reason)
}

// holdAt holds the limit that slow start has reached.
func (s *search) holdAt(now time.Duration, r reading, reason string) {
	s.phase, s.hold, s.up, s.steps = Holding, 8, false, 1
	s.held, s.base = s.limit, r
	s.base.running = float64(s.limit)
	s.window.open(now)
	s.noted(now, r, reason)
}

// endSlowStart probes downwards, as throughput did not rise with the limit: the limit
// before the round, or half of what ran before it if throughput fell.
func (s *search) endSlowStart(now time.Duration, r reading, fell bool) {
	s.held, s.base = int(math.Round(r.running)), r
	s.up, s.steps, s.fails = false, 2, 0
	n, what := s.from, "throughput did not rise"
	if fell {
		n, what = int(s.prior.running/2), "throughput fell"
	}
	s.try(now, r, n, compared(what, s.prior, r))
}

package auto

import (
	"math"
	"time"
)

const (
	roundFactor    = 2     // of the limit: the top of the next round
	jumpFactor     = 8     // the same, when tasks took as long as before although many more ran
	jumpElasticity = 0.95  // by latency, that a jump needs
	jumpSpread     = 0.2   // of latencies, as a share of their mean: with more a jump is a gamble
	minElasticity  = 0.35  // of a round after which slow start continues
	roundLatencies = 1.5   // mean latencies that a round is measured for
	fallFactor     = 1.5   // how much longer than in the round before tasks may take to finish while the limit rises
	fallEvidence   = 1.2   // logarithm of a likelihood ratio: that tasks finish more slowly the more run
	fallErrors     = 3.7   // standard errors, and
	fallShare      = 0.3   // share of the tasks that are missing if throughput falls after the limit has risen
	fellShare      = 0.375 // of what ran before throughput fell, if it has never risen
)

// A slowStart is the state of slow start.
type slowStart struct {
	from  int     // the limit at the start of the round
	top   int     // the limit at its end
	prior reading // of the round before
	rose  bool    // throughput rose in a round
	slow  bool    // tasks finish more slowly the more run
	open  bool    // the window is to open at the next pause
	pace  pace

	latencies, before latencies // of tasks since the limit was last compared, and until then
}

// grow raises the limit for n finished tasks, up to the top of the round. When tasks finish
// more slowly than before, the limit stays until the round is judged.
func (s *search) grow(now time.Duration, n int, took time.Duration, running int) {
	r := &s.start
	r.pace.add(now, n, running)
	if s.limit < r.top {
		if r.pace.falls() || r.prior.tasks > 0 && s.slowerThan(r.prior) {
			r.top, r.slow = s.limit, true
		} else {
			s.limit = min(s.limit+permitsPerTask*min(n, s.Max), r.top)
		}
		r.open = s.limit >= r.top && r.prior.tasks > 0
	}
	if r.latencies.add(n, took, running); r.before.tasks == 0 && r.latencies.tasks >= float64(r.from) {
		r.before, r.latencies = r.latencies, latencies{}
		r.before.limit = float64(r.from)
	}
	s.jump(now)
}

// slowerThan reports whether tasks finish clearly more slowly than in r.
func (s *search) slowerThan(r reading) bool {
	w := &s.window
	return w.time > fallFactor*r.time*max(w.tasks/r.tasks, 0.5)
}

// jump ends the round early when a generation of tasks took as long as the one before,
// although many more ran: nothing is in short supply yet.
func (s *search) jump(now time.Duration) {
	r := &s.start
	l := r.latencies
	if s.limit < r.top || r.slow || r.before.tasks == 0 || l.tasks < float64(s.limit) {
		return
	}
	l.limit = float64(s.limit)
	r.latencies = latencies{}
	if e, se := l.elasticity(r.before); e-se <= jumpElasticity || l.spread() > jumpSpread || s.limit >= s.Max {
		return
	}
	r.before, r.rose = l, true
	before := s.limit
	s.nextRound(now, l.reading(), "tasks take as long as before: the limit may rise eightfold", jumpFactor)
	if s.phase == SlowStart && s.limit == before {
		s.limit, s.start.open = s.start.top, true
	}
}

// fallsEarly reports whether so few tasks have finished since the limit reached the top of
// the round that throughput has fallen.
func (s *search) fallsEarly() bool {
	r, w := &s.start, &s.window
	if r.prior.tasks == 0 || s.limit < r.top {
		return false
	}
	want := r.prior.rate() * (w.time - w.longest)
	return want-w.tasks-1 > fallErrors*math.Sqrt(want)+fallShare*want
}

// judgeSlowStart ends a round. Slow start continues while throughput clearly rises with
// the limit.
func (s *search) judgeSlowStart(now time.Duration) {
	r, prior := s.read().feasible(), s.start.prior
	if prior.tasks == 0 {
		s.nextRound(now, r, "tasks finish: the limit may double", roundFactor)
		return
	}
	if r.running < 1.1*prior.running { // CPUs are the bottleneck: other limits cannot be told apart
		if r.rate() > 0.8*prior.rate() {
			s.holdAt(now, r, "no more tasks run than before")
		} else {
			s.endSlowStart(now, r, true)
		}
		return
	}
	e, se := elasticity(prior, r)
	switch {
	case math.Abs(e-minElasticity) < se && r.tasks < 4*prior.tasks+minTasks: // not sure yet
	case e > minElasticity:
		s.start.rose = true
		s.nextRound(now, r, compared("throughput rose", prior, r), roundFactor)
	default:
		s.endSlowStart(now, r, e+se/4 < 0)
	}
}

// nextRound starts the next round after one with the reading r.
func (s *search) nextRound(now time.Duration, r reading, reason string, factor int) {
	if s.start.slow {
		s.start.slow, s.alarmed = false, !s.wasAlarmed
		s.wasAlarmed = true
		s.probeDown(now, r, max(s.Min, int(fellShare*float64(s.start.from))), "tasks finish more slowly the more run")
		return
	}
	s.start.prior = r
	s.known.put(int(math.Round(r.running)), r)
	if s.limit >= s.Max {
		s.holdAt(now, r, reason+"; the maximum is reached")
		return
	}
	top, why := s.allowed(min(factor*s.limit, s.Max))
	if top <= s.limit+s.limit/8 && why != "" { // resources vary: a moment with a little more is no reason to continue
		s.setCeiling(now, s.limit+1)
		s.holdAt(now, r, why)
		return
	}
	s.window.open(now)
	s.phase, s.start.from, s.start.top = SlowStart, s.limit, top
	s.noted(now, r, reason)
}

// holdAt holds the limit that slow start has reached.
func (s *search) holdAt(now time.Duration, r reading, reason string) {
	s.phase, s.hold, s.up, s.steps = Holding, 8, false, 1
	s.held = s.limit
	s.known.put(s.held, r)
	s.window.open(now)
	s.noted(now, r, reason)
}

// endSlowStart ends slow start, as throughput did not rise with the limit. If it fell after
// it had risen, the limit before the round is held, and probes go up from there: what was
// measured on the way up is too high, as crowds form later.
func (s *search) endSlowStart(now time.Duration, r reading, fell bool) {
	prior, running := s.start.prior, int(math.Round(r.running))
	switch {
	case fell && s.start.rose:
		s.known, s.held, s.fallen = s.known[:0], max(s.start.from, s.Min), true
		s.up, s.steps, s.fails, s.pause = true, 1, 0, 2
		s.returnToHeld(now, 1)
		s.noted(now, r, compared("throughput fell", prior, r))
	case fell:
		s.known.put(running, r)
		was := prior
		was.running = math.Round(prior.running)
		s.known.put(int(was.running), was)
		s.probeDown(now, was, max(1, int(fellShare*was.running)), compared("throughput fell", prior, r))
	default:
		s.probeDown(now, r, min(s.start.from, max(1, running/2)), compared("throughput did not rise", prior, r))
	}
}

// probeDown probes the limit n below r, which is held if that is worse.
func (s *search) probeDown(now time.Duration, r reading, n int, reason string) {
	s.held = int(math.Round(r.running))
	s.known.put(s.held, r)
	s.up, s.steps, s.fails, s.first = false, 2, 0, true
	s.try(now, r, n, reason)
}

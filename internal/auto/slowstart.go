package auto

import (
	"math"
	"time"
)

const (
	roundFactor    = 2     // of the limit: the top of the next round
	jumpFactor     = 8     // the same, when tasks took about as long as before although many more ran
	jumpElasticity = 0.85  // by latency, that a jump needs
	jumpLimit      = 32    // the least limit to jump from: a few tasks may fit where more do not
	jumpSpread     = 0.2   // of latencies, as a share of their mean: with more a jump is a gamble
	minElasticity  = 0.35  // of a round after which slow start continues
	roundLatencies = 1.5   // mean latencies that a round is measured for
	slowFactor     = 1.5   // how much longer than in the round before tasks may take to finish while the limit rises
	fallEvidence   = 0.6   // logarithm of a likelihood ratio, for an alarm: that tasks finish more slowly the more run
	topEvidence    = 4.5   // the same, at the top of a round, which will show it, too
	clearEvidence  = 2.5   // the same, for the end of an alarm: that they finish faster
	alarmTasks     = 10    // finished before an alarm by the pace
	alarmSpread    = 0.4   // of latencies, as a share of their mean: with more the pace shows it, with less late tasks do
	likeTasks      = 4     // that took about as long, before others are late
	lateFactor     = 2     // how much longer than in a queue of all that may run, for a task to be late
	lateTasks      = 3     // in a row, for an alarm
	fellShare      = 0.375 // of what ran before throughput fell, if it has never risen
)

// A slowStart is the state of slow start.
type slowStart struct {
	from  int     // the limit at the start of the round
	top   int     // the limit at its end
	prior reading // of the round before
	rose  bool    // throughput rose in a round
	tried int     // after an alarm that seemed false, the limit that was tried; there is no second alarm; 0: no alarm
	open  bool    // the window is to open at the next pause
	rises bool    // the limit has risen in this round
	pace  pace

	all               latencies // of tasks that are not late
	late              latencies // the late ones, if they finish in a row
	lateRow           int       // how often some have finished in that row
	latencies, before latencies // of tasks since the limit was last compared, and until then
}

// resumed reports whether slow start continues after an alarm that seemed false.
func (r *slowStart) resumed() bool { return r.tried > 0 }

// grow raises the limit for n finished tasks, up to the top of the round. When tasks take
// longer to finish than in the round before, the limit stays until the round is judged.
func (s *search) grow(now time.Duration, n int, took time.Duration, running int) {
	r := &s.start
	r.pace.add(now, n, running)
	switch {
	case s.limit >= r.top:
	case r.prior.tasks > 0 && s.slowerThan(r.prior):
		r.top = s.limit
	default:
		s.limit, r.rises = min(s.limit+permitsPerTask*min(n, s.Max), r.top), true
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
	return w.time > slowFactor*r.time*max(w.tasks/r.tasks, 0.5)
}

// paceFalls reports whether tasks finish more slowly the more run.
func (s *search) paceFalls() bool {
	r := &s.start
	if r.resumed() || s.limit <= s.Min || r.all.tasks < alarmTasks || r.all.spread() <= alarmSpread {
		return false
	}
	evidence := r.pace.falls()
	return evidence > topEvidence || evidence > fallEvidence && s.limit < r.top
}

// notice counts n tasks that took so long together. Where tasks took about as long, it sets
// apart those that take longer than a queue explains: such tasks finish in groups, which have
// no pace.
func (r *slowStart) notice(n int, took time.Duration, running, limit int) {
	if took == 0 { // unknown
		return
	}
	alike := r.all.tasks >= likeTasks && r.all.spread() <= alarmSpread
	if alike && float64(took) > lateFactor*float64(n)*r.all.mean()*float64(limit)/float64(r.from) {
		r.late.add(n, took, running)
		r.lateRow++
		return
	}
	r.all.merge(r.late)
	r.late, r.lateRow = latencies{}, 0
	r.all.add(n, took, running)
}

// leansDown reports whether it is more likely that tasks finish more slowly the more run.
func (r *slowStart) leansDown() bool { return r.all.spread() > alarmSpread && r.pace.falls() > 0 }

// isLate reports whether tasks take longer than a queue explains.
func (s *search) isLate() bool {
	return !s.start.resumed() && s.start.lateRow >= lateTasks && s.limit > s.Min
}

// alarm probes a lower limit. The limit that is held meanwhile was measured in this round or
// in the round before.
func (s *search) alarm(now time.Duration) {
	r := s.read()
	if p := s.start.prior; r.tasks < p.tasks {
		r = p
	}
	s.probeDown(now, r, max(s.Min, int(fellShare*float64(s.start.from))), "tasks finish more slowly the more run")
	s.alarmed = true
}

// isFalse reports whether the alarm was false: while the tasks beyond the lower limit finish,
// they do more slowly the fewer run.
func (s *search) isFalse(running int) bool {
	return s.settling > 0 && running > s.limit && s.start.pace.falls() < -clearEvidence
}

// resumeEarly ends the probe after a false alarm.
func (s *search) resumeEarly(now time.Duration) {
	r, tried := s.read(), s.limit
	s.returnToHeld(now, 1)
	s.resume(now, r, tried)
}

// resume continues slow start after a false alarm, once. r is what was measured while the limit
// tried was.
func (s *search) resume(now time.Duration, r reading, tried int) {
	if top, _ := s.allowed(min(roundFactor*s.held, s.Max)); top > s.held {
		s.settling = 0
		s.phase, s.start = SlowStart, slowStart{from: s.held, top: top, prior: r, tried: tried, pace: pace{last: now}}
	}
}

// jump ends the round early when a generation of tasks took about as long as the one before,
// although many more ran: nothing is in short supply yet.
func (s *search) jump(now time.Duration) {
	r := &s.start
	l := r.latencies
	if s.limit < max(r.top, jumpLimit) || r.before.tasks == 0 || l.tasks < float64(s.limit) {
		return
	}
	l.limit = float64(s.limit)
	r.latencies = latencies{}
	if e, se := l.elasticity(r.before); e-se <= jumpElasticity || l.spread() > jumpSpread || s.limit >= s.Max {
		return
	}
	r.before, r.rose = l, true
	before := s.limit
	s.nextRound(now, l.reading(), "tasks take about as long as before: the limit may rise eightfold", jumpFactor)
	if s.phase == SlowStart && s.limit == before {
		s.limit, s.start.open = s.start.top, true
	}
}

// beyond reports whether the limit allows more tasks than there are.
func (s *search) beyond() bool { return s.free && s.peakRunning < s.limit }

// judgeSlowStart ends a round. Slow start continues while throughput clearly rises with
// the limit.
func (s *search) judgeSlowStart(now time.Duration) {
	r, prior := s.read().feasible(), s.start.prior
	if prior.tasks == 0 && !s.start.resumed() && s.limit > s.Min && s.start.leansDown() {
		s.alarm(now)
		return
	}
	if s.beyond() {
		s.judgeAll(now, r)
		return
	}
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

// judgeAll ends slow start when the limit allows more tasks than there are. If throughput did
// not rise until all ran, or in no round before, half of them are tried.
func (s *search) judgeAll(now time.Duration, r reading) {
	prior := s.start.prior
	r.running = float64(s.peakRunning)
	if !s.start.rose {
		s.probeDown(now, r, max(1, s.peakRunning/2), "all tasks run: fewer are tried")
		return
	}
	e, se := elasticity(prior, r)
	switch {
	case math.Abs(e-minElasticity) < se && r.tasks < 4*prior.tasks+minTasks: // not sure yet
	case e > minElasticity:
		s.holdAt(now, r, compared("throughput rose until all tasks run", prior, r))
	default:
		s.endSlowStart(now, r, e+se/4 < 0)
	}
}

// nextRound starts the next round after one with the reading r.
func (s *search) nextRound(now time.Duration, r reading, reason string, factor int) {
	s.start.prior = r
	s.known.put(int(math.Round(r.running)), r)
	highest := s.highest()
	if s.limit >= highest {
		if highest < s.Max {
			reason += "; a limit above was too high"
		} else {
			reason += "; the maximum is reached"
		}
		s.holdAt(now, r, reason)
		return
	}
	top, why := s.allowed(min(factor*s.limit, highest))
	if top <= s.limit+s.limit/8 && why != "" { // resources vary: a moment with a little more is no reason to continue
		s.setCeiling(now, s.limit+1)
		s.holdAt(now, r, why)
		return
	}
	s.window.open(now)
	s.phase, s.start.from, s.start.top = SlowStart, s.limit, top
	s.noted(now, r, reason)
}

// highest returns the highest limit that slow start may reach.
func (s *search) highest() int {
	if s.ceiling > 0 {
		return min(s.ceiling-1, s.Max)
	}
	return s.Max
}

// holdAt holds the limit that slow start has reached.
func (s *search) holdAt(now time.Duration, r reading, reason string) {
	s.phase, s.hold, s.up, s.steps, s.reach = Holding, 8, false, 1, near
	s.held = s.limit
	s.known.put(s.held, r)
	s.window.open(now)
	s.noted(now, r, reason)
}

// endSlowStart ends slow start, as throughput did not rise with the limit. If it fell after
// it had risen, the limit before the round is held. If it fell after an alarm that seemed false,
// the alarm was true: the limit that was tried is held, or tried again if the alarm ended while
// more tasks ran. What was measured on the way up is forgotten in these cases: it is too high, as
// crowds form later.
func (s *search) endSlowStart(now time.Duration, r reading, fell bool) {
	prior, running, tried := s.start.prior, int(math.Round(r.running)), s.start.tried
	if !fell {
		what := "throughput did not rise"
		if r.rate() > 1.05*prior.rate() {
			what = "throughput rose too little for so many more tasks"
		}
		s.probeDown(now, r, min(s.start.from, max(1, running/2)), compared(what, prior, r))
		return
	}
	reason := compared("throughput fell", prior, r)
	if s.start.rose || s.start.resumed() {
		s.known = s.known[:0]
	}
	s.known.put(running, r)
	switch {
	case s.start.rose:
		s.fallBack(now, s.start.from, false)
		s.noted(now, r, reason)
	case !s.start.resumed():
		s.probeDown(now, prior, max(1, int(fellShare*math.Round(prior.running))), reason)
	case prior.running > float64(tried):
		s.probeDown(now, prior, tried, reason)
	default:
		s.fallBack(now, tried, true)
		s.noted(now, r, reason)
	}
}

// fallBack holds the limit n, and then probes a higher one, or a lower one.
func (s *search) fallBack(now time.Duration, n int, up bool) {
	s.held = max(n, s.Min)
	s.up, s.steps, s.reach, s.fails, s.pause = up, 1, near, 0, 2
	s.returnToHeld(now, 1)
}

// probeDown probes the limit n below r, which is held if that is worse.
func (s *search) probeDown(now time.Duration, r reading, n int, reason string) {
	s.held = int(math.Round(r.running))
	s.known.put(s.held, r)
	s.up, s.steps, s.reach, s.fails, s.alarmed = false, 2, near, 0, false
	s.try(now, r, n, reason)
}

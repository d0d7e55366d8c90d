package auto

import (
	"math"
	"time"
)

const (
	roundFactor    = 2     // of the limit: the top of the next round
	jumpFactor     = 8     // the same, when tasks took about as long as before although many more ran
	jumpLonger     = 1.1   // times as long tasks may take then
	jumpCrowd      = 1.6   // times as many are to run
	jumpLimit      = 32    // the least limit to jump from: a few tasks may fit where more do not
	jumpSpread     = 0.2   // of latencies, as a share of their mean: with more a jump is a gamble
	minElasticity  = 0.35  // of a round after which slow start continues
	roundLatencies = 1.5   // mean latencies that a round is measured for
	slowFactor     = 1.5   // how much longer than in the round before tasks may take to finish while the limit rises
	firstHold      = 8     // windows at the limit that slow start has reached
	fellShare      = 0.375 // of what ran before throughput fell, if it has never risen
)

// A slowStart is the state of slow start.
type slowStart struct {
	from    int     // the limit at the start of the round
	top     int     // the limit at its end
	prior   reading // of the round before
	rose    bool    // throughput rose in a round
	resumed bool    // after a false alarm: there is no second one
	rises   bool    // the limit has risen in this round

	alarms
	latencies, before latencies // of tasks since the limit was last compared, and until then
}

// top returns the limit at the end of the round. The maximum may be lower now than at its start.
func (s *search) top() int { return min(s.start.top, s.Max) }

// firstRound reports whether nothing was measured yet.
func (s *search) firstRound() bool { return s.phase == SlowStart && s.start.prior.tasks == 0 }

// raise raises the limit for the tasks of b if another waits, up to the top of the round. When tasks
// finish clearly more slowly than in the round before, the limit stays until the round is judged.
func (s *search) raise(b batch) {
	r := &s.start
	r.notice(b, s.limit)
	if !b.waiting {
		return
	}
	r.pace.add(b)
	if w, p := &s.window, r.prior; p.tasks > 0 && w.time > slowFactor*p.time*max(w.tasks/p.tasks, 0.5) {
		r.top = min(r.top, s.limit)
	}
	if s.limit < s.top() {
		s.limit, r.rises = min(s.limit+permitsPerTask*b.n, s.top()), true
	}
	r.latencies.add(b)
	if r.before.tasks == 0 && r.latencies.tasks >= float64(r.from) {
		r.before, r.latencies = r.latencies, latencies{}
		r.before.limit = float64(r.from)
	}
	s.jump(b.now)
}

// jump ends the round early when a generation of tasks took about as long as the one before,
// although many more ran: nothing is in short supply yet.
func (s *search) jump(now time.Duration) {
	r, l := &s.start, s.start.latencies
	if s.limit < max(s.top(), jumpLimit) || r.before.tasks == 0 || l.tasks < float64(s.limit) {
		return
	}
	l.limit = float64(s.limit)
	r.latencies = latencies{}
	if !l.like(r.before) {
		return
	}
	r.before, r.rose = l, true
	s.nextRound(now, l.reading(), "tasks take about as long as before: the limit may rise eightfold", jumpFactor)
	if s.phase == SlowStart {
		s.limit = s.start.top
	}
}

// beyond reports whether the limit allows more tasks than there are.
func (s *search) beyond() bool { return s.free && s.peakRunning < s.limit }

// judgeSlowStart ends a round. Slow start continues while throughput clearly rises with the
// limit, and until all tasks run. If it rose in no round before that, half of them are tried.
func (s *search) judgeSlowStart(now time.Duration) {
	r, prior := s.read(), s.start.prior
	all := s.beyond()
	if all {
		r.running = float64(s.peakRunning)
	}
	switch {
	case s.firstRound() && s.mayAlarm() && s.start.all.spread() > alarmSpread && s.start.pace.falls() > 0: // more likely than not
		s.alarm(now)
		return
	case all && !s.start.rose:
		s.probeDown(now, r, max(1, s.peakRunning/2), "all tasks run: fewer are tried")
		return
	case s.firstRound():
		s.nextRound(now, r, "tasks finish: the limit may double", roundFactor)
		return
	case !all && r.running < 1.1*prior.running: // CPUs are the bottleneck: other limits cannot be told apart
		s.holdAt(now, r, "no more tasks run than before")
		return
	}
	e, se := elasticity(prior, r)
	switch {
	case math.Abs(e-minElasticity) < se && r.tasks < 4*prior.tasks+minTasks: // not sure yet
	case e > minElasticity && all:
		s.holdAt(now, r, compared("throughput rose until all tasks run", prior, r))
	case e > minElasticity:
		s.start.rose = true
		s.nextRound(now, r, compared("throughput rose", prior, r), roundFactor)
	default: // also if as many ran as before
		s.endSlowStart(now, r, e+se/4 < 0)
	}
}

// nextRound starts the next round after one with the reading r, or holds the limit if a higher one
// is not allowed.
func (s *search) nextRound(now time.Duration, r reading, reason string, factor int) {
	s.start.prior = r
	s.known.put(int(math.Round(r.running)), r)
	want := min(factor*s.limit, s.highest())
	top, short := s.allowed(want)
	switch {
	case want <= s.limit && s.limit < s.Max:
		s.holdAt(now, r, reason+"; a limit above was too high")
	case want <= s.limit:
		s.holdAt(now, r, reason+"; the maximum is reached")
	case short != "" && top <= s.limit+s.limit/8: // resources vary: a moment with a little more is no reason to continue
		s.setCeiling(now, s.limit+1)
		s.holdAt(now, r, short)
	default:
		s.phase, s.start.from, s.start.top = SlowStart, s.limit, top
		s.window.open(now)
		s.noted(now, r, reason)
	}
}

// highest returns the highest limit that may be tried.
func (s *search) highest() int {
	if s.ceiling > 0 {
		return min(s.ceiling-1, s.Max)
	}
	return s.Max
}

// holdAt holds the limit that slow start has reached.
func (s *search) holdAt(now time.Duration, r reading, reason string) {
	s.phase, s.hold, s.up, s.held = Holding, firstHold, false, s.limit
	s.known.put(s.held, r)
	s.window.open(now)
	s.noted(now, r, reason)
}

// endSlowStart ends slow start, as throughput did not rise with the limit. If it fell after it had
// risen, the limit before the round is held, and what was measured on the way up is forgotten: it
// is too high, as crowds form later.
func (s *search) endSlowStart(now time.Duration, r reading, fell bool) {
	prior, running := s.start.prior, int(math.Round(r.running))
	reason := compared("throughput fell", prior, r)
	switch {
	case !fell:
		s.probeDown(now, r, min(s.start.from, max(1, running/2)), compared("throughput did not rise enough", prior, r))
	case !s.start.rose:
		s.known.put(running, r)
		s.probeDown(now, prior, max(1, int(fellShare*math.Round(prior.running))), reason)
	default:
		s.known, s.up, s.held = table{}, false, max(s.start.from, s.Min)
		s.known.put(running, r)
		s.returnToHeld(now, 1)
		s.noted(now, r, reason)
	}
}

// probeDown probes the limit n below r, which is held if that is worse.
func (s *search) probeDown(now time.Duration, r reading, n int, reason string) {
	s.held, s.alarmed = int(math.Round(r.running)), false
	s.known.put(s.held, r)
	s.try(now, n)
	s.noted(now, r, reason)
}

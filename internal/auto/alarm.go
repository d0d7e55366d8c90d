package auto

import (
	"math"
	"time"
)

const (
	fallEvidence  = 0.6 // logarithm of a likelihood ratio, for an alarm: that tasks finish more slowly the more run
	topEvidence   = 4.5 // the same, at the top of a round, which will show it, too
	clearEvidence = 2.5 // the same, for the end of an alarm: that they finish faster
	alarmTasks    = 10  // finished before an alarm by the pace
	alarmSpread   = 0.4 // of latencies, as a share of their mean: with more the pace shows it, with less late tasks do
	likeTasks     = 4   // that took about as long, before others are late
	lateFactor    = 2   // how much longer than in a queue of all that may run, for a task to be late
	lateTasks     = 3   // in a row, for an alarm
)

// An alarms is what tells early, in slow start, that a server collapses.
type alarms struct {
	pace    pace
	all     latencies // of tasks that are not late
	lateRow int       // how often late ones have finished in a row
}

// notice counts the tasks of b, under a limit that was from at the start of the round. Where tasks
// took about as long, it sets apart those that take longer than a queue explains: such tasks finish
// in groups, which have no pace.
func (r *slowStart) notice(b batch, limit int) {
	if b.took == 0 || b.assumed {
		return
	}
	alike := r.all.tasks >= likeTasks && r.all.spread() <= alarmSpread
	if alike && float64(b.took) > lateFactor*float64(b.n)*r.all.mean()*float64(limit)/float64(r.from) {
		r.lateRow++
		return
	}
	r.lateRow = 0
	r.all.add(b)
}

// mayAlarm reports whether a lower limit may be tried for an alarm.
func (s *search) mayAlarm() bool { return !s.start.resumed && s.limit > s.Min }

// paceFalls reports whether tasks finish more slowly the more run.
func (s *search) paceFalls() bool {
	r := &s.start
	if !s.mayAlarm() || r.all.tasks < alarmTasks || r.all.spread() <= alarmSpread {
		return false
	}
	evidence := r.pace.falls()
	return evidence > topEvidence || evidence > fallEvidence && s.limit < s.top()
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

// endFalseAlarm continues slow start after a false alarm. There is no second one.
func (s *search) endFalseAlarm(now time.Duration) {
	r := s.read()
	s.returnToHeld(now, 1)
	s.restart(now, "tasks finish faster the more run: the limit rises again")
	s.start.prior, s.start.resumed = r, true
}

// A pace tells whether tasks finish more slowly the more of them run. It compares how likely
// the times between finished tasks are if throughput is proportional to the number of running
// tasks, and if it is inversely proportional, with exponential times in both cases.
type pace struct {
	tasks, logs       float64 // finished, and the sum of the logarithms of how many ran then
	product, quotient float64 // sums of each time between two, times or divided by how many ran
	last              time.Duration
	running           float64
}

func (p *pace) add(b batch) {
	if gap := float64(b.now - p.last); gap > 0 {
		p.running = float64(max(1, b.running))
		p.product += gap * p.running
		p.quotient += gap / p.running
		p.last = b.now
	}
	if p.running > 0 {
		p.tasks += float64(b.n)
		p.logs += float64(b.n) * math.Log(p.running)
	}
}

// falls returns the logarithm of how much more likely the second case is.
func (p *pace) falls() float64 {
	if p.quotient == 0 {
		return 0
	}
	return p.tasks*math.Log(p.product/p.quotient) - 2*p.logs
}

// A latencies is how long tasks took, and how many ran when they finished.
type latencies struct {
	tasks, sum, squares, running float64
	limit                        float64 // that they started under
}

// add counts the tasks of b, unless it is unknown how long they took.
func (l *latencies) add(b batch) {
	if b.took > 0 {
		n, each := float64(b.n), float64(b.took)/float64(b.n)
		l.tasks += n
		l.sum += float64(b.took)
		l.squares += each * float64(b.took)
		l.running += n * float64(b.running)
	}
}

func (l latencies) mean() float64 { return l.sum / l.tasks }

// spread returns the standard deviation as a share of the mean.
func (l latencies) spread() float64 {
	m := l.mean()
	return math.Sqrt(max(0, l.squares/l.tasks/m/m-1))
}

// crowd returns how many ran while the tasks did.
func (l latencies) crowd() float64 { return min(l.limit, l.running/l.tasks) }

// reading returns the throughput by Little's law.
func (l latencies) reading() reading {
	running := l.crowd()
	return reading{tasks: l.tasks, time: l.sum / running, running: running, latency: l.mean()}
}

// like reports whether the tasks of l took about as long as those before, although many more ran.
func (l latencies) like(before latencies) bool {
	return l.spread() <= jumpSpread && l.mean() <= jumpLonger*before.mean() && l.crowd() >= jumpCrowd*before.crowd()
}

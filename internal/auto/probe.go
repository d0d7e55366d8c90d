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
	hopeErrors = 0.8  // standard errors by which a limit may be better than it was, to be probed again
	worseLoss  = 0.1  // of throughput, as a logarithm, with which a limit on the way makes a probe hopeless
	bigChange  = 0.5  // of throughput at one limit, as a logarithm: the server is another

	burstTime = float64(500 * time.Microsecond) // for which a server may do something else: noise beyond that of independent tasks

	farStep = 4 // cells to the limit that is tried after a success
)

// A probing is the state of holding and probing.
type probing struct {
	held    int   // the limit that is held
	known   table // what was measured
	up      bool  // the direction of the probe, or of the next one
	hold    int   // windows before it
	alarmed bool  // the probe is the one after an alarm
}

// judgeHold ends a window at the limit that is held.
func (s *search) judgeHold(now time.Duration) {
	s.learn(s.read())
	s.window.open(now)
	if s.hold--; s.hold <= 0 {
		s.probe(now)
	}
}

// learn adds a reading at the present limit to what is known. If it is far from what was known,
// the server is another, and nothing is known any more.
func (s *search) learn(r reading) {
	old := s.known.at(s.limit)
	if g, _ := gain(old, r); old.tasks > 0 && math.Abs(g) > max(bigChange, 4/math.Sqrt(r.tasks)) {
		s.known, s.hold, old = table{}, 0, reading{}
	}
	old.thin(4 * s.minHold())
	s.known.put(s.limit, old.merge(r))
	s.known.fade(s.limit)
}

// probe tries a limit that may be better than the one that is held: one that is known to be, or
// the first neighbour of which that is not known. If there is none, the limit stays.
func (s *search) probe(now time.Duration) {
	held, b := s.known.at(s.held), s.known.best(s.held)
	if g, se := gain(held, b); held.tasks > 0 && b.tasks > 0 && g > downLoss+se {
		s.try(now, int(b.running))
		return
	}
	for _, step := range [...]int{2, 1, farStep} {
		for range 2 {
			if n := s.neighbour(step); s.hopeful(n) {
				s.try(now, n)
				return
			}
			s.up = !s.up
		}
	}
	if s.phase == Probing {
		s.returnToHeld(now, 1)
	}
}

// neighbour returns the limit so many cells from the one that is held, or as far as is allowed.
func (s *search) neighbour(cells int) int {
	factor := math.Exp2(float64(cells) / cellsPerDouble)
	if !s.up {
		return max(s.Min, min(int(math.Round(float64(s.held)/factor)), s.held-1))
	}
	n, _ := s.allowed(min(s.highest(), max(int(math.Round(float64(s.held)*factor)), s.held+1)))
	return max(n, s.held)
}

// hopeful reports whether the limit n may be better than the one that is held: it was not measured,
// or is less well known than a probe would tell, and no limit on the way to it is worse.
func (s *search) hopeful(n int) bool {
	from, to := cellOf(s.held), cellOf(n)
	low, high := min(from, to), max(from, to)
	b := s.known.best(n)
	for i := low + 1; i < high; i++ {
		if g, se := gain(b, s.known[i]); high-low == farStep && s.known[i].tasks > 0 && g+se < -worseLoss {
			return false
		}
	}
	c := s.known[to]
	g, se := gain(b, c)
	return from != to && (c.tasks == 0 || c.tasks < s.enough()/2 && g+hopeErrors*se > s.mark(n))
}

// mark returns the gain that a limit needs.
func (s *search) mark(n int) float64 {
	if n > s.held {
		return upGain
	}
	return -downLoss
}

// enough returns the number of tasks that a probe measures at most.
func (s *search) enough() float64 { return max(4*s.minHold(), sureTasks) }

// try probes the limit n.
func (s *search) try(now time.Duration, n int) {
	s.phase, s.up = Probing, n > s.held
	s.move(now, clamp(s.Min, n, s.Max))
}

// judgeProbe compares the limit that is tried with the best that is known, and ends the
// probe when the comparison is clear, or after many tasks. Some seem enough for a lower limit
// after an alarm, which has shown already that fewer are better.
func (s *search) judgeProbe(now time.Duration) {
	r, b, mark := s.read(), s.known.best(s.limit), s.mark(s.limit)
	enough, doubt := s.enough(), 0.0
	if s.alarmed {
		enough, doubt = s.minHold(), alarmDoubt
	}
	all := s.known.at(s.limit).merge(r)
	g, se := gain(b, all)
	se = math.Hypot(se, math.Sqrt(burstTime/r.time))
	sure := math.Abs(g-mark) >= sureErrors*se || r.tasks >= enough && r.time >= float64(minWindowTime)
	switch {
	case b.tasks == 0 || sure && g+doubt*se > mark:
		s.accept(now, r, all)
	case sure:
		s.reject(now, r)
	}
}

// accept holds the limit that was tried, with the reading r, and probes further in the same
// direction.
func (s *search) accept(now time.Duration, r, all reading) {
	what := "a lower limit is as good"
	if s.up {
		what = "a higher limit is better"
	}
	all.running = float64(s.limit)
	reason := compared(what, s.known.at(s.held), all)
	s.learn(r)
	s.held, s.alarmed = s.limit, false
	s.noted(now, r, reason)
	if n := s.neighbour(farStep); s.hopeful(n) {
		s.try(now, n)
		return
	}
	s.probe(now)
}

// reject returns to the limit that is held, and probes the other direction next.
func (s *search) reject(now time.Duration, r reading) {
	s.learn(r)
	s.up = !s.up
	s.returnToHeld(now, 1)
}

// returnToHeld returns to s.held, for the given number of windows before the next probe.
func (s *search) returnToHeld(now time.Duration, hold int) {
	s.phase, s.hold, s.alarmed = Holding, hold, false
	s.move(now, s.held)
}

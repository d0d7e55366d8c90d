package auto

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// The constants of the search were chosen by the plants in the tests.
const (
	// worth is the elasticity from which on more workers are worth having: one
	// percent more of them give a fifth of a percent more throughput.
	worth = 0.2
	slack = 0.1 // around worth, in which a probe changes nothing

	share  = 3 // of Burst, the tasks that begin before any has ended
	growth = 3 // tasks that may begin for one that has ended, while the limit rises

	few    = 6  // tasks that say something
	enough = 32 // tasks in a window while the limit stays
	longer = 16 // windows between probes that change nothing, at most

	stuck   = 500 * time.Millisecond // without the end of a task, after which more may begin
	beyond  = 4                      // times Burst: how many may, for that reason, if none has ended ever
	twice   = 2                      // times the limit when the last has ended: how many otherwise
	backoff = 0.7                    // of the limit is left after an overload
	refusal = 20                     // of so many tasks one may be refused, without a conclusion
	shortly = time.Second            // for which a roof is remembered at first
	longest = 10 * time.Second       // and at last, when it is met again and again
)

// A search finds a limit: from the ends of tasks it sees how the throughput follows
// the limit, and changes the limit. It has no clock and no lock of its own.
type search struct {
	Config
	room func(now, want int) (most int, reason string) // nil: no ceiling
	note func(now time.Duration, throughput float64, reason string)

	limit  int
	phase  Phase
	latest float64 // throughput in the last window, in tasks a second
	window window
	began  bool          // a task has ended since the start
	last   time.Duration // when a task ended, or the period began
	since  time.Duration // when the period began
	settle int           // tasks still to end before the window opens: those of the limit before
	proven int           // the limit when a task ended last
	kept   int           // the limit to go back to when a task ends: it was raised while none did; 0: none

	// while rising
	from  int     // the limit at the start of the round
	top   int     // the limit at its end
	prior reading // of the round before

	// while holding and probing
	at    int     // the limit that holds
	base  reading // there
	up    bool    // which way the next probe goes
	steps int     // how far: the limit is doubled or halved by two
	hold  int     // windows until then
	pause int     // windows to hold when the probes both ways have failed
	fails int     // probes in a row that changed nothing
	told  bool    // that the limit is being tried

	roof          int           // a limit under which there was an overload, or that a ceiling forbade; 0: none
	until         time.Duration // when that is tried again
	wait          time.Duration // from then to now
	ends, refused int           // tasks, of the last so many as the limit
	mild          int           // tasks that ended by an overload, and are yet to be counted as ended
}

// Start is the limit before anything is known.
func (c Config) Start() int {
	return between(c.Min, max(c.Burst/share, min(c.Procs+1, c.Burst)), c.Max)
}

func between(low, n, high int) int { return max(low, min(n, high)) }

func (s *search) begin() {
	s.limit = s.Start()
	top, _ := s.allowed(between(s.Min, s.Burst, s.Max))
	s.rise(s.limit, top)
	s.pause = 2
}

// ended takes in that n tasks have ended, which took so long together, with so many
// running; waiting says whether more could run.
func (s *search) ended(now time.Duration, n int, took time.Duration, running int, waiting bool) {
	s.last = now
	s.restore(now)
	s.retry(now)
	if n -= s.overloads(n); n == 0 {
		return // overloads are no throughput
	}
	if !s.began {
		s.began = true
		s.window.open(now)
	}
	early := s.phase == Rising && s.prior.tasks == 0
	if s.window.pause(now) {
		s.judge(now)
	}
	s.proven = s.limit
	at := s.limit
	if s.phase == Rising {
		at = s.from
	}
	taken := running >= at*8/10
	full := waiting && taken
	m, within := s.window.share(n, took)
	s.window.add(m, running, within, full)
	if took == 0 && early { // it has run since then, or longer
		s.window.suppose(n, now-s.since)
	}
	if !waiting && !taken {
		s.window.broken = true
	}
	if full && s.phase == Rising && s.settle == 0 {
		s.grow(n)
	}
}

// judge is called where a window may end.
func (s *search) judge(now time.Duration) {
	switch {
	case s.settle > 0:
		if int(s.window.tasks) >= s.settle {
			s.settle = 0
			s.window.open(now)
		}
	case s.phase == Rising:
		s.judgeRise(now)
	case s.phase == Holding:
		s.judgeHold(now)
	case s.phase == Probing:
		s.judgeProbe(now)
	}
}

// read returns what the window shows.
func (s *search) read() reading {
	r := s.window.reading()
	if x := r.told(); x > 0 {
		s.latest = x
	}
	return r
}

func (s *search) noted(now time.Duration, r reading, reason string) {
	if s.note != nil {
		s.note(now, r.told(), reason)
	}
}

// compared says what a saw and what b saw, as far as that is known.
func compared(what string, a, b reading) string {
	switch x, y := a.told(), b.told(); {
	case y == 0:
		return what
	case x == 0:
		return fmt.Sprintf("%s: %s a second with %.0f", what, plain(y), math.Ceil(b.running))
	default:
		return fmt.Sprintf("%s: %s a second with %.0f, %s with %.0f",
			what, plain(x), math.Ceil(a.running), plain(y), math.Ceil(b.running))
	}
}

// plain returns x for people: no exponent, and no more digits than are of use.
func plain(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

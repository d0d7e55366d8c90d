package auto

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// The constants were chosen by a random search on simulated workloads; note 0014 says how.
const (
	startShare       = 3                      // of Burst: the limit starts at a third of it
	permitsPerTask   = 3                      // added by a finished task during slow start
	minTasks         = 6                      // in a window of slow start; in a probe twice as many
	minHoldTasks     = 32                     // in a window while the limit stays
	maxPause         = 16                     // windows between probes that fail
	minWindowTime    = 10 * time.Millisecond  // of a window while the limit stays, and of a comparison that is not clear: machines do other things for as long
	settleShare      = 0.5                    // of the tasks that may run: how many finish before a window opens
	stallTime        = 500 * time.Millisecond // without a finished task, after which the limit may rise
	stallBurstFactor = 4                      // of Burst: the limit that stalls reach before the first task has finished
	stallFactor      = 2                      // of the limit: what stalls reach later
	backoffFactor    = 0.7                    // of the limit: what a backoff leaves
	overloadShare    = 20                     // of tasks: one of so many may be overloaded
	sameShare        = 0.8                    // of the share of overloaded tasks before, with which a quarter of the limit has not helped: of load, little would be left
	tolerantTime     = time.Minute            // for which more may be overloaded then
	climbTime        = time.Second            // in which a ceiling that was met again rises by
	climbShare       = 8                      // one of so many: less than the growth of a fifth that some servers refuse
	minCeilingTime   = time.Second            // for which a ceiling holds at first
	maxCeilingTime   = 10 * time.Second       // for which one holds at most, and after whose end the next is no repetition
)

// A search adapts a limit to the throughput of tasks. It has no clock and no lock.
type search struct {
	Config
	allow       func(now, want int) (n int, reason string) // what resources allow; nil: anything
	note        func(now time.Duration, throughput float64, reason string)
	limit       int
	phase       Phase
	throughput  float64 // tasks a second, in the last window
	window      window
	unused      int           // tasks that finished in a row while permits were free
	failures    int           // tasks that failed in a row
	free        bool          // so many that the window is suspended
	peakRunning int           // tasks that ran at once since it was resumed last
	heldSince   time.Duration // when a task began to wait after permits were free
	started     bool          // a task has finished
	last        time.Duration // when a task finished last, or the period began
	since       time.Duration // when the period began
	settling    int           // tasks still to finish before the window opens: they started under another limit
	draining    int           // the limit before the last move; the tasks beyond a lower limit are to finish before settling
	drained     float64       // tasks that have finished meanwhile
	stale       int           // tasks still to finish that started before the last backoff
	proven      int           // the limit when a task finished last
	beforeStall int           // the limit to return to when a task finishes; 0: no stall
	start       slowStart     // slow start

	// holding and probing
	held       int   // the limit that is held
	known      table // what was measured
	up         bool  // the direction of the next probe
	steps      int   // its distance: a factor of 2 is two steps
	hold       int   // windows before it
	pause      int   // windows to hold after probes in both directions have failed
	fails      int   // probes in a row that have failed
	alarmed    bool  // the probe is the one after an alarm
	reach      reach // of the probes
	wentUp     bool  // the last probe that was accepted was higher
	probeNoted bool  // the limit that is tried was noted

	ceiling     int           // no probe reaches this limit, as it overloaded or was not allowed; 0: none
	retryAt     time.Duration // when the ceiling is lifted
	ceilingTime time.Duration // for which it holds
	rises       bool          // it has risen
	fell        int           // the limit that met it first
	backoffs    uint64        // so far
	overload    overload
}

// Start returns the limit before anything is measured.
func (c Config) Start() int {
	return clamp(c.Min, max(c.Burst/startShare, min(c.Procs+1, c.Burst)), c.Max)
}

func clamp(low, n, high int) int { return max(low, min(n, high)) }

func (s *search) begin() {
	s.limit = s.Start()
	top, _ := s.allowed(clamp(s.Min, s.Burst, s.Max))
	s.phase, s.pause = SlowStart, 2
	s.start = slowStart{from: s.limit, top: top}
}

// finished counts n tasks that have not failed, which took so long together, 0 if unknown. running
// tasks were running, and waiting reports whether another one could have run.
func (s *search) finished(now time.Duration, n int, took time.Duration, running int, waiting bool) {
	s.ended(now, n)
	s.failures = 0
	if s.ceiling > 0 && now >= s.retryAt { // not before a task succeeds: an outage is over then
		s.raiseCeiling(now)
	}
	if !s.started {
		s.started = true
		s.window.open(now)
	}
	used := s.uses(running, waiting) && (waiting || took > 0)
	if s.unused += n; used {
		s.unused = 0
	}
	assumed := took
	if took == 0 {
		assumed = now - s.since
	}
	if last := running <= 1; 5*s.unused > s.limit && (s.settling == 0 || last) || s.free && !used {
		s.notCounted(now, n, assumed, running)
		return
	}
	if s.free {
		s.resumeAt(now, now-assumed, running, waiting)
	}
	first := s.phase == SlowStart && s.start.prior.tasks == 0
	if s.phase == SlowStart && s.start.open && now > s.window.last { // tasks that finish together stay together
		s.start.open = false
		s.window.open(now)
	}
	if s.window.pause(now, running) {
		s.judge(now, running)
	}
	if s.alarmed && s.settling > 0 && running > s.limit {
		s.start.pace.add(now, n, running)
	}
	s.proven = s.limit
	s.peakRunning = max(s.peakRunning, running)
	s.window.add(now, n, running, took, assumed, used)
	rises := used && s.phase == SlowStart && s.settling == 0
	if rises {
		s.start.notice(n, took, running, s.limit)
	}
	if took == 0 && first { // a task has run since the period began, or longer
		took = time.Duration(n) * (now - s.since)
		s.window.assumed.add(n, took)
	}
	if rises && waiting {
		s.grow(now, n, took, running)
	}
}

// uses reports whether as many tasks run as show what the limit does. If it was raised, they
// show it even if none waits.
func (s *search) uses(running int, waiting bool) bool {
	at := s.limit
	switch {
	case s.phase == SlowStart:
		at = s.start.from
	case s.phase == Probing && s.up: // which ends even if no more tasks run than before
		at = min(at, s.held)
	case !waiting:
		return false
	}
	if !waiting {
		at = max(at, s.peakRunning)
	}
	return running >= at*8/10
}

// notCounted is finished for tasks that finish while permits are free.
func (s *search) notCounted(now time.Duration, n int, took time.Duration, running int) {
	s.proven = s.limit
	if !s.free {
		s.free = true
		s.window.suspend()
		if s.phase == SlowStart && s.start.rises { // it was measured while the limit rose
			s.start.rises = false
			s.window.open(now)
		}
	}
	s.window.addCut(now, n, took)
	if running <= 1 {
		s.rest(now)
	}
}

// rest judges the window that was cut: all its tasks have finished. Those that come next start
// under the limit that follows.
func (s *search) rest(now time.Duration) {
	if s.settling == 0 && s.window.size() > 0 {
		s.judge(now, 0)
	}
	if s.settling > 0 {
		s.settling = 0
		s.window.open(now)
	}
	s.free, s.window.lost = true, math.Inf(1)
}

// suspend suspends the window, as the period has ended.
func (s *search) suspend(now time.Duration) {
	if !s.free {
		s.free = true
		s.window.suspend()
	}
	s.start.pace.last = now
}

// resumeAt makes the window count from the time on at which a task began to wait, or if none
// waits, at which the first task that finishes began.
func (s *search) resumeAt(now, began time.Duration, running int, waiting bool) {
	if s.window.size() > 0 && s.window.lost >= float64(running) {
		s.judge(now, running)
	}
	if waiting {
		began = s.heldSince
	} else {
		s.window.lost = math.Inf(1)
	}
	s.free, s.peakRunning = false, 0
	if s.settling > 0 {
		return
	}
	s.window.resume(began, running)
	s.start.pace.last = max(s.start.pace.last, began)
}

// judge is called when the window may end.
func (s *search) judge(now time.Duration, running int) {
	switch {
	case s.phase == SlowStart && s.isLate():
		s.start.pace = pace{last: now}
		s.alarm(now)
	case s.phase == SlowStart && s.paceFalls():
		s.alarm(now)
	case s.alarmed && s.isFalse(running):
		s.resumeEarly(now)
	case s.phase == Probing && s.up && s.unused == 0 && !s.window.isCut && s.harms():
		s.reject(now, s.readProbe(), s.known.at(s.held), s.readProbe())
	case s.settling > 0:
		s.settle(now, running)
	case s.window.size() < s.minWindow():
	case s.phase == SlowStart && !s.window.lasts(roundLatencies):
	case s.phase == Holding && s.window.time < float64(minWindowTime):
	case s.phase == SlowStart:
		s.judgeSlowStart(now)
	case s.phase == Holding:
		s.judgeHold(now)
	case s.phase == Probing:
		s.judgeProbe(now)
	}
}

// settle opens the window when the tasks beyond a lower limit and some more have finished.
// Tasks of nested calls may exceed the limit for long.
func (s *search) settle(now time.Duration, running int) {
	if s.limit < s.draining && running > s.limit && int(s.window.tasks) < 2*s.draining {
		s.drained = s.window.tasks
		return
	}
	if int(s.window.tasks-s.drained) >= s.settling {
		s.settling = 0
		s.window.open(now)
	}
}

// minWindow returns the number of tasks that a window needs.
func (s *search) minWindow() float64 {
	switch s.phase {
	case SlowStart:
		if s.limit < s.start.top && !s.beyond() {
			return math.Inf(1)
		}
		return max(minTasks, float64(s.start.from)/2)
	case Probing:
		if !s.up { // a whole group: in the time of half of one a lower limit may seem as good
			return max(2*minTasks, float64(s.limit))
		}
		return max(2*minTasks, float64(s.limit)/2)
	}
	return s.minHold()
}

func (s *search) minHold() float64 { return max(minHoldTasks, 2*float64(s.limit)) }

// move changes the limit. The window opens when the tasks of the old limit have
// finished.
func (s *search) move(now time.Duration, n int) {
	n = clamp(s.Min, n, s.Max)
	settling := n // as in a crowd that grows, tasks are slow only later
	if n < s.limit {
		settling = max(1, int(settleShare*float64(n)))
	}
	s.draining, s.drained = s.limit, 0
	s.settling, s.limit, s.peakRunning = settling, n, 0
	s.window.open(now)
}

// allowed returns the largest limit up to n that resources allow, and why it is less
// than n.
func (s *search) allowed(n int) (int, string) {
	if s.allow == nil || n <= s.limit {
		return n, ""
	}
	return s.allow(s.limit, n)
}

// read returns the reading of the window.
func (s *search) read() reading {
	r := s.window.reading()
	if x := r.reported(); x > 0 {
		s.throughput = x
	}
	return r
}

func (s *search) noted(now time.Duration, r reading, reason string) {
	if s.note != nil {
		s.note(now, r.reported(), reason)
	}
}

// compared appends to what the throughputs of a and b, as they were compared, and the standard
// error of the comparison. Where Little's law allows no such throughput, both are lower by the
// same factor. Nothing is appended if a latency is unknown.
func compared(what string, a, b reading) string {
	if a.reported() == 0 || b.reported() == 0 {
		return what
	}
	f := float64(time.Second) * min(1, a.feasible().rate()/a.rate(), b.feasible().rate()/b.rate())
	_, se := gain(a, b)
	return fmt.Sprintf("%s: %s/s at %.0f, %s/s at %.0f (±%.0f %%)", what,
		formatRate(f*a.rate()), math.Ceil(a.running), formatRate(f*b.rate()), math.Ceil(b.running), math.Ceil(100*se))
}

// formatRate formats x with three significant digits or more, and commas between thousands.
func formatRate(x float64) string {
	if x < 99.95 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	text := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

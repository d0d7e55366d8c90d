package auto

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// The constants were chosen by a random search on simulated workloads; note 0014 says how.
const (
	startShare     = 3                     // of Burst: the limit starts at a third of it
	permitsPerTask = 3                     // added by a finished task during slow start
	minTasks       = 6                     // in a window of slow start; in a probe twice as many
	minHoldTasks   = 32                    // in a window while the limit stays
	minWindowTime  = 10 * time.Millisecond // of a window while the limit stays, and of a comparison that is not clear: machines do other things for as long
)

// A search adapts a limit to the throughput of tasks. It has no clock and no lock.
type search struct {
	Config
	allow func(now, want int) (n int, reason string) // what resources allow; nil: anything
	note  func(now time.Duration, throughput float64, reason string)

	limit      int     // that the search wants; the limiter has the nearest within the bounds
	paused     bool    // the bounds are 0; Min and Max are those before
	throughput float64 // tasks a second, in the last window
	window     window
	permits
	settlement
	stall
	phases
	ceilings
	overload overload
}

// A phases is the phase of a search with its state.
type phases struct {
	phase Phase
	start slowStart
	probing
}

// A batch is n tasks of a worker that have finished one after the other, the last one now, and
// have not failed.
type batch struct {
	now     time.Duration
	n       int
	took    time.Duration // in total; 0: unknown
	assumed bool          // they took as long at least
	running int           // tasks, until now
	waiting bool          // another one could have run
}

// A permits tells whether permits are free: throughput does not show then what the limit does.
type permits struct {
	unused      int  // tasks that finished in a row while permits were free
	failures    int  // tasks that failed in a row
	free        bool // so many that the window is suspended
	peakRunning int  // tasks that ran at once since it was resumed last
}

// A settlement is the time after a move, in which tasks finish that started under another limit.
type settlement struct {
	settling int     // tasks still to finish before the window opens
	draining int     // the limit before the move; the tasks beyond a lower limit are to finish before settling
	drained  float64 // tasks that have finished meanwhile
}

// Start returns the limit before anything is measured.
func (c Config) Start() int {
	return clamp(c.Min, max(c.Burst/startShare, min(c.Procs+1, c.Burst)), c.Max)
}

func clamp(low, n, high int) int { return max(low, min(n, high)) }

func (s *search) begin() {
	s.limit = s.Start()
	top, _ := s.allowed(clamp(s.Min, s.Burst, s.Max))
	s.phase, s.start = SlowStart, slowStart{from: s.limit, top: top}
}

// finished counts the tasks of b.
func (s *search) finished(b batch) {
	s.ended(b.now, b.n)
	s.failures = 0
	if !s.started {
		s.started = true
		s.window.open(b.now)
	}
	if s.isBound() { // throughput does not show what the limit does
		s.suspend(b.now)
		return
	}
	if s.ceiling > 0 && b.now >= s.retryAt { // not before a task succeeds: an outage is over then
		s.raiseCeiling(b.now)
	}
	used := s.used(b)
	if s.unused += b.n; used {
		s.unused = 0
	}
	if b.took == 0 && s.firstRound() {
		b.took, b.assumed = time.Duration(b.n)*(b.now-s.since), true
	}
	if s.permitsFree(b, used) {
		s.countFree(b)
		return
	}
	if s.free {
		s.resume(b)
	}
	s.count(b, used)
}

// used reports whether the tasks of b ran while so many did that they show what the limit does:
// all that may, or in a round of slow start and in a probe of a higher limit as many as before.
// Then none needs to wait.
func (s *search) used(b batch) bool {
	at := s.limit
	switch {
	case s.phase == SlowStart:
		at = s.start.from
	case s.phase == Probing && s.up:
		at = min(at, s.held)
	case !b.waiting:
		return false
	}
	if !b.waiting {
		at = max(at, s.peakRunning)
	}
	return b.running >= at*8/10 && (b.waiting || b.took > 0)
}

// permitsFree reports whether the tasks of b show nothing: a fifth of the limit has finished while
// permits were free. When tasks are to settle, only the last one ends that.
func (s *search) permitsFree(b batch, used bool) bool {
	if s.free {
		return !used
	}
	return 5*s.unused > s.limit && (s.settling == 0 || b.running <= 1)
}

// count counts the tasks of b, which used the limit or not, as throughput. The window may end before
// them: tasks that finish together stay together.
func (s *search) count(b batch, used bool) {
	if s.window.pause(b.now, b.running) {
		s.judge(b.now, b.running)
	}
	s.window.add(b, used)
	s.peakRunning = max(s.peakRunning, b.running)
	switch {
	case s.alarmed && s.settling > 0 && b.running > s.limit:
		s.start.pace.add(b)
	case s.phase == SlowStart && s.settling == 0 && used:
		s.raise(b)
	}
}

// countFree counts the tasks of b, which finish while permits are free.
func (s *search) countFree(b batch) {
	s.suspend(b.now)
	if s.phase == SlowStart && s.start.rises { // it was measured while the limit rose
		s.start.rises = false
		s.window.open(b.now)
	}
	s.window.addFree(b)
	if b.running <= 1 {
		s.rest(b.now)
	}
}

// suspend suspends the window: permits are free, or nothing is counted from now on.
func (s *search) suspend(now time.Duration) {
	if !s.free {
		s.free = true
		s.window.suspend()
	}
	s.start.pace.last = now
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
	s.free = true
}

// resume makes the window go on from the time on at which the first task of b began: all permits
// are held again.
func (s *search) resume(b batch) {
	s.free, s.peakRunning = false, 0
	if s.settling > 0 {
		return
	}
	began := b.now - b.took
	if b.took == 0 {
		began = s.since
	}
	s.window.resume(began)
	s.start.pace.last = max(s.start.pace.last, s.window.last)
}

// judge is called when the window may end.
func (s *search) judge(now time.Duration, running int) {
	switch {
	case s.isBound():
	case s.phase == SlowStart && s.mayAlarm() && s.start.lateRow >= lateTasks: // a queue does not explain it
		s.start.pace = pace{last: now}
		s.alarm(now)
	case s.phase == SlowStart && s.paceFalls():
		s.alarm(now)
	case s.alarmed && s.isFalse(running):
		s.endFalseAlarm(now)
	case s.settling > 0:
		s.settle(now, running)
	case s.window.size() < s.minWindow():
	case s.phase == SlowStart && s.window.lasts(roundLatencies):
		s.judgeSlowStart(now)
	case s.phase == Holding && s.window.time >= float64(minWindowTime):
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
		if s.limit < s.top() && !s.beyond() {
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

// move changes the limit. The window opens when the tasks of the old limit have finished, and
// half as many as may run.
func (s *search) move(now time.Duration, n int) {
	s.draining, s.drained, s.settling = s.limit, 0, max(1, n/2)
	s.limit, s.peakRunning, s.beforeStall = n, 0, 0
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

// Package auto finds the limit of concurrent tasks that gives the most throughput. See
// README.md for the states and the races.
package auto

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Limiter has the limit that a Controller changes. The Controller may call both
// methods with its lock held.
type Limiter interface {
	Set(n int)                         // changes the limit
	Load() (running int, waiting bool) // tasks that run, and whether one waits for a permit
	Idle() bool                        // whether no task runs; any lock may be held
	// Nested reports whether tasks of calls wait that share the limiter because they are nested.
	// Exceed starts at most n of them, beyond the limit.
	Nested() bool
	Exceed(n int)
}

// Config bounds a search.
type Config struct {
	Min, Max int
	Burst    int // tasks that may start before one has finished; a third of them at once
	Procs    int // CPUs; at least one task more starts at once, if Burst allows

	Overload func(error) bool // identifies errors caused by excess load; nil: none is
}

// A Controller adapts the limit of a Limiter. It costs nothing until a task waits for a
// permit: only then are finished tasks counted. Call Init before use, and Close.
type Controller struct {
	config  Config
	limiter Limiter
	refused atomic.Bool  // a task was refused a permit instead of waiting, and nobody has looked since
	demand  atomic.Int32 // goroutines that hold back tasks
	ended   atomic.Bool  // by Fix or Close, or from the start: the search changes nothing; written with both locks held

	mu     sync.Mutex
	search *timedSearch // nil until a task waits

	period
}

// A timedSearch is a search with a clock. It is guarded by the lock of its Controller.
type timedSearch struct {
	search
	set       int // the limit that the limiter has
	epoch     time.Time
	period    uint32 // of the window
	clock     uint32 // of the epoch
	idleTicks int    // in a row that found free permits
	idleTasks int    // finished in a row while no task waited
	changes   []Change
	resources resources
	checked   time.Duration // when memory was checked last
}

const (
	maxChanges     = 64                     // in the history
	maxIdleTicks   = 20                     // that find free permits although a task waits, as workers are on their way; or that none waits
	exceedTime     = 5 * time.Second        // without a finished task, after which tasks of nested calls start beyond the limit, or it is told
	memoryInterval = 100 * time.Millisecond // between checks of memory
)

// Init prepares c for l, whose limit is config.Start().
func (c *Controller) Init(config Config, l Limiter) { c.config, c.limiter = config, l }

// InitFixed prepares c for l, whose limit is n and is not searched for.
func (c *Controller) InitFixed(n int, l Limiter) {
	c.Init(Config{Min: n, Max: n}, l)
	c.ended.Store(true)
}

// Refused tells c that a task was refused a permit. The task counts as waiting until the next task
// finishes or the next tick, unless no task runs any more.
func (c *Controller) Refused() {
	c.refused.Store(true)
	c.NotifyWaiting()
	c.NotifyIdle()
}

// load returns how many tasks run, and whether one waits, or was refused since the last look.
func (c *Controller) load() (running int, waiting bool) {
	running, waiting = c.limiter.Load()
	return running, c.refused.Swap(false) || waiting || c.demand.Load() > 0
}

// endPeriodLocked ends the period as no task waits. It looks again afterwards: a task may
// have started to wait and found c active.
func (c *Controller) endPeriodLocked() {
	c.stopLocked(false)
	if s := c.search; s != nil {
		s.suspend(s.last)
	}
	c.lookAgain()
}

// lookAgain makes c active if a task waits and others run.
func (c *Controller) lookAgain() {
	if running, waiting := c.limiter.Load(); (waiting || c.demand.Load() > 0) && running > 0 {
		c.NotifyWaiting()
	}
}

// applyLocked gives the limiter the limit within its bounds, if that has changed.
func (c *Controller) applyLocked() {
	s := c.search
	if n := s.within(s.limit); s.set != n {
		s.set = n
		c.limiter.Set(n)
	}
}

// tick checks whether tasks still finish. It arms the timer again unless the period has
// ended, or no more tasks may start until one finishes.
func (c *Controller) tick(arming uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fired(arming) {
		return
	}
	s, now := c.currentLocked()
	running, waiting := c.load()
	if running == 0 || !waiting && s.overload.excess == 0 && s.overdue(now) { // the tasks that were cut count, and those beside overloaded ones
		c.endPeriodLocked()
		return
	}
	s.idleTicks++
	if waiting && running >= s.limit && !s.isBound() {
		s.idleTicks = 0
		if !c.unblockLocked(now) {
			return
		}
	}
	if s.idleTicks <= maxIdleTicks {
		c.keepTimer()
	}
}

// unblockLocked starts more tasks if none has finished for some time: those that hold all permits
// may wait for others. It reports whether it may start more later; if not, it has told what helps.
func (c *Controller) unblockLocked(now time.Duration) bool {
	s := c.search
	long := now-s.last >= exceedTime
	switch overdue := s.overdue(now); {
	case overdue && s.stalled(now):
		c.applyLocked()
	case c.limiter.Nested():
		if long {
			s.exceeded(now)
			c.applyLocked()
			c.limiter.Exceed(max(1, s.limit/8))
		}
	case overdue && long:
		s.record(now, 0, fmt.Sprintf("no task has finished for %v: tasks that stay, or wait for each other, need a Limit with room for all",
			(now-s.last).Truncate(time.Second)))
		return false
	}
	return true
}

// currentLocked returns the search, which it starts if necessary, and the time on its clock.
func (c *Controller) currentLocked() (*timedSearch, time.Duration) {
	s := c.search
	period, clock, start := c.period.now()
	if s != nil && period == s.period && clock == s.clock {
		return s, time.Since(s.epoch)
	}
	if period == 0 { // Overload or Fix, or a task that finishes after the period
		start = time.Now()
	}
	if s == nil {
		s = &timedSearch{epoch: start}
		s.Config, s.note, s.allow = c.config, s.record, s.resources.room
		s.begin()
		s.set = s.limit
		if c.ended.Load() {
			s.phase = Fixed
		}
		if c.Active() {
			s.record(0, 0, "all permits are held: the limit rises as tasks finish")
		}
		c.search = s
	}
	if start.Before(s.epoch.Add(s.last)) { // the clock of another bubble
		s.epoch = start.Add(-s.last)
	}
	s.since = start.Sub(s.epoch)
	s.last = max(s.last, s.since)
	s.suspend(s.last)
	if clock != s.clock {
		s.rest(s.last)
		c.applyLocked()
	}
	s.period, s.clock = period, clock
	return s, time.Since(s.epoch)
}

// finishedLocked counts n finished tasks, some of which have failed. took is their total duration,
// 0 if unknown.
func (c *Controller) finishedLocked(n, failed int, took time.Duration) {
	if c.ended.Load() {
		return
	}
	c.keepTimer()
	s, now := c.currentLocked()
	running, waiting := c.load()
	switch s.idleTasks += n; {
	case waiting:
		s.idleTasks = 0
	case s.idleTasks > 4*max(running, s.peakRunning)+64:
		s.idleTasks = 0
		c.endPeriodLocked()
		return
	}
	s.idleTicks = 0
	waiting = waiting || !s.free && s.idleTasks <= running // tasks may be on their way to a raised limit
	each := took / time.Duration(n)
	if failed > 0 {
		s.failed(now, failed, each*time.Duration(failed))
	}
	if m := n - failed; m > 0 {
		s.finished(batch{now: now, n: m, took: each * time.Duration(m), running: running, waiting: waiting})
	}
	if now-s.checked >= memoryInterval {
		s.checked = now
		if s.limit > s.Min && s.resources.memoryShort() {
			s.backOff(now, "memory is short")
		}
	}
	c.applyLocked()
}

// Finished counts a finished task that has no Sampler. took is its duration, 0 if unknown.
func (c *Controller) Finished(failed bool, took time.Duration) {
	n := 0
	if failed {
		n = 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishedLocked(1, n, took)
}

// record appends a change to the history. A limit that is only tried is none.
func (s *timedSearch) record(now time.Duration, throughput float64, reason string) {
	limit := s.limit
	if s.phase == Probing {
		limit = s.held
	}
	limit = s.within(limit)
	s.changes = append(s.changes, Change{s.epoch.Add(now), limit, throughput, reason})
	s.changes = s.changes[max(0, len(s.changes)-maxChanges):]
}

// Failed tells c of the error of a task, which may be caused by excess load. It calls
// Config.Overload.
func (c *Controller) Failed(err error) {
	if is := c.config.Overload; is != nil && is(err) {
		c.Overload(0)
	}
}

// Overload tells c that a task has failed because of excess load. If the limit falls for that,
// or has fallen while the task ran, it stays lower for at least the given time. The task is then
// counted like any other that has failed, and so are the tasks after it, even if none waits: how
// many of them are overloaded matters.
func (c *Controller) Overload(atLeast time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.Load() {
		return
	}
	c.currentLocked()
	if !c.Active() {
		c.NotifyWaiting()
	}
	s, now := c.currentLocked()
	s.overloaded(now, now+atLeast)
	c.applyLocked()
}

// State returns the state of c.
func (c *Controller) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.search; s != nil {
		return State{s.phase, s.throughput, s.backoffs, slices.Clone(s.changes)}
	}
	return State{}
}

// Fix sets the limit by hand, and ends the search and the bounds.
func (c *Controller) Fix(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, now := c.currentLocked()
	s.phase, s.limit, s.Min, s.Max, s.paused = Fixed, n, n, n, false
	c.applyLocked()
	s.record(now, 0, "set by hand")
	c.stopLocked(true)
}

// SetBounds keeps the limit between low and high, or at 0 if both are 0, until Fix. The search
// goes on, unless it has ended.
func (c *Controller) SetBounds(low, high int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, now := c.currentLocked()
	s.setBounds(now, low, high)
	if s.within(s.limit) != s.set {
		s.record(now, 0, fmt.Sprintf("bounds set by hand: %d to %d", low, high))
	}
	c.applyLocked()
	c.lookAgain()
}

// stopLocked ends the period, and the search for good.
func (c *Controller) stopLocked(forGood bool) {
	c.timerMu.Lock()
	defer c.timerMu.Unlock()
	c.ended.Store(c.ended.Load() || forGood)
	c.active.Store(0)
	c.disarmLocked()
}

// Close ends the search. No tick runs when Close has returned. A Controller that is
// used in several synctest bubbles is not closed.
func (c *Controller) Close() {
	c.mu.Lock()
	c.stopLocked(true)
	c.mu.Unlock()
	for c.ticks.Load() > 0 {
		runtime.Gosched() // the tick finds c ended
	}
}

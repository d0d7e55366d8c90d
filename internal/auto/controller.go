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
	active  atomic.Uint32 // the period, in which tasks wait and finished tasks count; 0: none
	refused atomic.Uint64 // tasks that were refused a permit instead of waiting
	pending atomic.Int64  // short tasks that Finished has not counted
	demand  atomic.Int32  // goroutines that hold back tasks
	ended   atomic.Bool   // by Fix or Close: the search changes nothing; written with mu and timerMu held

	config  Config
	limiter Limiter

	mu     sync.Mutex
	search *timedSearch // nil until a task waits

	timerMu sync.Mutex // guards the fields below; may be taken with any other lock held
	periods uint32
	began   time.Time     // start of the period
	waited  time.Duration // from then until a task waited first since permits were free; negative: none has
	timer   *time.Timer
	forget  func()        // makes a stopped timer, which the runtime may keep until it is due, not keep the Controller
	armed   bool          // c is active, and permits are out
	arming  uint32        // how often the timer was armed
	ticks   atomic.Int32  // to come, or that have not returned
	rested  bool          // no permit was out: the next task may be of another synctest bubble, which has another clock
	clocks  atomic.Uint32 // how often such a task has come
}

// A timedSearch is a search with a clock. It is guarded by the lock of its Controller.
type timedSearch struct {
	search
	epoch       time.Time
	period      uint32 // of the window
	clock       uint32 // Controller.clocks of the epoch
	idleTicks   int    // in a row that found free permits
	idleTasks   int    // finished in a row while no task waited
	changes     []Change
	resources   resources
	checked     time.Duration // when memory was checked last
	tickRefused uint64        // Controller.refused at the last tick
	taskRefused uint64        // Controller.refused when a task finished last
}

const (
	maxChanges     = 64                     // in the history
	maxIdleTicks   = 20                     // that find free permits although a task waits, as workers are on their way; or that none waits
	exceedTime     = 5 * time.Second        // without a finished task, after which tasks of nested calls start beyond the limit, or it is told
	memoryInterval = 100 * time.Millisecond // between checks of memory
)

// Init prepares c for l, whose limit is config.Start().
func (c *Controller) Init(config Config, l Limiter) { c.config, c.limiter = config, l }

// Active reports whether finished tasks count: a task has waited not long ago.
func (c *Controller) Active() bool { return c.active.Load() != 0 }

// NotifyWaiting tells c that a task waits for a permit. Any lock may be held.
func (c *Controller) NotifyWaiting() {
	c.timerMu.Lock()
	defer c.timerMu.Unlock()
	if c.ended.Load() {
		return
	}
	if !c.Active() {
		c.periods++
		c.active.Store(max(c.periods, 1))
		c.rested = true
	}
	c.wakeLocked()
	if c.waited < 0 {
		c.waited = time.Since(c.began)
	}
}

// wakeLocked arms the timer, as permits are out. It is called with timerMu held.
func (c *Controller) wakeLocked() {
	if c.rested {
		c.rested = false
		c.began, c.waited = time.Now(), -1
		c.clocks.Add(1)
	}
	if !c.armed {
		c.armLocked()
	}
}

// NotifyIdle tells c that no permit is out: the timer stops. Any lock may be held.
func (c *Controller) NotifyIdle() {
	if !c.Active() || !c.limiter.Idle() {
		return
	}
	c.timerMu.Lock()
	defer c.timerMu.Unlock()
	if c.limiter.Idle() && c.demand.Load() == 0 { // a goroutine with a Demand submits tasks, or clears it
		c.rested = true
		c.disarmLocked()
	}
}

// Refused tells c that a task was refused a permit. The task counts as waiting until
// the next task finishes and until the next tick, unless no task runs any more.
func (c *Controller) Refused() {
	c.refused.Add(1)
	c.NotifyWaiting()
	c.NotifyIdle()
}

// A Demand is a goroutine that submits tasks, and holds back more while a queue is full. If
// that queue is shorter than the limit, no task waits in it while all permits are held: the
// search would not find the limit too small. So the goroutine counts as a task that waits. A
// Demand is guarded by a lock of its owner. Any lock may be held.
type Demand struct {
	unfinished int // tasks
	isSet      bool
}

// Submit counts n submitted tasks.
func (d *Demand) Submit(n int) { d.unfinished += n }

// Finish counts a finished task. If less than half of the limit is used, it is the consumer
// of the results that holds the goroutine up, and not the limit.
func (d *Demand) Finish(c *Controller, limit int) {
	d.unfinished--
	if d.isSet && 2*d.unfinished < limit {
		d.set(c, false)
	}
}

// Wait says whether the goroutine holds back tasks, as a queue of the given length is full.
func (d *Demand) Wait(c *Controller, waits bool, queue, limit int) {
	d.set(c, waits && queue < limit && d.unfinished >= limit)
}

// set sets or clears d. c may be nil.
func (d *Demand) set(c *Controller, on bool) {
	switch {
	case c == nil || on == d.isSet:
		return
	case on:
		c.demand.Add(1)
		c.NotifyWaiting()
	default:
		c.demand.Add(-1)
		c.NotifyIdle()
	}
	d.isSet = on
}

// load returns how many tasks run, and whether one waits, or was refused since seen.
func (c *Controller) load(seen *uint64) (running int, waiting bool) {
	running, waiting = c.limiter.Load()
	n := c.refused.Load()
	waiting = waiting || n != *seen || c.demand.Load() > 0
	*seen = n
	return running, waiting
}

// armLocked arms a new timer. It is called with timerMu held.
func (c *Controller) armLocked() {
	c.armed = true
	c.arming++
	c.ticks.Add(1)
	owner, arming := c, c.arming
	c.forget = func() { owner = nil }
	c.timer = time.AfterFunc(stallTime, func() {
		owner.tick(arming)
		owner.ticks.Add(-1)
	})
}

// disarmLocked stops the timer. If it has fired, its tick does nothing. It is called with
// timerMu held.
func (c *Controller) disarmLocked() {
	if c.armed && c.timer.Stop() {
		c.forget()
		c.ticks.Add(-1)
	}
	c.armed = false
}

// keepTimer arms the timer if c is active.
func (c *Controller) keepTimer() {
	c.timerMu.Lock()
	defer c.timerMu.Unlock()
	if c.Active() {
		c.wakeLocked()
	}
}

// endPeriod ends the period as no task waits. It looks again afterwards: a task may
// have started to wait and found c active. It is called with mu held.
func (c *Controller) endPeriod() {
	c.timerMu.Lock()
	c.active.Store(0)
	c.disarmLocked()
	c.timerMu.Unlock()
	if s := c.search; s != nil {
		before := s.limit
		s.suspend(s.last)
		if s.interrupt(time.Since(s.epoch)); s.limit != before {
			c.limiter.Set(s.limit)
		}
	}
	if running, waiting := c.limiter.Load(); (waiting || c.demand.Load() > 0) && running > 0 {
		c.NotifyWaiting()
	}
}

// tick checks whether tasks still finish. It arms the timer again unless the period has
// ended, or no more tasks may start until one finishes.
func (c *Controller) tick(arming uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timerMu.Lock()
	disarmed := !c.armed || c.arming != arming
	c.armed = c.armed && disarmed
	c.timerMu.Unlock()
	if disarmed {
		return
	}
	s, now := c.current()
	running, waiting := c.load(&s.tickRefused)
	if running == 0 || !waiting && s.overload.excess == 0 && s.overdue(now) { // the tasks that were cut count, and those beside overloaded ones
		c.endPeriod()
		return
	}
	if s.idleTicks++; s.idleTicks > maxIdleTicks {
		return
	}
	if waiting && running >= s.limit {
		switch stalls := s.overdue(now); {
		case stalls && s.stalled(now):
			c.limiter.Set(s.limit)
		case c.exceed(s, now):
		case stalls && now-s.last >= exceedTime:
			s.record(now, 0, fmt.Sprintf("no task has finished for %v: tasks that stay, or wait for each other, need a Limit with room for all",
				(now-s.last).Truncate(time.Second)))
			return
		}
		s.idleTicks = 0
	}
	c.keepTimer()
}

// exceed starts tasks of nested calls beyond the limit if no task has finished for long: the
// tasks that hold the permits may wait for them. It reports whether such tasks wait. It is
// called with mu held.
func (c *Controller) exceed(s *timedSearch, now time.Duration) bool {
	if !c.limiter.Nested() {
		return false
	}
	if now-s.last >= exceedTime {
		if s.exceeded(now) {
			c.limiter.Set(s.limit)
		}
		c.limiter.Exceed(max(1, s.limit/8))
	}
	return true
}

// current returns the search, which it starts if necessary, and the time on its clock.
// It is called with mu held.
func (c *Controller) current() (*timedSearch, time.Duration) {
	s, period, clock := c.search, c.active.Load(), c.clocks.Load()
	if s != nil && period == s.period && clock == s.clock {
		return s, time.Since(s.epoch)
	}
	c.timerMu.Lock()
	start := c.began
	c.timerMu.Unlock()
	if period == 0 { // Overload or Fix, or a task that finishes after the period
		start = time.Now()
	}
	if s == nil {
		s = &timedSearch{epoch: start}
		s.Config, s.note, s.allow = c.config, s.record, s.resources.room
		s.begin()
		if c.Active() {
			s.record(0, 0, "all permits are held: the limit rises as tasks finish")
		}
		c.search = s
	}
	rested := clock != s.clock
	s.period, s.clock = period, clock
	if start.Before(s.epoch.Add(s.last)) { // the clock of another bubble
		s.epoch = start.Add(-s.last)
	}
	s.since = start.Sub(s.epoch)
	s.last = max(s.last, s.since)
	s.suspend(s.last)
	if before := s.limit; rested {
		if s.rest(s.last); s.limit != before {
			c.limiter.Set(s.limit)
		}
	}
	return s, time.Since(s.epoch)
}

// finished counts n finished tasks, some of which have failed. took is their total duration,
// 0 if unknown. It is called with mu held.
func (c *Controller) finished(n, failed int, took time.Duration) {
	if c.ended.Load() {
		return
	}
	c.keepTimer()
	s, now := c.current()
	running, waiting := c.load(&s.taskRefused)
	switch s.idleTasks += n; {
	case waiting:
		s.idleTasks = 0
	case s.idleTasks > 4*max(running, s.peakRunning)+64:
		s.idleTasks = 0
		c.endPeriod()
		return
	}
	s.idleTicks = 0
	before := s.limit
	if s.free && waiting {
		s.heldSince = c.waitedSince().Sub(s.epoch)
	}
	waiting = waiting || !s.free && s.idleTasks <= running // tasks may be on their way to a raised limit
	if failed > 0 {
		s.failed(now, failed, took*time.Duration(failed)/time.Duration(n))
	}
	if m := n - failed; m > 0 {
		s.finished(now, m, took*time.Duration(m)/time.Duration(n), running, waiting)
	}
	if s.free {
		c.forgetWaiting()
	}
	if now-s.checked >= memoryInterval {
		s.checked = now
		if s.limit > s.Min && s.resources.memoryShort() {
			s.backOff(now, "memory is short")
		}
	}
	if s.limit != before {
		c.limiter.Set(s.limit)
	}
}

// waitedSince returns when a task waited first since permits were free, or an earlier time.
func (c *Controller) waitedSince() time.Time {
	c.timerMu.Lock()
	defer c.timerMu.Unlock()
	return c.began.Add(c.waited)
}

// forgetWaiting notes that permits are free.
func (c *Controller) forgetWaiting() {
	c.timerMu.Lock()
	defer c.timerMu.Unlock()
	c.waited = -1
}

// Finished counts a finished task of a goroutine without a Sampler, which has failed or not.
// took is its duration, 0 if unknown. A short task that finds another goroutine counting is
// left to the next task, and counts as taking as long as that.
func (c *Controller) Finished(failed bool, took time.Duration) {
	if !failed && took > 0 && took < shortTask {
		if !c.mu.TryLock() {
			c.pending.Add(1)
			return
		}
	} else {
		c.mu.Lock()
	}
	defer c.mu.Unlock()
	n, m := 1+int(c.pending.Swap(0)), 0
	if failed {
		m = 1
	}
	c.finished(n, m, time.Duration(n)*took)
}

// record appends a change to the history.
func (s *timedSearch) record(now time.Duration, throughput float64, reason string) {
	s.changes = append(s.changes, Change{s.epoch.Add(now), s.limit, throughput, reason})
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
	s, now := c.current()
	if !c.Active() {
		c.NotifyWaiting()
		s, now = c.current()
	}
	before := s.limit
	s.overloaded(now, now+atLeast)
	if s.limit != before {
		c.limiter.Set(s.limit)
	}
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

// Fix sets the limit by hand and ends the search.
func (c *Controller) Fix(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, now := c.current()
	c.limiter.Set(n)
	s.phase, s.limit = Fixed, n
	s.record(now, 0, "set by hand")
	c.endLocked()
}

// endLocked ends the search. It is called with mu held.
func (c *Controller) endLocked() {
	c.timerMu.Lock()
	defer c.timerMu.Unlock()
	c.ended.Store(true)
	c.active.Store(0)
	c.disarmLocked()
}

// Close ends the search. No tick runs when Close has returned. A Controller that is
// used in several synctest bubbles is not closed.
func (c *Controller) Close() {
	c.mu.Lock()
	c.endLocked()
	c.mu.Unlock()
	for c.ticks.Load() > 0 {
		runtime.Gosched() // the tick finds c ended
	}
}

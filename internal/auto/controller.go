// Package auto finds how many tasks should run at once, from how fast they end.
// See README.md for the states and the races.
package auto

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Bounded is what a Controller sets the limit of. Its methods are called with the
// lock of the Controller held.
type Bounded interface {
	// Set changes how many tasks may run.
	Set(n int)
	// Load returns how many run, and whether somebody waits for a place.
	Load() (running int, waiting bool)
}

// Config is what a search keeps to.
type Config struct {
	Min, Max int
	Burst    int // tasks that may begin before one has ended; a third of them at once
	Procs    int // or, if that is more, as many as there are processors and one more
}

// A Controller changes the limit of a Bounded. It costs nothing before somebody
// waits for a place: only then are the ends of tasks counted. Use Init, and Close.
type Controller struct {
	active  atomic.Uint32 // the number of the period in which places are short, and the ends of tasks count; 0: in none
	refused atomic.Uint64 // those who were refused a place, and would have waited for one

	config Config
	target Bounded

	mu     sync.Mutex
	finder *finder     // nil until somebody waits
	fixed  atomic.Bool // written with mu held
	closed bool

	alarm   sync.Mutex // guards what follows; may be taken with any other lock held
	periods uint32
	since   time.Time   // when the last began
	timer   *time.Timer // that was armed last
	armed   bool
	due     time.Time     // when it fires
	arming  uint32        // how often it was armed
	ticked  atomic.Uint32 // the arming whose tick has ended last
	ended   bool          // no timer is to be armed any more
}

// idleTicks is how often the timer looks again when places are free, though somebody
// waits: workers are on their way to them.
const idleTicks = 20

// A finder is what a Controller needs once there is something to find. It is guarded
// by the lock of the Controller.
type finder struct {
	search
	epoch   time.Time
	period  uint32 // that the window is of
	ticks   int    // in a row that found some places free, though somebody waits
	lulls   int    // tasks in a row that have ended since somebody waited
	changes history
	ceiling ceiling
	looked  time.Duration // when the ceiling was asked whether memory is short
	refusals
}

// refusals is how many had been refused a place when a Controller looked last.
type refusals struct{ tick, end uint64 }

// Init makes c ready for b, whose limit is to be config.Start().
func (c *Controller) Init(config Config, b Bounded) { c.config, c.target = config, b }

// Active reports whether the ends of tasks count: somebody has waited for a place
// not long ago.
func (c *Controller) Active() bool { return c.active.Load() != 0 }

// Press tells c that somebody waits for a place. It may be called with any lock
// held.
func (c *Controller) Press() {
	c.alarm.Lock()
	defer c.alarm.Unlock()
	if c.ended {
		return
	}
	now := time.Now()
	lost := c.armed && c.lost(now)
	if !c.Active() || lost {
		c.periods++
		c.active.Store(max(c.periods, 1))
		c.since = now
	}
	if !c.armed || lost {
		c.arm(now)
	}
}

// Refused is Press for somebody who would have waited for a place and does not, as he
// was refused one. He counts as waiting until the next task ends and the next tick.
func (c *Controller) Refused() {
	c.refused.Add(1)
	c.Press()
}

// load returns how many run, and whether somebody waits for a place, or has been refused
// one since that many had.
func (c *Controller) load(refused *uint64) (running int, waiting bool) {
	running, waiting = c.target.Load()
	n := c.refused.Load()
	waiting = waiting || n != *refused
	*refused = n
	return running, waiting
}

// lost reports whether the timer that is armed will not fire: it should have fired
// long ago, or is due in a time that has not come yet. A limiter may be used in one
// synctest bubble after the other, and a timer fires only in its own. It is called with
// alarm held.
func (c *Controller) lost(now time.Time) bool {
	left := c.due.Sub(now)
	return left < -2*stuck || left > 2*stuck
}

// arm sets the timer that finds out when no task ends: always a new one, which may be
// of another bubble than the last. It is called with alarm held.
func (c *Controller) arm(now time.Time) {
	c.armed, c.due = true, now.Add(stuck)
	c.arming++
	arming := c.arming
	c.timer = time.AfterFunc(stuck, func() {
		c.tick(arming)
		c.ticked.Store(arming)
	})
}

// rest makes c inactive, until Press.
func (c *Controller) rest() {
	c.alarm.Lock()
	defer c.alarm.Unlock()
	c.active.Store(0)
}

// lull ends the period. Somebody may have begun to wait since that was looked at, and
// have found c active: so it looks again.
func (c *Controller) lull() {
	c.rest()
	if f, now := c.find(); f.phase == Probing {
		f.interrupt(now)
		c.target.Set(f.limit)
	}
	if running, waiting := c.target.Load(); waiting && running > 0 {
		c.Press()
	}
}

// tick looks whether tasks still end, for the timer that was armed so many times. It
// goes on as long as c is active and anything can change: only the end of a task can
// when a stall has led to nothing, and that arms the timer itself.
func (c *Controller) tick(arming uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alarm.Lock()
	if c.arming == arming {
		c.armed = false
	}
	c.alarm.Unlock()
	if c.over() || !c.Active() {
		return
	}
	f, now := c.find()
	running, waiting := c.load(&f.refusals.tick)
	if !waiting || running == 0 {
		c.lull()
		return
	}
	if f.ticks++; f.ticks > idleTicks {
		return
	}
	if f.overdue(now) && running >= f.limit {
		if !f.stalled(now) {
			return
		}
		f.ticks = 0
		c.target.Set(f.limit)
	} else if running >= f.limit {
		f.ticks = 0
	}
	c.watch()
}

// watch arms the timer, as long as c is active.
func (c *Controller) watch() {
	c.alarm.Lock()
	defer c.alarm.Unlock()
	if now := time.Now(); c.Active() && !c.ended && (!c.armed || c.lost(now)) {
		c.arm(now)
	}
}

// over reports whether c changes nothing any more. It is called with mu held.
func (c *Controller) over() bool { return c.fixed.Load() || c.closed }

// find returns the finder, which it makes if there is none, and the time. It is
// called with mu held.
func (c *Controller) find() (*finder, time.Duration) {
	if c.finder == nil {
		f := &finder{epoch: c.period()}
		f.Config, f.note, f.room = c.config, f.noted, f.ceiling.room
		f.begin()
		if c.Active() {
			f.noted(0, 0, "all places are taken: more may begin as tasks end")
		}
		c.finder = f
	}
	f := c.finder
	if s := c.active.Load(); s != f.period {
		f.period = s
		if start := c.period(); start.Before(f.epoch.Add(f.last)) { // the clock of another bubble
			f.epoch = start.Add(-f.last)
		}
		f.since = c.period().Sub(f.epoch)
		f.last = max(f.last, f.since) // not before this period
		f.window.last = max(f.window.last, f.last)
		f.window.broken = f.began
	}
	return f, time.Since(f.epoch)
}

// period returns when the period began.
func (c *Controller) period() time.Time {
	c.alarm.Lock()
	defer c.alarm.Unlock()
	if c.since.IsZero() { // Overload or Fix before anybody has waited
		c.since = time.Now()
	}
	return c.since
}

// end takes in that n tasks have ended, which took so long together; 0 if that is
// not known. It is called with mu held.
func (c *Controller) end(n int, took time.Duration) {
	if c.over() {
		c.rest()
		return
	}
	f, now := c.find()
	running, waiting := c.load(&f.refusals.end)
	if f.lulls += n; waiting {
		f.lulls = 0
	} else if f.lulls > 4*running+64 {
		f.lulls = 0
		c.lull()
		return
	}
	f.ticks = 0
	before := f.limit
	f.ended(now, n, took, running, f.lulls <= running) // those who follow a larger limit are on their way
	f.pressed(now)
	if f.limit != before {
		c.target.Set(f.limit)
	}
	c.watch()
}

// pressed lowers the limit when memory is short. It looks ten times a second.
func (f *finder) pressed(now time.Duration) {
	if now-f.looked < 100*time.Millisecond {
		return
	}
	f.looked = now
	if f.limit > f.Min && f.ceiling.pressed() {
		f.retreat(now, "memory is short")
	}
}

// Overload takes in that a task has failed because too many run. It counts as ended
// as any other, by a Meter, afterwards.
func (c *Controller) Overload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over() {
		return
	}
	f, now := c.find()
	before := f.limit
	f.overloaded(now, c.Active())
	if f.limit != before {
		c.target.Set(f.limit)
	}
}

// Burst changes Config.Burst, unless the search has begun.
func (c *Controller) Burst(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finder == nil && !c.over() {
		c.config.Burst = n
		c.target.Set(c.config.Start())
	}
}

// Fix sets the limit by hand: c does not change it any more. A timer that is armed is
// left to fire, for nothing.
func (c *Controller) Fix(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, now := c.find()
	c.fixed.Store(true)
	c.target.Set(n)
	f.limit = n
	f.noted(now, 0, "set by hand")
	c.alarm.Lock()
	defer c.alarm.Unlock()
	c.active.Store(0)
	c.ended = true
}

// Close ends c: after it the limit does not change, and no tick runs. It is for one
// that is used in one bubble only.
func (c *Controller) Close() {
	c.mu.Lock()
	c.closed = true
	c.alarm.Lock()
	c.active.Store(0)
	c.ended = true
	last := c.armed && !c.timer.Stop() // its tick has begun, or is about to
	c.armed = false
	arming := c.arming
	c.alarm.Unlock()
	c.mu.Unlock()
	for last && c.ticked.Load() != arming {
		runtime.Gosched() // it finds c closed
	}
}

// noted is how the search tells what it does.
func (f *finder) noted(now time.Duration, throughput float64, reason string) {
	f.changes.add(Change{Time: f.epoch.Add(now), Limit: f.limit, Throughput: throughput, Reason: reason})
}

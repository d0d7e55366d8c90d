package auto

import (
	"sync"
	"sync/atomic"
	"time"
)

// A period is the time in which tasks wait and finished tasks count, with its clock. Its timer
// runs while permits are out.
type period struct {
	active atomic.Uint32 // the number of the period; 0: none

	timerMu sync.Mutex // guards the fields below; may be taken with any other lock held
	periods uint32
	began   time.Time // on the present clock
	rested  bool      // no permit was out: the next task may be of another synctest bubble, which has another clock
	clocks  uint32    // how often such a task has come
	armed   bool      // the Controller is active, and permits are out
	arming  uint32    // how often the timer was armed
	timer   *time.Timer

	ticks atomic.Int32 // to come, or that have not returned
}

// Active reports whether finished tasks count: a task has waited not long ago.
func (p *period) Active() bool { return p.active.Load() != 0 }

// now returns the number of the period, 0 if there is none, that of its clock, and when it began.
func (p *period) now() (period, clock uint32, began time.Time) {
	p.timerMu.Lock()
	defer p.timerMu.Unlock()
	return p.active.Load(), p.clocks, p.began
}

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

// keepTimer arms the timer if c is active.
func (c *Controller) keepTimer() {
	c.timerMu.Lock()
	defer c.timerMu.Unlock()
	if c.Active() {
		c.wakeLocked()
	}
}

// wakeLocked arms the timer, as permits are out.
func (c *Controller) wakeLocked() {
	if c.rested {
		c.rested = false
		c.began = time.Now()
		c.clocks++
	}
	if !c.armed {
		c.armLocked()
	}
}

// armLocked arms a new timer.
func (c *Controller) armLocked() {
	c.armed = true
	c.arming++
	c.ticks.Add(1)
	arming := c.arming
	c.timer = time.AfterFunc(stallTime, func() {
		c.tick(arming)
		c.ticks.Add(-1)
	})
}

// disarmLocked stops the timer. If it has fired, its tick does nothing.
func (p *period) disarmLocked() {
	if p.armed && p.timer.Stop() {
		p.ticks.Add(-1)
	}
	p.armed = false
}

// fired reports whether the timer was armed when it fired, and notes that it is not any more.
func (p *period) fired(arming uint32) bool {
	p.timerMu.Lock()
	defer p.timerMu.Unlock()
	armed := p.armed && p.arming == arming
	p.armed = p.armed && !armed
	return armed
}

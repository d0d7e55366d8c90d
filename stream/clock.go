package stream

import (
	"sync"
	"sync/atomic"
	"time"
)

// linger is how long a finished record may wait for others to cross a boundary with.
const linger = time.Millisecond

// A clock ticks for one run, each linger, as long as there is something to hand on.
//
//	still    no timer is set
//	ticking  the timer is set, or tick is on its way; at the end of one in which no
//	         member was hot the clock is still again
//	closed   it does not tick any more
//
// A member becomes hot, then calls wake; a tick makes the clock still, then looks at
// the members again. So one of both sees the other.
type clock struct {
	ticking uint32 // atomic; written with mu held
	ticks   uint32 // atomic

	mu      sync.Mutex
	closed  bool
	members []member // appended only
	timer   *time.Timer
	pending sync.WaitGroup // timers that are set, and ticks that run
}

// A member has something that a tick is needed for while it is hot.
type member interface {
	tick() bool // and whether it is hot
	hot() bool
}

// join makes m a member.
func (c *clock) join(m member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = append(c.members, m)
}

// wake is called by a member that has become hot. It is not called with a lock held
// that a tick takes.
func (c *clock) wake() {
	if atomic.LoadUint32(&c.ticking) != 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ticking == 0 {
		c.set()
	}
}

// set sets the timer. It is called with mu held.
func (c *clock) set() {
	if c.closed {
		return
	}
	atomic.StoreUint32(&c.ticking, 1)
	c.pending.Add(1)
	if c.timer == nil {
		c.timer = after(linger, c.tick)
	} else {
		c.timer.Reset(linger)
	}
}

// tick runs on a goroutine of its own, one at a time.
func (c *clock) tick() {
	defer c.pending.Done()
	atomic.AddUint32(&c.ticks, 1)
	c.mu.Lock()
	members := c.members
	c.mu.Unlock()
	hot := false
	for _, m := range members {
		hot = m.tick() || hot
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !hot {
		atomic.StoreUint32(&c.ticking, 0)
		for _, m := range c.members {
			hot = m.hot() || hot
		}
	}
	if hot {
		c.set()
	}
}

// close ends the clock and waits for the tick that is on its way.
func (c *clock) close() {
	c.mu.Lock()
	c.closed = true
	if c.timer != nil && c.timer.Stop() {
		c.pending.Done()
	}
	c.mu.Unlock()
	c.pending.Wait()
}

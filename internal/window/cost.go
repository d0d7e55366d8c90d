package window

import (
	"sync/atomic"
	"time"
)

// taskTime is how long the calls of one task should take: long compared with the time to
// pass on a task, and short for items that wait.
const taskTime = 50 * time.Microsecond

// maxApart is how many items are tasks of their own in programs built with -race, since the
// detector takes the items of one task for ordered. Nothing is learned from them, because
// learning would order the tasks too.
const maxApart = 1000

// cost is the time that an item takes, in picoseconds; 0: unknown.
type cost struct{ atomic.Int64 }

// learn updates the cost from the time that n items took. It falls by half at most.
func (c *cost) learn(took time.Duration, n int) {
	cost := int64(min(took, time.Hour))*1000/int64(n) + 1 // more than an hour may overflow
	if old := c.Load(); old > 0 {
		cost = max(cost, old/2)
	}
	c.Store(cost)
}

// items returns how many items take some time, at least one if the cost is known.
func (c *cost) items(d time.Duration) int64 {
	cost := c.Load()
	if cost == 0 {
		return 0
	}
	return max(int64(d)*1000/cost, 1)
}

package auto

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

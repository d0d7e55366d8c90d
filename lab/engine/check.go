package engine

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// Check runs n tasks on an engine and returns an error as Counted does. Empty tasks are
// not counted while they are timed: counting would cost as much as they do.
func Check(o Open, limit, n int) error {
	most := limit
	if o.Unbounded {
		most = n
	}
	return Counted(n, most, func(task func()) {
		e := o.New(limit, TaskOf(task))
		e.Go(n)
		e.Wait()
		e.Close()
	})
}

// Counted calls run with a task that yields before it finishes, and returns an error
// unless it runs n times, and never more than limit at once.
func Counted(n, limit int, run func(task func())) error {
	var g Gauge
	var ran atomic.Int64
	run(func() {
		g.Enter()
		runtime.Gosched()
		ran.Add(1)
		g.Leave()
	})
	switch ran, peak := ran.Load(), g.Peak(); {
	case ran != int64(n):
		return fmt.Errorf("%d of %d tasks ran", ran, n)
	case peak > limit:
		return fmt.Errorf("%d tasks ran at once, the limit is %d", peak, limit)
	}
	return nil
}

// A Gauge counts concurrent tasks.
type Gauge struct{ running, peak atomic.Int64 }

// Enter is called when a task starts.
func (g *Gauge) Enter() {
	now := g.running.Add(1)
	for peak := g.peak.Load(); now > peak && !g.peak.CompareAndSwap(peak, now); peak = g.peak.Load() {
	}
}

// Leave is called when a task finishes.
func (g *Gauge) Leave() { g.running.Add(-1) }

// Peak returns the largest count since Reset.
func (g *Gauge) Peak() int { return int(g.peak.Load()) }

// Reset must not be called while tasks run.
func (g *Gauge) Reset() { g.peak.Store(0) }

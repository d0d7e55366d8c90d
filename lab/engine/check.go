package engine

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Submit submits n tasks to an engine from several goroutines, or from the
// caller's if submitters is 1.
func Submit(e Engine, n, submitters int) {
	if submitters == 1 {
		e.Go(n)
		return
	}
	var wg sync.WaitGroup
	for s := range submitters {
		wg.Go(func() { e.Go((s+1)*n/submitters - s*n/submitters) })
	}
	wg.Wait()
}

// Check runs n tasks on an engine, each of which yields before it finishes, and
// returns an error unless all of them ran within the engine's limit. Empty
// tasks are not counted while they are timed: counting would cost as much as
// they do.
func Check(o Open, limit, submitters, n int) error {
	var g gauge
	e := o.New(limit, TaskOf(g.task))
	Submit(e, n, submitters)
	e.Wait()
	e.Close()
	return g.check(n, limit, o.Unbounded || o.OneSubmitter && submitters > 1)
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

// A gauge also counts finished tasks.
type gauge struct {
	Gauge
	ran atomic.Int64
}

func (g *gauge) task() {
	g.Enter()
	runtime.Gosched()
	g.ran.Add(1)
	g.Leave()
}

func (g *gauge) check(n, limit int, unbounded bool) error {
	switch ran, peak := g.ran.Load(), g.Peak(); {
	case ran != int64(n):
		return fmt.Errorf("%d of %d tasks ran", ran, n)
	case peak > limit && !unbounded:
		return fmt.Errorf("%d tasks ran at once, the limit is %d", peak, limit)
	}
	return nil
}

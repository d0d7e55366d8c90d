package engine

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Submit gives an engine n tasks from several goroutines at once, or from the
// caller's if it is to be one.
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

// Check runs n tasks on an engine, each of which lets others run before it
// ends, and returns an error unless all of them ran, and never more at once
// than the engine promises. Empty tasks cannot be counted while they are
// measured: the count would cost as much as they do.
func Check(o Open, limit, submitters, n int) error {
	var g gauge
	e := o.New(limit, TaskOf(g.task))
	Submit(e, n, submitters)
	e.Wait()
	e.Close()
	return g.check(n, limit, o.Unbounded || o.OneSubmitter && submitters > 1)
}

// CheckLoop is Check for finite work: each index once.
func CheckLoop(l Loop, n, limit int) error {
	var g gauge
	seen := make([]atomic.Int32, n)
	l.Run(n, limit, BodyOf(func(i int) {
		seen[i].Add(1)
		g.task()
	}))
	for i := range seen {
		if times := seen[i].Load(); times != 1 {
			return fmt.Errorf("index %d of %d was given out %d times", i, n, times)
		}
	}
	if l.Unlimited {
		limit = 0
	}
	if limit == 0 && l.Most > 0 {
		limit = l.Most
	}
	return g.check(n, processors(limit), l.Unbounded)
}

// gauge also counts the tasks.
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
	switch ran, most := g.ran.Load(), g.Most(); {
	case ran != int64(n):
		return fmt.Errorf("%d of %d tasks ran", ran, n)
	case most > limit && !unbounded:
		return fmt.Errorf("%d tasks ran at once, the limit is %d", most, limit)
	}
	return nil
}

package servers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A task sends one request, or does other work that waits, and checks the answer.
type task func(ctx context.Context, i int) error

// A row is one kind of tasks.
type row struct {
	sizes
	name, doc string
	batch     int // an op is a call of so many tasks; 0: an op is a task
	task      task

	// The claim: stint.Range takes at most bar times as long as than, or most.
	bar  float64       // 0: the usual bar
	than string        // "": the best fixed limit
	most time.Duration // 0: it is a ratio
}

// kase is the row with all models.
func (r row) kase(note func(result.Trace)) experiment.Case {
	c := experiment.Case{Name: r.name, Doc: r.doc, Reference: limitName(16), Ops: 1, Count: samples}
	if r.batch > 0 {
		c.Ops = max(1, 10/r.divisor)
	}
	best := math.Inf(1)
	for _, m := range r.models() {
		last := 0.0
		c.Models = append(c.Models, experiment.Model{Model: m.Model, Run: func(meter *measure.Meter) error {
			r := r
			if m.Sweep != "" && last > 2*best {
				r.target /= 4 // it is slow, which takes less time to see
			}
			took, peak, err := r.sample(m, meter.N, note)
			last = took
			best = min(best, last)
			meter.Report(measure.Time, last)
			meter.Report(measure.AtOnce, float64(peak))
			return err
		}})
	}
	return c
}

// sample makes some calls of a model, and returns the time of an op in ns.
func (r row) sample(m model, calls int, note func(result.Trace)) (ns float64, peak int, err error) {
	new(measure.Meter).Start() // collects garbage
	for range calls {
		run, limit := m.open()
		began := time.Now()
		c, err := r.call(run)
		if limit != nil { // that was the first call
			if err == nil {
				c, err = r.call(run)
			}
			note(result.Trace{Case: r.name, Model: m.Name, Points: history(limit, began)})
		}
		if err != nil {
			return 0, 0, err
		}
		ns += float64(c.took) / float64(calls)
		if r.batch == 0 {
			ns /= float64(c.served.Load())
		}
		peak = max(peak, c.Peak())
	}
	return ns, peak, nil
}

// A call counts the tasks of a call.
type call struct {
	row
	engine.Gauge
	began  time.Time
	took   time.Duration
	served atomic.Int64
	over   atomic.Bool // no more tasks are run
	err    atomic.Pointer[error]
}

// call calls run once. All tasks of a batch must have been served, and some of others.
func (r row) call(run func(do)) (*call, error) {
	c := &call{row: r, began: time.Now()}
	run(c.do)
	c.took = time.Since(c.began)
	served := c.served.Load()
	if err := c.err.Load(); err != nil {
		return c, *err
	}
	if served == 0 || r.batch > 0 && served != int64(r.batch) {
		return c, fmt.Errorf("%d tasks were served, want %d or, if that is 0, some", served, r.batch)
	}
	return c, nil
}

// do runs task i, and reports whether to go on.
func (c *call) do(i int) bool {
	if c.batch == 0 && c.served.Load() > 0 && time.Since(c.began) > c.target {
		c.over.Store(true)
	}
	if c.over.Load() {
		return false
	}
	c.Enter()
	err := c.task(context.Background(), i) // it is completed also if the call ends
	c.Leave()
	if err != nil {
		c.err.CompareAndSwap(nil, &err)
		c.over.Store(true)
		return false
	}
	c.served.Add(1)
	return true
}

// tasks returns how many tasks a call has: all of a batch, or more than there is time for.
func (r row) tasks() int { return cmp.Or(r.batch, 1<<30) }

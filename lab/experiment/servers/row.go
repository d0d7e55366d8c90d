package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A task sends one request, or does other work that waits, and checks the answer.
type task func(ctx context.Context, i int) error

// errBusy is the error of a request that the server refused.
var errBusy = errors.New("refused by the server")

// errCapped is the error of a task that is not run because the time is over.
var errCapped = errors.New("the time is over")

// A row is one kind of tasks.
type row struct {
	name    string
	doc     string // of an op
	index   int    // of its task
	task    task
	n       int           // tasks of a call; if they may be refused, how many are to be served
	cap     time.Duration // tasks that start later are not run; 0: all are
	batches int           // calls of a sample; 0: one, and an op is a served task
	samples int           // of each model
	refuses bool          // tasks may be refused
}

// attempts returns how many tasks are there to serve n.
func (r row) attempts() int {
	if r.refuses {
		return maxAttempts * r.n
	}
	return r.n
}

// maxAttempts is far more than a call makes before the time is over.
const maxAttempts = 100

// isBatch reports whether an operation is a whole call.
func (r row) isBatch() bool { return r.batches > 0 }

// kase is the row with all models.
func (r row) kase(note func(result.Trace)) experiment.Case {
	c := experiment.Case{Name: r.name, Doc: r.doc, Reference: limitName(64), Ops: max(1, r.batches), Count: r.samples}
	for _, m := range r.models() {
		c.Models = append(c.Models, experiment.Model{Model: m.Model, Run: func(meter *measure.Meter) error { return r.run(m, meter, note) }})
	}
	return c
}

// run takes a sample of a model.
func (r row) run(m model, meter *measure.Meter, note func(result.Trace)) error {
	meter.Start() // collects garbage
	took, served, peak := time.Duration(0), 0, 0
	for range meter.N {
		call := m.open(r)
		c := &calls{row: r}
		if m.cap {
			c.cap = r.cap
		}
		if err := call.run(c.do); err != nil {
			return err
		}
		if err := c.check(); err != nil {
			return err
		}
		took, served, peak = took+c.took(), served+int(c.served.Load()), max(peak, c.Peak())
		if call.stats != nil {
			note(result.Trace{Case: r.name, Model: m.Name, Points: call.stats()})
		}
	}
	if r.isBatch() {
		served = meter.N
	}
	meter.Report(measure.Time, float64(took)/float64(served))
	meter.Report(measure.AtOnce, float64(peak))
	return nil
}

// calls counts the tasks of a call.
type calls struct {
	row
	engine.Gauge
	cap time.Duration

	once            sync.Once
	began           time.Time
	last            atomic.Int64 // ns from then to the end of the last task
	served, refused atomic.Int64
	capped          atomic.Bool           // no more tasks are run
	err             atomic.Pointer[error] // the first
}

// do runs task i. It returns only errBusy and errCapped: other errors end
// in check.
func (c *calls) do(ctx context.Context, i int) error {
	c.once.Do(func() { c.began = time.Now() })
	if c.cap > 0 && time.Since(c.began) > c.cap || c.refuses && c.served.Load() >= int64(c.n) {
		c.capped.Store(true)
	}
	if c.capped.Load() || c.err.Load() != nil {
		return errCapped
	}
	c.Enter()
	err := c.task(ctx, i)
	c.Leave()
	now := int64(time.Since(c.began))
	for old := c.last.Load(); now > old && !c.last.CompareAndSwap(old, now); old = c.last.Load() {
	}
	switch {
	case err == nil:
		c.served.Add(1)
	case c.refuses && errors.Is(err, errBusy):
		c.refused.Add(1)
		return errBusy
	case c.capped.Load(): // the context may have ended
		return errCapped
	default:
		c.err.CompareAndSwap(nil, &err)
	}
	return nil
}

// took returns the time from the first task to the end of the last.
func (c *calls) took() time.Duration { return time.Duration(c.last.Load()) }

// check reports whether all tasks were run, unless there was no time, and some
// were served.
func (c *calls) check() error {
	if err := c.err.Load(); err != nil {
		return *err
	}
	served, refused := c.served.Load(), c.refused.Load()
	if served == 0 || !c.capped.Load() && served != int64(c.n) {
		return fmt.Errorf("%d tasks were served and %d refused, want %d served", served, refused, c.n)
	}
	return nil
}

// sized returns the row with as many tasks as the best of some limits serves in a
// time.
func (r row) sized(target time.Duration) (row, error) {
	r.n, r.cap = math.MaxInt32, target
	best := 0.0
	for _, limit := range []int{4, 16, 64, 256} {
		c := &calls{row: r, cap: target / 4}
		if err := cmp.Or(goroutines(limit, r.n, c.do, nil), c.check()); err != nil {
			return r, err
		}
		best = max(best, float64(c.served.Load())/c.took().Seconds())
	}
	r.n = max(1, int(best*target.Seconds()))
	return r, nil
}

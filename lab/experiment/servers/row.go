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
	target  time.Duration // of a call, with the best limit
	cap     time.Duration // after one was served, tasks that start later are not run; 0: all are
	batches int           // calls of a sample; 0: one, and an op is a served task
	samples int           // of each model
	step    int           // factor between fixed limits
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
	best := math.Inf(1)
	for _, m := range r.models() {
		r, last := r, 0.0
		c.Models = append(c.Models, experiment.Model{Model: m.Model, Run: func(meter *measure.Meter) error {
			switch {
			case !m.cap:
				r.cap = 0
			case last > 2*best:
				r.cap = r.target / 4 // it is slow, which takes less time to see
			default:
				r.cap = r.target
			}
			s, err := r.run(m, meter.N, note)
			if err != nil {
				return err
			}
			last = float64(s.took) / float64(s.ops)
			best = min(best, last)
			meter.Report(measure.Time, last)
			meter.Report(measure.AtOnce, float64(s.peak))
			return nil
		}})
	}
	return c
}

// A sample is what a model did.
type sample struct {
	took      time.Duration
	ops, peak int
}

// run makes the calls of a sample of a model.
func (r row) run(m model, n int, note func(result.Trace)) (sample, error) {
	new(measure.Meter).Start() // collects garbage
	var s sample
	for range n {
		call := m.open(r)
		c := &calls{row: r}
		if err := cmp.Or(call.run(c.do), c.check()); err != nil {
			return s, err
		}
		s.took, s.ops, s.peak = s.took+c.took(), s.ops+int(c.served.Load()), max(s.peak, c.Peak())
		if call.stats != nil {
			note(result.Trace{Case: r.name, Model: m.Name, Points: call.stats()})
		}
	}
	if r.isBatch() {
		s.ops = n
	}
	return s, nil
}

// calls counts the tasks of a call.
type calls struct {
	row
	engine.Gauge

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
	served := c.served.Load()
	if c.refuses && served >= int64(c.n) || served > 0 && c.cap > 0 && time.Since(c.began) > c.cap {
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
	if served == 0 || !c.capped.Load() && (served < int64(c.n) || !c.refuses && served > int64(c.n)) {
		return fmt.Errorf("%d tasks were served and %d refused, want %d served", served, refused, c.n)
	}
	return nil
}

// sized returns the row with as many tasks as the best of some limits serves in a
// time.
func (r row) sized(target time.Duration) (row, error) {
	r.n, r.target, r.cap = math.MaxInt32/maxAttempts, target, target/4
	best := 0.0
	for _, limit := range []int{4, 16, 64, 256} {
		c := &calls{row: r}
		if err := cmp.Or(goroutines(limit, r.attempts(), c.do, nil), c.check()); err != nil {
			return r, err
		}
		best = max(best, float64(c.served.Load())/c.took().Seconds())
	}
	r.n = max(1, int(best*target.Seconds()))
	return r, nil
}

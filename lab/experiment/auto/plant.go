package auto

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A plant is work with the limit that suits it best.
type plant struct {
	name   string
	n      int // tasks
	work   work
	limits []int // to be measured
	best   int   // one of them
	bar    float64
	most   int  // tasks at once that are claimed; 0: none
	whole  bool // an op is all tasks
	main   bool // of the experiment
	fine   bool // the tasks are so small that nothing may be counted in them
	during func() (end func())
}

// sweep is some limits, and the one that is said to be best, in order.
func sweep(best int, others ...int) []int {
	all := append(others, best)
	slices.Sort(all)
	all = slices.DeleteFunc(all, func(limit int) bool { return limit < 1 })
	return slices.Compact(all)
}

// The functions below change one thing of a plant.

func (p plant) within(bar float64) plant { p.bar = bar; return p }

func (p plant) shown() plant { p.main = true; return p }

func (p plant) atOnce(most int) plant { p.most = most; return p }

func (p plant) untouched() plant { p.fine = true; return p }

func (p plant) beside(during func() (end func())) plant { p.during = during; return p }

// A loop calls f for 0 to n-1.
type loop func(n int, f func(i int))

const ours = "stint.Range"

// kase is the plant at each limit, without one, and as goroutines.
func (p plant) kase() experiment.Case {
	c := experiment.Case{Name: p.name, Doc: "an op is a task", Reference: limitName(p.best), Ops: p.n, Count: samples, Main: p.main}
	if p.whole {
		c.Doc, c.Ops = fmt.Sprintf("an op is all %d tasks", p.n), 1
	}
	for _, limit := range p.limits {
		m := result.Model{Name: limitName(limit), Kind: result.Peer, Doc: fmt.Sprintf("Range with Limit(%d)", limit), Sweep: "limit", At: float64(limit)}
		c.Models = append(c.Models, p.model(m, ranged(stint.Limit(limit))))
	}
	c.Models = append(c.Models,
		p.model(result.Model{Name: "goroutines", Kind: result.Peer, Doc: "a goroutine a task, no limit", Unbounded: true}, goroutines),
		p.model(result.Model{Name: ours, Kind: result.Ours, Doc: "Range, without an option"}, ranged()))
	return c
}

func limitName(limit int) string { return fmt.Sprintf("limit-%d", limit) }

// ranged is Range.
func ranged(opts ...stint.Option) loop {
	return func(n int, f func(int)) {
		err := stint.Range(context.Background(), n, func(_ context.Context, i int) error { f(i); return nil }, opts...)
		if err != nil {
			panic(err) // no task returns one
		}
	}
}

func goroutines(n int, f func(int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// model does the work of the plant with a loop.
func (p plant) model(m result.Model, run loop) experiment.Model {
	return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
		if p.during != nil {
			defer p.during()()
		}
		if p.fine {
			return p.timeFine(m, run)
		}
		task, check := p.work(p.n)
		g := gauge{ends: make([]time.Time, p.n)}
		m.Start()
		run(p.n, g.around(task))
		m.Stop()
		if !p.whole {
			m.Report(measure.Time, g.late(p.n/4))
		}
		m.Report(measure.AtOnce, float64(g.Most()))
		return check()
	}}
}

// timeFine is for tasks that a look at each would change: there is another run for
// that. They are so many that a quarter needs not be left out.
func (p plant) timeFine(m *measure.Meter, run loop) error {
	task, check := p.work(p.n)
	m.Start()
	run(p.n, task)
	m.Stop()
	if err := check(); err != nil {
		return err
	}
	task, check = p.work(p.n)
	g := gauge{ends: make([]time.Time, p.n)}
	run(p.n, g.around(task))
	m.Report(measure.AtOnce, float64(g.Most()))
	return check()
}

// A gauge tells when tasks have ended, and how many ran at once.
type gauge struct {
	engine.Gauge
	ends []time.Time // one a task
}

// around is a task that is watched.
func (g *gauge) around(task func(int)) func(int) {
	return func(i int) {
		g.Enter()
		task(i)
		g.Leave()
		g.ends[i] = time.Now()
	}
}

// late is how many ns a task takes, those that end first left out.
func (g *gauge) late(first int) float64 {
	slices.SortFunc(g.ends, time.Time.Compare)
	rest := g.ends[max(0, first-1):]
	return float64(rest[len(rest)-1].Sub(rest[0]).Nanoseconds()) / float64(len(rest)-1)
}

// nearly is our conclusion about tasks of all kinds.
const nearly = "Without an option tasks are nearly as fast as at the best limit, for those who know it, and not many more at once."

// claims are that nobody who knows the best limit is much faster, and that the
// tasks are not many.
func (p plant) claims() []result.Claim {
	out := []result.Claim{{Case: p.name, Model: ours, Unit: measure.Time, Form: result.Ratio, Than: limitName(p.best), Bar: p.bar, Conclusion: nearly}}
	if p.most > 0 {
		out = append(out, result.Claim{Case: p.name, Model: ours, Unit: measure.AtOnce, Form: result.Value, Bar: float64(p.most), Conclusion: nearly})
	}
	return out
}

// burn keeps a processor busy until end is called.
func burn() (end func()) {
	var quit atomic.Bool
	var ended sync.WaitGroup
	ended.Go(func() {
		for !quit.Load() {
			runtime.KeepAlive(load.Spin(10_000))
		}
	})
	return func() {
		quit.Store(true)
		ended.Wait()
	}
}

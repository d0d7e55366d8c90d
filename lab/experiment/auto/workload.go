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

// A workload has a known best limit.
type workload struct {
	name      string
	n         int // tasks
	tasks     tasks
	limits    []int // to measure
	best      int   // one of limits
	bar       float64
	maxAtOnce int  // bar for concurrent tasks; 0: none
	whole     bool // an operation is all tasks
	main      bool // shown in summaries
	uncounted bool // tasks too small to be counted
	meanwhile func() (end func())
}

// sweep returns the best limit and others, sorted.
func sweep(best int, others ...int) []int {
	all := append(others, best)
	slices.Sort(all)
	all = slices.DeleteFunc(all, func(limit int) bool { return limit < 1 })
	return slices.Compact(all)
}

// The methods below return a changed workload.

func (p workload) within(bar float64) workload { p.bar = bar; return p }

func (p workload) shown() workload { p.main = true; return p }

func (p workload) atOnce(maxAtOnce int) workload { p.maxAtOnce = maxAtOnce; return p }

func (p workload) withoutCounting() workload { p.uncounted = true; return p }

func (p workload) with(meanwhile func() (end func())) workload { p.meanwhile = meanwhile; return p }

// A loop calls f for 0 to n-1.
type loop func(n int, f func(i int))

const ours = "stint.Range"

// kase is the workload at each limit, without one, and as goroutines.
func (p workload) kase() experiment.Case {
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
		p.model(result.Ours.Model(ours, "Range, without an option"), ranged()))
	return c
}

func limitName(limit int) string { return fmt.Sprintf("limit-%d", limit) }

// ranged is stint.Range.
func ranged(opts ...stint.Option) loop {
	return func(n int, f func(int)) {
		err := stint.Range(context.Background(), n, func(_ context.Context, i int) error { f(i); return nil }, opts...)
		if err != nil {
			panic(err) // no task returns an error
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

// model runs the workload with a loop.
func (p workload) model(m result.Model, run loop) experiment.Model {
	return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
		if p.meanwhile != nil {
			defer p.meanwhile()()
		}
		if p.uncounted {
			return p.timeFine(m, run)
		}
		task, check := p.tasks(p.n)
		g := gauge{ends: make([]time.Time, p.n)}
		m.Start()
		run(p.n, g.around(task))
		m.Stop()
		if !p.whole {
			m.Report(measure.Time, g.perTask(p.n/4))
		}
		m.Report(measure.AtOnce, float64(g.Peak()))
		return check()
	}}
}

// timeFine times tasks that counting would change, and counts them in a second
// run. There are so many that it times the first quarter too.
func (p workload) timeFine(m *measure.Meter, run loop) error {
	task, check := p.tasks(p.n)
	m.Start()
	run(p.n, task)
	m.Stop()
	if err := check(); err != nil {
		return err
	}
	task, check = p.tasks(p.n)
	g := gauge{ends: make([]time.Time, p.n)}
	run(p.n, g.around(task))
	m.Report(measure.AtOnce, float64(g.Peak()))
	return check()
}

// A gauge records when tasks finish, and how many run concurrently.
type gauge struct {
	engine.Gauge
	ends []time.Time // one per task
}

// around adds recording to a task.
func (g *gauge) around(task func(int)) func(int) {
	return func(i int) {
		g.Enter()
		task(i)
		g.Leave()
		g.ends[i] = time.Now()
	}
}

// perTask returns the time per task in ns after the first tasks to finish.
func (g *gauge) perTask(first int) float64 {
	slices.SortFunc(g.ends, time.Time.Compare)
	rest := g.ends[max(0, first-1):]
	return float64(rest[len(rest)-1].Sub(rest[0]).Nanoseconds()) / float64(len(rest)-1)
}

// nearBest is our conclusion about all workloads.
const nearBest = "The adaptive limit is nearly as fast as the best fixed limit, with not many more concurrent tasks."

// claims are that the best limit is not much faster, and that there are not
// many concurrent tasks.
func (p workload) claims() []result.Claim {
	out := []result.Claim{{Case: p.name, Model: ours, Unit: measure.Time, Form: result.Ratio, Than: limitName(p.best), Bar: p.bar, Conclusion: nearBest}}
	if p.maxAtOnce > 0 {
		out = append(out, result.Claim{Case: p.name, Model: ours, Unit: measure.AtOnce, Form: result.Value, Bar: float64(p.maxAtOnce), Conclusion: nearBest})
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

// Package tiny measures what an engine costs a task, and a limiter a call: tasks that do
// nothing, or compute for 100 ns.
package tiny

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// Experiment is the experiment tiny.
var Experiment = experiment.New("tiny", "what an engine costs a task, and a limiter a call: empty tasks, tasks of 100 ns, one task",
	sizes{checked: 1000}, sizes{checked: 1000}, run)

// sizes are smaller in tests.
type sizes struct {
	ops     int // tasks per sample; 0: chosen by time
	checked int // tasks counted after each sample
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("tiny", "tasks so small that the engine is what is measured",
		"All tasks are the same function, so no engine needs a closure per task. Each engine is called by a function value, which costs a nanosecond or two.",
		"An op is a task, with its share of creating the engine and waiting for its end. With permits=, it is a call of a function with a permit.",
		"Empty tasks are not counted while they are timed: after each sample an engine of the same kind runs 1,000 that are.",
		"Limiter.Do gives the function a context that has the permit, for nested calls, so it is allocated. do-Weighted-context makes such a context by hand.")
	two := z.engines("limit=2", 2, nothing)
	two.Main = true
	free, waiting := z.permits()
	return b.Run(ctx, b.OnBoth(two, limitClaims), b.OnBoth(z.engines("limit=100", 100, nothing), limitClaims), z.short(), z.single(), free, waiting)
}

// nothing is the empty task in each form.
var nothing = engine.Task{
	Plain: func() {},
	Pool:  func(context.Context) {},
	Group: func(context.Context) error { return nil },
}

// engines compares all engines with a task.
func (z sizes) engines(name string, limit int, t engine.Task) experiment.Case {
	c := experiment.Case{Name: name, Doc: "an op is a task", Reference: "goroutines", Ops: z.ops}
	for _, e := range engine.Opens() {
		c.Models = append(c.Models, experiment.Model{Model: e.Model, Run: func(m *measure.Meter) error {
			m.Start()
			x := e.New(limit, t)
			x.Go(m.N)
			x.Wait()
			m.Stop()
			x.Close()
			return engine.Check(e, limit, z.checked)
		}})
	}
	return c
}

// no is the bar for "no allocations": creating the engine and up to 100 workers
// allocates, divided by the tasks of the sample.
const no = 0.05

func limitClaims(on experiment.Names) []result.Claim {
	out := on.Each(func(kase string) []result.Claim {
		return []result.Claim{
			{Case: kase, Model: "stint.Pool", Unit: measure.Allocs, Form: result.Value, Bar: no},
			{Case: kase, Model: "stint.Group", Unit: measure.Allocs, Form: result.Value, Bar: no},
			experiment.AtMost(0.5, kase, "stint.Pool", "pond", ""),
			experiment.AtMost(0.2, kase, "stint.Pool", "errgroup", ""),
		}
	})
	for _, m := range []string{"stint.Pool", "stint.Group"} {
		out = append(out, experiment.AtMost(1.15, on.One, m, result.BestPeer, ""))
	}
	return out
}

// short compares all engines with tasks of 100 ns.
func (z sizes) short() experiment.Study {
	steps := load.Steps(100 * time.Nanosecond)
	spin := func() { runtime.KeepAlive(load.Spin(steps)) }
	c := z.engines("task=100ns/limit=2", 2, engine.TaskOf(spin))
	c.Reference = "direct"
	direct := experiment.Op(result.Floor.Model(c.Reference, "the calls one after the other"), func() error { spin(); return nil })
	c.Models = append([]experiment.Model{direct}, c.Models...)
	return experiment.One(c, experiment.AtMost(1.35, c.Name, "stint.Pool", c.Reference, ""))
}

// single compares running and awaiting one task.
func (z sizes) single() experiment.Study {
	c := experiment.Case{Name: "tasks=1", Doc: "an op is a group, one task, and waiting for it", Reference: "single-goroutine", Ops: z.ops, Main: true}
	add := func(name string, kind result.Kind, doc string, run func(f func())) {
		c.Models = append(c.Models, experiment.Model{Model: kind.Model(name, doc), Run: func(m *measure.Meter) error { return repeat(m, run) }})
	}
	add("single-goroutine", result.Peer, "sync.WaitGroup.Go", func(f func()) {
		var wg sync.WaitGroup
		wg.Go(f)
		wg.Wait()
	})
	add("single-errgroup", result.Peer, "errgroup.WithContext", func(f func()) {
		g, _ := errgroup.WithContext(context.Background())
		g.Go(func() error { f(); return nil })
		g.Wait()
	})
	add("single-conc", result.Peer, "pool.New().WithContext", func(f func()) {
		p := pool.New().WithContext(context.Background())
		p.Go(func(context.Context) error { f(); return nil })
		p.Wait()
	})
	add("single-stint.Group", result.Ours, "NewGroup", func(f func()) {
		g := stint.NewGroup(context.Background())
		g.Go(func(context.Context) error { f(); return nil })
		g.Wait()
	})
	value := func(u measure.Unit, bar float64) result.Claim {
		return result.Claim{Case: c.Name, Model: "single-stint.Group", Unit: u, Form: result.Value, Bar: bar}
	}
	return experiment.One(c, value(measure.Bytes, 600), value(measure.Time, 1000), value(measure.Goroutines, 1))
}

// repeat measures run with an empty task, and then counts the goroutines from
// inside a task.
func repeat(m *measure.Meter, run func(f func())) error {
	m.Start()
	for range m.N {
		run(func() {})
	}
	m.Stop()
	before, inside, ran := runtime.NumGoroutine(), 0, 0
	run(func() { inside = runtime.NumGoroutine(); ran++ })
	if ran != 1 {
		return fmt.Errorf("one task ran %d times", ran)
	}
	m.Report(measure.Goroutines, float64(inside-before))
	return nil
}

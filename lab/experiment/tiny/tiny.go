// Package tiny measures what an engine itself costs a task: tasks that do
// nothing, or compute for a tenth of a microsecond.
package tiny

import (
	"context"
	"runtime"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "tiny",
	Doc:  "what an engine costs a task: empty tasks, tasks of 100 ns, one task",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		z := sizes{checked: 1000, idle: time.Second}
		if s.Quick {
			z.idle = 50 * time.Millisecond
		}
		return run(ctx, s, z)
	},
}

// sizes are what a test makes smaller.
type sizes struct {
	ops     int           // tasks a sample; 0: as many as take long enough
	checked int           // tasks that are counted after each sample
	idle    time.Duration // how long to watch a pool that has nothing to do; 0: not at all
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("tiny", "tasks so small that the engine is what is measured",
		"The task is the same function each time, and no engine needs a closure of its own for each.",
		"An op is a task, with its share of making the engine and of waiting for its end.",
		"Empty tasks cannot be counted while they are timed: after each sample an engine of the same kind runs 1,000 that are.")
	return b.Conclude(measureAll(ctx, b, z))
}

func measureAll(ctx context.Context, b *experiment.Bench, z sizes) error {
	one, eight := z.empty("limit=2", 2, 1), z.empty("limit=2/submitters=8", 2, 8)
	one.Main = true
	steps := [][]experiment.Case{
		{one, eight},
		{z.empty("limit=100", 100, 1)},
		{z.onOne("limit=2", 2)},
		{z.onOne("limit=100", 100)},
		{z.short()},
		{z.single()},
	}
	if z.idle > 0 {
		steps = append(steps, []experiment.Case{z.waiting()})
	}
	claim(b)
	for _, cases := range steps {
		if err := b.Measure(ctx, cases...); err != nil {
			return err
		}
	}
	return nil
}

// nothing is the empty task, written out in each form.
var nothing = engine.Task{
	Plain: func() {},
	Pool:  func(context.Context) {},
	Group: func(context.Context) error { return nil },
}

// empty compares all engines with empty tasks.
func (z sizes) empty(name string, limit, submitters int) experiment.Case {
	c := experiment.Case{Name: name, Doc: "an op is an empty task", Reference: "goroutines", Ops: z.ops}
	for _, e := range engine.Opens() {
		c.Models = append(c.Models, z.model(e, limit, submitters, nothing))
	}
	return c
}

// onOne is empty on one processor.
func (z sizes) onOne(name string, limit int) experiment.Case {
	c := z.empty(name+"/procs=1", limit, 1)
	c.Processors = 1
	return c
}

// short compares them with tasks that are as short as is worth a mention.
func (z sizes) short() experiment.Case {
	steps := load.Steps(100 * time.Nanosecond)
	spin := engine.TaskOf(func() { runtime.KeepAlive(load.Spin(steps)) })
	c := experiment.Case{Name: "task=100ns/limit=2", Doc: "an op is a task that computes for 100 ns", Reference: "direct", Ops: z.ops}
	direct := result.Model{Name: "direct", Kind: result.Floor, Doc: "the calls one after the other"}
	c.Models = append(c.Models, experiment.Model{Model: direct, Run: func(m *measure.Meter) error {
		m.Start()
		for range m.N {
			spin.Plain()
		}
		m.Stop()
		return nil
	}})
	for _, e := range engine.Opens() {
		c.Models = append(c.Models, z.model(e, 2, 1, spin))
	}
	return c
}

// model runs the task on an engine, and then counts that many tasks on it.
func (z sizes) model(e engine.Open, limit, submitters int, t engine.Task) experiment.Model {
	return experiment.OpenModel(e, func(m *measure.Meter) error {
		m.Start()
		x := e.New(limit, t)
		engine.Submit(x, m.N, submitters)
		x.Wait()
		m.Stop()
		x.Close()
		return engine.Check(e, limit, submitters, z.checked)
	})
}

// Package tiny measures an engine's cost per task: tasks that do nothing, or
// compute for 100 ns.
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

// Experiment is the experiment tiny.
var Experiment = experiment.New("tiny", "what an engine costs a task: empty tasks, tasks of 100 ns, one task",
	sizes{checked: 1000, idle: time.Second}, sizes{checked: 1000, idle: 50 * time.Millisecond}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	ops     int           // tasks per sample; 0: chosen by time
	checked int           // tasks counted after each sample
	idle    time.Duration // how long to watch an idle pool; 0: not at all
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("tiny", "tasks so small that the engine is what is measured",
		"All tasks are the same function, so no engine needs a closure per task.",
		"An op is a task, with its share of creating the engine and waiting for its end.",
		"Empty tasks are not counted while they are timed: after each sample an engine of the same kind runs 1,000 that are.")
	return b.Conclude(measureAll(ctx, b, z))
}

func measureAll(ctx context.Context, b *experiment.Bench, z sizes) error {
	one, eight := z.empty("limit=2", 2, 1), z.empty("limit=2/submitters=8", 2, 8)
	one.Main = true
	steps := [][]experiment.Case{
		{one, eight},
		{z.empty("limit=100", 100, 1)},
		{z.empty("limit=2", 2, 1).OnOne()},
		{z.empty("limit=100", 100, 1).OnOne()},
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

// nothing is the empty task in each form.
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

// short compares all engines with tasks of 100 ns.
func (z sizes) short() experiment.Case {
	steps := load.Steps(100 * time.Nanosecond)
	spin := engine.TaskOf(func() { runtime.KeepAlive(load.Spin(steps)) })
	c := experiment.Case{Name: "task=100ns/limit=2", Doc: "an op is a task that computes for 100 ns", Reference: "direct", Ops: z.ops}
	direct := result.Floor.Model("direct", "the calls one after the other")
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

// model runs the task on an engine, and then counts as many tasks on it.
func (z sizes) model(e engine.Open, limit, submitters int, t engine.Task) experiment.Model {
	return experiment.Model{Model: e.Model, Run: func(m *measure.Meter) error {
		m.Start()
		x := e.New(limit, t)
		engine.Submit(x, m.N, submitters)
		x.Wait()
		m.Stop()
		x.Close()
		return engine.Check(e, limit, submitters, z.checked)
	}}
}

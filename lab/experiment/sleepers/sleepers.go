// Package sleepers measures a million tasks that wait: the cost of many
// goroutines in time and memory.
package sleepers

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment sleepers.
var Experiment = experiment.New("sleepers", full().String(),
	full(), workload{8000, 4000, 10 * time.Millisecond}, run)

// A workload is a number of tasks that sleep, with a limit.
type workload struct {
	tasks, limit int
	pause        time.Duration
}

func full() workload { return workload{1_000_000, 50_000, 10 * time.Millisecond} }

func (c workload) String() string {
	return fmt.Sprintf("%d tasks that sleep for %v, at most %d at once", c.tasks, c.pause, c.limit)
}

func run(ctx context.Context, s *experiment.Session, c workload) (*result.Result, error) {
	b := s.NewBench("sleepers", c.String(),
		"Memory and goroutines are those of the whole process, read every 2 ms. Garbage of earlier samples is collected and returned to the system before.",
		"Finished goroutines leave some memory in the runtime, which is in the peak of every row.",
		"The time includes creating and closing the engine, except for closing ants.",
		"The survey's figures: on 8 cores goroutines 0.5 s, errgroup and ants 0.8 to 0.9, conc 1.1; on one 1.3, 1.4, 1.5 and 1.3; conc allocates 6 MB, ants 17, goroutines 96, errgroup 104.")
	return b.Run(ctx, b.OnBoth(c.kase(), claims))
}

// samples is less than usual: one takes a second.
const samples = 7

func (c workload) kase() experiment.Case {
	kase := experiment.Case{
		Name: fmt.Sprintf("tasks=%d/limit=%d", c.tasks, c.limit), Doc: "an op is all tasks",
		Reference: "goroutines", Ops: 1, Count: samples, Peaks: true, Main: true,
	}
	for _, e := range append(engine.Opens(), engine.Queued(engine.Pool, 65536)) {
		kase.Models = append(kase.Models, c.open(e))
	}
	floor := engine.Counter(1)
	floor.Name, floor.Kind = "floor", result.Floor
	floor.Doc += ": knows that the number of tasks is fixed and that they are alike"
	kase.Models = append(kase.Models, c.loop(floor), c.loop(engine.Range()))
	return kase
}

// open runs the tasks on an open-ended engine.
func (c workload) open(e engine.Open) experiment.Model {
	return experiment.Model{Model: e.Model, Run: c.sleep(func(pause func()) func() {
		x := e.New(c.limit, engine.TaskOf(pause))
		x.Go(c.tasks)
		x.Wait()
		return x.Close
	})}
}

// loop runs the tasks as items of a loop.
func (c workload) loop(l engine.Loop) experiment.Model {
	return experiment.Model{Model: l.Model, Run: c.sleep(func(pause func()) func() {
		l.Run(c.tasks, c.limit, engine.BodyOf(func(int) { pause() }))
		return func() {}
	})}
}

// sleep measures and counts the tasks that run submits to an engine. The
// function that run returns is called afterwards.
func (c workload) sleep(run func(pause func()) (end func())) func(m *measure.Meter) error {
	return func(m *measure.Meter) error {
		var woken atomic.Int64
		m.Start()
		end := run(func() {
			time.Sleep(c.pause)
			woken.Add(1)
		})
		m.Stop()
		end()
		if n := woken.Load(); n != int64(c.tasks) {
			return fmt.Errorf("%d of %d tasks ran", n, c.tasks)
		}
		return nil
	}
}

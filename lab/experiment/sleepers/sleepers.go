// Package sleepers measures a million tasks that wait: what a goroutine costs
// when there are many, in time and in memory.
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

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "sleepers",
	Doc:  full().String(),
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		if s.Quick {
			return run(ctx, s, quick())
		}
		return run(ctx, s, full())
	},
}

// A crowd is how many sleep, how long, and how many of them at once.
type crowd struct {
	tasks, limit int
	nap          time.Duration
}

func full() crowd { return crowd{1_000_000, 50_000, 10 * time.Millisecond} }

func quick() crowd { return crowd{8000, 4000, 10 * time.Millisecond} }

func (c crowd) String() string {
	return fmt.Sprintf("%d tasks that sleep for %v, at most %d at once", c.tasks, c.nap, c.limit)
}

func run(ctx context.Context, s *experiment.Session, c crowd) (*result.Result, error) {
	b := s.NewBench("sleepers", c.String(),
		"Memory and goroutines are those of the whole process, looked at every 2 ms; what earlier samples left was collected and given back before.",
		"Goroutines that have ended leave some memory behind in the runtime, which is in the peak of every row.",
		"The engine is made and ended within the time, but for the end of ants.",
		"The survey's figures: on 8 cores goroutines 0.5 s, errgroup and ants 0.8 to 0.9, conc 1.1; on one 1.3, 1.4, 1.5 and 1.3; conc allocates 6 MB, ants 17, goroutines 96, errgroup 104.")
	return b.Run(ctx, b.OnBoth(c.kase(), claims))
}

// samples are few by default: one takes a second.
const samples = 7

func (c crowd) kase() experiment.Case {
	kase := experiment.Case{
		Name: fmt.Sprintf("tasks=%d/limit=%d", c.tasks, c.limit), Doc: "an op is all tasks",
		Reference: "goroutines", Ops: 1, Count: samples, Peaks: true, Main: true,
	}
	for _, e := range append(engine.Opens(), engine.Queued(engine.Pool, 65536)) {
		kase.Models = append(kase.Models, c.open(e))
	}
	floor := engine.Counter(1)
	floor.Name, floor.Kind = "floor", result.Floor
	floor.Doc += ": knows beforehand how many there are, and that they are all alike"
	kase.Models = append(kase.Models, c.loop(floor), c.loop(engine.Range()))
	return kase
}

// open runs the tasks on an open-ended engine.
func (c crowd) open(e engine.Open) experiment.Model {
	return experiment.OpenModel(e, c.sleep(func(nap func()) func() {
		x := e.New(c.limit, engine.TaskOf(nap))
		x.Go(c.tasks)
		x.Wait()
		return x.Close
	}))
}

// loop runs them as the items of a loop.
func (c crowd) loop(l engine.Loop) experiment.Model {
	return experiment.LoopModel(l, c.sleep(func(nap func()) func() {
		l.Run(c.tasks, c.limit, engine.BodyOf(func(int) { nap() }))
		return func() {}
	}))
}

// sleep measures and counts the tasks that run gives to an engine. What run
// returns is called afterwards.
func (c crowd) sleep(run func(nap func()) (end func())) func(m *measure.Meter) error {
	return func(m *measure.Meter) error {
		var woken atomic.Int64
		m.Start()
		end := run(func() {
			time.Sleep(c.nap)
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

// Package errgroup measures stint's errgroup beside golang.org/x/sync/errgroup.
package errgroup

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment errgroup.
var Experiment = experiment.New("errgroup", "package errgroup beside golang.org/x/sync/errgroup: small groups and large ones, with and without a limit",
	sizes{tasks: 20_000, sleepers: 100_000, samples: 40}, sizes{tasks: 2000, sleepers: 2000}, run)

// sizes are smaller in tests.
type sizes struct {
	tasks    int // of a large group
	sleepers int // of a group whose tasks sleep
	samples  int // 0: the usual number
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("errgroup", "groups of tasks that return nil, by the same code but for the import",
		"An op is a group: creating it, starting its tasks and waiting for them.",
		"The tasks of a group are the same function. Empty tasks are not counted while they are timed: after each sample a group of the same size runs tasks that are.")
	return b.Run(ctx, z.studies(b.Result.Processors)...)
}

// A shape describes a group.
type shape struct {
	task  string // "" is an empty task
	f     func() error
	tasks int
	limit int // 0: none
	peaks bool
}

func (z sizes) studies(processors int) []experiment.Study {
	var shapes []shape
	for _, limit := range []int{0, processors} {
		for _, tasks := range []int{1, 2, 3, 5, 10, 100} {
			shapes = append(shapes, shape{f: nothing, tasks: tasks, limit: limit})
		}
	}
	for _, limit := range []int{0, processors, 100} {
		shapes = append(shapes, shape{f: nothing, tasks: z.tasks, limit: limit})
	}
	for _, cost := range []time.Duration{time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond} {
		f := spin(cost)
		most := max(z.tasks*int(time.Microsecond)/int(cost), 10) // so that samples take about as long
		shapes = append(shapes,
			shape{task: cost.String(), f: f, tasks: 3},
			shape{task: cost.String(), f: f, tasks: most},
			shape{task: cost.String(), f: f, tasks: most, limit: processors})
	}
	shapes = append(shapes,
		shape{task: "sleep", f: sleep, tasks: 10},
		shape{task: "sleep", f: sleep, tasks: z.sleepers, peaks: true},
		shape{task: "sleep", f: sleep, tasks: z.sleepers / 10, limit: max(1, z.sleepers/100), peaks: true})
	var out []experiment.Study
	for _, sh := range shapes {
		out = append(out, sh.study(z))
	}
	return out
}

func nothing() error { return nil }

func sleep() error { time.Sleep(10 * time.Millisecond); return nil }

// spin returns a task that computes for d.
func spin(d time.Duration) func() error {
	steps := load.Steps(d)
	return func() error { runtime.KeepAlive(load.Spin(steps)); return nil }
}

func (sh shape) String() string {
	name := fmt.Sprintf("tasks=%d", sh.tasks)
	if sh.task != "" {
		name = "task=" + sh.task + "/" + name
	}
	if sh.limit > 0 {
		name += fmt.Sprintf("/limit=%d", sh.limit)
	}
	return name
}

// study compares the packages, and claims that ours uses no more of anything.
func (sh shape) study(z sizes) experiment.Study {
	c := experiment.Case{
		Name: sh.String(), Doc: "an op is a group", Reference: upstreamName,
		Count: z.samples, Peaks: sh.peaks, Main: slices.Contains([]int{1, 10, z.tasks}, sh.tasks),
	}
	if sh.peaks {
		c.Ops, c.Count = 1, min(z.samples, 15)
	}
	for _, g := range groups {
		c.Models = append(c.Models, experiment.Model{Model: g.Model, Run: func(m *measure.Meter) error {
			m.Start()
			for range m.N {
				g.run(sh.limit, sh.tasks, sh.f)
			}
			m.Stop()
			return sh.check(g)
		}})
	}
	claims := []result.Claim{sh.noMore(measure.Time), sh.noMore(measure.Bytes)}
	if sh.peaks {
		claims = append(claims, sh.noMore(measure.PeakMemory))
	}
	return experiment.One(c, claims...)
}

func (sh shape) noMore(u measure.Unit) result.Claim {
	return result.Claim{Case: sh.String(), Model: stintName, Unit: u, Form: result.Ratio, Than: upstreamName, Bar: 1}
}

// check runs a group whose tasks are counted and of which one fails.
func (sh shape) check(g group) error {
	var ran atomic.Int64
	err := g.run(sh.limit, sh.tasks, func() error {
		if ran.Add(1) == int64(sh.tasks) {
			return errLast
		}
		return nil
	})
	if n := ran.Load(); n != int64(sh.tasks) || err != errLast {
		return fmt.Errorf("%s, %v: %d tasks ran, and Wait returned %v", g.Name, sh, n, err)
	}
	return nil
}

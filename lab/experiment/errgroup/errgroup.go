// Package errgroup measures stint's errgroup beside golang.org/x/sync/errgroup.
package errgroup

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	upstream "golang.org/x/sync/errgroup"
)

// Experiment is the experiment errgroup.
var Experiment = experiment.New("errgroup", "package errgroup beside golang.org/x/sync/errgroup: small groups and large ones, with and without a limit",
	sizes{tasks: 20_000, sleepers: 100_000}, sizes{tasks: 2000, sleepers: 2000}, run)

// sizes are smaller in tests.
type sizes struct {
	tasks    int // of a large group
	sleepers int // of a group whose tasks sleep
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("errgroup", "groups of tasks that return nil, by the same code but for the import",
		"An op is a group: creating it, starting its tasks and waiting for them.",
		"The tasks of a group are the same function. They are not counted while they are timed: after each sample a group of the same size runs tasks that are.")
	steps := load.Steps(10 * time.Microsecond)
	nothing := func() error { return nil }
	spin := func() error { runtime.KeepAlive(load.Spin(steps)); return nil }
	sleep := func() error { time.Sleep(10 * time.Millisecond); return nil }
	var studies []experiment.Study
	for _, sh := range []shape{
		{"", nothing, 1, 0}, {"", nothing, 3, 0}, {"", nothing, 10, 0}, {"", nothing, 10, 2}, {"", nothing, 100, 0},
		{"", nothing, z.tasks, 0}, {"", nothing, z.tasks, 2}, {"", nothing, z.tasks, 100},
		{"task=10us/", spin, 3, 0}, {"task=10us/", spin, z.tasks / 10, 0}, {"task=10us/", spin, z.tasks / 10, 2},
		{sleeps, sleep, z.sleepers, 0}, {sleeps, sleep, z.sleepers / 10, z.sleepers / 100},
	} {
		studies = append(studies, sh.study(z))
	}
	return b.Run(ctx, studies...)
}

// sleeps is the prefix of shapes of which a sample is one group, with its peaks.
const sleeps = "task=sleep/"

// A shape describes a group.
type shape struct {
	prefix       string
	f            func() error
	tasks, limit int // a limit of 0 is none
}

func (sh shape) String() string {
	name := fmt.Sprintf("%stasks=%d", sh.prefix, sh.tasks)
	if sh.limit > 0 {
		name += fmt.Sprintf("/limit=%d", sh.limit)
	}
	return name
}

// most is how much more than the original ours may use. It starts as many goroutines; it also
// recovers panics and serves submitters in order, which is noticed in groups of empty tasks.
const most = 1.25

// study compares the packages, and claims that ours uses about as much of everything.
func (sh shape) study(z sizes) experiment.Study {
	c := experiment.Case{Name: sh.String(), Doc: "an op is a group", Reference: upstreamName}
	c.Main, c.Peaks = slices.Contains([]int{3, z.tasks}, sh.tasks), sh.prefix == sleeps
	units := []measure.Unit{measure.Time, measure.Bytes}
	if c.Peaks {
		c.Ops, c.Count, units = 1, 15, append(units, measure.PeakMemory)
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
	var claims []result.Claim
	for _, u := range units {
		claims = append(claims, result.Claim{Case: c.Name, Model: stintName, Unit: u, Form: result.Ratio, Than: upstreamName, Bar: most})
	}
	return experiment.One(c, claims...)
}

// errLast is returned by the last task of a checked group.
var errLast = errors.New("the last task")

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

// The names of the two models.
const (
	stintName    = "stint/errgroup"
	upstreamName = "x/sync/errgroup"
)

// A group is one of the two packages. run creates a group, starts tasks, and waits for
// them. A limit of 0 is none.
type group struct {
	result.Model
	run func(limit, tasks int, f func() error) error
}

// groups have the same code twice, so that the compiler sees the package.
var groups = []group{
	{result.Ours.Model(stintName, "github.com/stint-go/stint/errgroup: Group.Go"), func(limit, tasks int, f func() error) error {
		var g errgroup.Group
		if limit > 0 {
			g.SetLimit(limit)
		}
		for range tasks {
			g.Go(f)
		}
		return g.Wait()
	}},
	{result.Peer.Model(upstreamName, "golang.org/x/sync/errgroup: Group.Go"), func(limit, tasks int, f func() error) error {
		var g upstream.Group
		if limit > 0 {
			g.SetLimit(limit)
		}
		for range tasks {
			g.Go(f)
		}
		return g.Wait()
	}},
}

package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
)

// Worker processes for sleeping tasks, and slots of each.
const (
	workerProcs = 3
	fewSlots    = 4
)

// slotsUsed is our conclusion about several processes.
const slotsUsed = "The slots of several processes are used: tasks of 10 ms on 3 processes of 4 slots take at most a tenth longer than the ideal."

// sleeping measures tasks that sleep, on several processes.
func (z sizes) sleepTask(ctx context.Context) experiment.Study {
	c := experiment.Case{
		Name: fmt.Sprintf("task=%v/slots=%d/workers=%d", sleepTime, fewSlots, workerProcs),
		Doc:  "an op is a task that sleeps, on a slot of one of several workers; workers and server are separate processes", Reference: nameIdeal,
		Ops: z.sleeping, Count: z.samples, Main: true,
	}
	c.Models = []experiment.Model{
		{Model: describe(nameMap), Run: func(m *measure.Meter) error { return onProcesses(ctx, m, "sleeper", mapRemote) }},
		{Model: describe(nameBaseline), Run: func(m *measure.Meter) error { return onProcesses(ctx, m, "sleeper with nats.go", baselineRemote) }},
		{Model: describe(nameLocal), Run: func(m *measure.Meter) error { return locally(ctx, m, sleep, workerProcs*fewSlots) }},
		{Model: describe(nameIdeal), Run: func(m *measure.Meter) error {
			m.Report(measure.Time, float64(sleepTime.Nanoseconds())/(workerProcs*fewSlots))
			return nil
		}},
	}
	return experiment.One(c, experiment.AtMost(1.1, c.Name, nameMap, nameIdeal, slotsUsed))
}

// onProcesses starts a server and workers, and takes a sample with them.
func onProcesses(ctx context.Context, m *measure.Meter, role string, sample func(context.Context, *measure.Meter, string) error) error {
	c, err := newProcesses(ctx)
	if err != nil {
		return err
	}
	for range workerProcs {
		if err == nil {
			_, err = c.add(child{Role: role, Slots: fewSlots})
		}
	}
	if err == nil {
		err = sample(c.ctx, m, c.url())
	}
	_, err = c.end(err)
	return err
}

// mapRemote takes our sample on the workers of a server.
func mapRemote(ctx context.Context, m *measure.Meter, url string) error {
	e, err := cluster.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := awaitWorkers(ctx, e); err != nil {
		return err
	}
	return mapped(ctx, m, e, sleepTask)
}

// awaitWorkers waits until all worker processes take tasks.
func awaitWorkers(ctx context.Context, c *cluster.Client) error {
	seen := map[int]bool{}
	for len(seen) < workerProcs {
		pids, err := cluster.Map(ctx, c, sleepTask, slices.Repeat([]int{askPID}, workerProcs*fewSlots))
		if err != nil {
			return err
		}
		for _, pid := range pids {
			seen[pid] = true
		}
	}
	return nil
}

// baselineRemote takes a sample of the hand-written loop.
func baselineRemote(ctx context.Context, m *measure.Meter, url string) error {
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	h, err := newBaseline(ctx, nc)
	if err != nil {
		return err
	}
	return h.sample(ctx, m)
}

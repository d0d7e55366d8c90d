package remote

import (
	"context"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
)

// How many worker processes there are where tasks sleep, and the slots of each.
const (
	processes = 3
	fewSlots  = 4
)

// allUsed is our conclusion about several processes.
const allUsed = "The slots of several processes are used: tasks of 10 ms on 3 processes of 4 slots take at most a tenth longer than they must."

// napping is tasks that sleep, on several processes.
func (z sizes) napping(ctx context.Context) experiment.Study {
	c := experiment.Case{
		Name: fmt.Sprintf("task=%v/slots=%d/workers=%d", napTime, fewSlots, processes),
		Doc:  "an op is a task that sleeps, on one of the slots of several workers; these and the server are a process each", Reference: ideal,
		Ops: z.naps, Count: z.samples, Main: true,
	}
	c.Models = []experiment.Model{
		{Model: describe(ours), Run: func(m *measure.Meter) error { return onProcesses(ctx, m, "napper", mapThere) }},
		{Model: describe(byHand), Run: func(m *measure.Meter) error { return onProcesses(ctx, m, "napper by hand", handThere) }},
		{Model: describe(local), Run: func(m *measure.Meter) error { return locally(ctx, m, nap, processes*fewSlots) }},
		{Model: describe(ideal), Run: func(m *measure.Meter) error {
			m.Report(measure.Time, float64(napTime.Nanoseconds())/(processes*fewSlots))
			return nil
		}},
	}
	return experiment.One(c, experiment.AtMost(1.1, c.Name, ours, ideal, allUsed))
}

// onProcesses starts a server and workers, and takes a sample with them.
func onProcesses(ctx context.Context, m *measure.Meter, role string, sample func(context.Context, *measure.Meter, string) error) error {
	c, err := newCrew(ctx)
	if err != nil {
		return err
	}
	for range processes {
		if err == nil {
			_, err = c.add(member{Role: role, Slots: fewSlots})
		}
	}
	if err == nil {
		err = sample(c.ctx, m, c.url())
	}
	_, err = c.end(err)
	return err
}

// mapThere takes a sample of ours on the workers of a server.
func mapThere(ctx context.Context, m *measure.Meter, url string) error {
	e, err := cluster.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := all(ctx, e); err != nil {
		return err
	}
	return mapped(ctx, m, e, napping)
}

// all waits until all worker processes take tasks.
func all(ctx context.Context, e *cluster.Engine) error {
	seen := map[int]bool{}
	for len(seen) < processes {
		pids, err := cluster.Map(ctx, e, napping, slices.Repeat([]int{who}, processes*fewSlots))
		if err != nil {
			return err
		}
		for _, pid := range pids {
			seen[pid] = true
		}
	}
	return nil
}

// handThere takes a sample of the loop that is written by hand.
func handThere(ctx context.Context, m *measure.Meter, url string) error {
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	h, err := newHand(ctx, nc)
	if err != nil {
		return err
	}
	return h.sample(ctx, m)
}

// Package cluster measures tasks on the workers of package cluster: their cost
// beside a hand-written loop, the use of several processes, and the processes'
// memory.
package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment cluster.
var Experiment = experiment.New("cluster", "tasks that go to workers through NATS JetStream: beside a loop by hand, on three processes, a million of them",
	sizes{empty: 20_000, sleeping: 1200, fewTasks: 100_000, manyTasks: 1_000_000, samples: 12},
	sizes{empty: 1000, sleeping: 48, fewTasks: 1000, manyTasks: 3000}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	empty               int // tasks that do nothing
	sleeping            int // tasks that sleep
	fewTasks, manyTasks int // tasks of the runs whose memory is compared
	samples             int // samples of tasks that sleep; 0: the usual number
}

const (
	manySlots = 64 // of a worker whose tasks do nothing

	// Worker processes for sleeping tasks, slots of each, and how long a task sleeps.
	workerProcs = 3
	fewSlots    = 4
	sleepTime   = 10 * time.Millisecond
)

// The models, which are the same in all cases.
var (
	ours    = result.Ours.Model("cluster.Map", "cluster.Map, and workers in cluster.Serve with a Limit")
	oursSeq = result.Ours.Model("cluster.MapSeq", "cluster.MapSeq over a sequence that holds nothing, and a worker in cluster.Serve with a Limit")
	byHand  = result.Peer.Model("nats.go", fmt.Sprintf("a hand-written loop with nats.go and package jetstream: PublishAsync, at most %d pending, "+
		"Messages with as many as there are slots, Publish of a result that exists once, DoubleAck, an ordered consumer", maxPending))
)

// Our conclusions.
const (
	nearLoop      = "A task through cluster.Map takes at most a quarter more than through a hand-written loop."
	fastSubmit    = "One process sends 10,000 tasks a second to its own worker, with an embedded server."
	slotsUsed     = "The slots of several processes are used: tasks of 10 ms on 3 processes of 4 slots take at most a tenth longer than the ideal."
	memoryBounded = "The memory of submitter, worker and server does not grow with the number of tasks."
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("cluster", "tasks that double a number, with or without a wait, on workers reached through a NATS server",
		"The server keeps its streams in memory. Numbers are sent as JSON. "+
			"Server, streams and workers are created for each sample, and run some tasks before the time starts.",
		"Submitters and workers reach the server through the loopback interface, also in the same process. "+
			"Several processes share this machine's processors. Bytes and allocations are those of the submitting process.",
		"Peak memory is of heap and stacks, read every 2 ms from the start of a process to its end.")
	empty := experiment.Case{
		Name: fmt.Sprintf("task=empty/slots=%d", manySlots), Reference: byHand.Name, Ops: z.empty, Main: true,
		Doc: "an op is a task that does nothing, with the server and the worker in the same process",
	}
	sleeping := experiment.Case{
		Name: fmt.Sprintf("task=%v/slots=%d/workers=%d", sleepTime, fewSlots, workerProcs), Reference: byHand.Name, Ops: z.sleeping, Count: z.samples, Main: true,
		Doc: "an op is a task that sleeps, on a slot of one of several workers; workers and server are separate processes",
	}
	for _, m := range []result.Model{ours, byHand} {
		empty.Models = append(empty.Models, experiment.Model{Model: m, Run: func(meter *measure.Meter) error {
			return inOneProcess(ctx, meter, m, double(0))
		}})
		sleeping.Models = append(sleeping.Models, experiment.Model{Model: m, Run: func(meter *measure.Meter) error { return onWorkers(ctx, meter, m) }})
	}
	const ideal = float64(sleepTime) / (workerProcs * fewSlots)
	return b.Run(ctx,
		experiment.One(empty,
			experiment.AtMost(1.25, empty.Name, ours.Name, byHand.Name, nearLoop),
			result.Claim{Case: empty.Name, Model: ours.Name, Unit: measure.Time, Form: result.Value, Bar: 100_000,
				Note: "10,000 tasks a second", Conclusion: fastSubmit}),
		experiment.One(sleeping, result.Claim{Case: sleeping.Name, Model: ours.Name, Unit: measure.Time, Form: result.Value, Bar: 1.1 * ideal,
			Note: fmt.Sprintf("1.1 x the ideal, %v divided by %d slots", sleepTime, workerProcs*fewSlots), Conclusion: slotsUsed}),
		z.memory(ctx))
}

// memory compares runs of few and of many tasks, with submitter, worker and server in
// processes of their own.
func (z sizes) memory(ctx context.Context) experiment.Study {
	var st experiment.Study
	for _, n := range []int{z.fewTasks, z.manyTasks} {
		st.Cases = append(st.Cases, experiment.Case{
			Name: fmt.Sprintf("task=empty/slots=%d/tasks=%d", manySlots, n), Reference: oursSeq.Name, Ops: 1, Count: 6, Main: true,
			Doc:    "an op is a run of all tasks; submitter, worker and server are separate processes",
			Models: []experiment.Model{{Model: oursSeq, Run: func(m *measure.Meter) error { return inSeparateProcesses(ctx, m, n) }}},
		})
	}
	for _, u := range []measure.Unit{measure.SubmitterPeak, measure.WorkerPeak, measure.ServerPeak} {
		st.Claims = append(st.Claims, result.Claim{
			Case: st.Cases[1].Name, Model: oursSeq.Name, Unit: u, Form: result.Ratio, Than: oursSeq.Name, InCase: st.Cases[0].Name, Bar: 1.25, Conclusion: memoryBounded,
		})
	}
	return st
}

// A task is the work of a case; a mapper runs it for every item and returns the results.
type (
	task   = func(context.Context, int) (int, error)
	mapper func(ctx context.Context, items []int) ([]int, error)
)

// double returns a task that sleeps and doubles its item.
func double(sleep time.Duration) task {
	return func(_ context.Context, n int) (int, error) {
		time.Sleep(sleep)
		return 2 * n, nil
	}
}

// sample takes a sample, after some tasks for all workers.
func (run mapper) sample(ctx context.Context, m *measure.Meter) error {
	items, want := make([]int, m.N), make([]int, m.N)
	for i := range items {
		items[i], want[i] = i, 2*i
	}
	if _, err := run(ctx, items[:min(m.N, 4*workerProcs*fewSlots)]); err != nil {
		return err
	}
	m.Start()
	results, err := run(ctx, items)
	m.Stop()
	if err == nil && !slices.Equal(results, want) {
		err = fmt.Errorf("the results of %d tasks are wrong: %.100s", m.N, fmt.Sprint(results))
	}
	return err
}

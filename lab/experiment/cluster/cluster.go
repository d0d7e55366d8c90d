// Package cluster measures tasks on the workers of package cluster: their cost
// beside a hand-written loop, the use of several processes, and the processes'
// memory.
package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment cluster.
var Experiment = experiment.New("cluster", "tasks that go to workers through NATS JetStream: beside a loop by hand, on three processes, a million of them",
	sizes{empty: 20_000, sleeping: 1200, fewTasks: 100_000, manyTasks: 1_000_000, samples: 12},
	sizes{empty: 2000, sleeping: 96, fewTasks: 1000, manyTasks: 4000}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	empty               int // tasks that do nothing
	sleeping            int // tasks that sleep
	fewTasks, manyTasks int // tasks of the runs whose memory is compared
	samples             int // samples of tasks that sleep; 0: the usual number
}

// The names of the models.
const (
	nameMap      = "cluster.Map"
	nameMapSeq   = "cluster.MapSeq"
	nameBaseline = "nats.go"
	nameLocal    = "stint.Map"
	nameIdeal    = "ideal"
)

// describe returns the model, which is the same in all cases.
func describe(name string) result.Model {
	m := result.Model{Name: name, Kind: result.Floor}
	switch name {
	case nameMap:
		m.Kind, m.Doc = result.Ours, "cluster.Map, and workers in cluster.Serve with a Limit"
	case nameMapSeq:
		m.Kind, m.Doc = result.Ours, "cluster.MapSeq over a sequence that holds nothing, and a worker in cluster.Serve with a Limit"
	case nameBaseline:
		m.Kind, m.Doc = result.Peer, fmt.Sprintf("a hand-written loop with nats.go and package jetstream: PublishAsync, at most %d pending, Fetch of as many as slots are free, Publish of a result that exists once, DoubleAck, an ordered consumer", maxPending)
	case nameLocal:
		m.Doc = "stint.Map in this process, with the slots of all workers as its Limit"
	case nameIdeal:
		m.Doc = "computed: the time of all tasks divided by the number of slots"
	}
	return m
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("cluster", "tasks that double a number, with or without a wait, on workers reached through a NATS server",
		"The server keeps its streams in memory. Numbers are sent as JSON. Server, streams and workers are created for each sample, and run one task or more before the time starts.",
		"Where there are several processes, they share this machine's processors and are connected through its loopback interface. Bytes and allocations are those of the submitting process.",
		"Peak memory is of heap and stacks, read every 2 ms from the start of a process to its end.")
	return b.Run(ctx, z.emptyTasks(ctx), z.sleepTask(ctx), z.memory(ctx))
}

// double is the work of all tasks.
func double(_ context.Context, n int) (int, error) { return 2 * n, nil }

// sleepTime is how long a sleeping task sleeps.
const sleepTime = 10 * time.Millisecond

// sleep is a task that sleeps.
func sleep(ctx context.Context, n int) (int, error) {
	time.Sleep(sleepTime)
	return double(ctx, n)
}

// numbers returns n items.
func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// check returns an error unless results are those of n items, in order.
func check(results []int, n int) error {
	if len(results) != n {
		return fmt.Errorf("%d results of %d tasks", len(results), n)
	}
	for i, v := range results {
		if v != 2*i {
			return fmt.Errorf("result %d of %d is %d, want %d", i, n, v, 2*i)
		}
	}
	return nil
}

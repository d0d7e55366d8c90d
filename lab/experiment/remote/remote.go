// Package remote is the experiment cluster. It measures tasks that run on the workers of
// package cluster: what the way to them costs beside a loop that is written by hand,
// how well several processes are used, and what the processes hold.
package remote

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "cluster",
	Doc:  "tasks that go to workers through NATS JetStream: beside a loop by hand, on three processes, a million of them",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		if s.Quick {
			return run(ctx, s, sizes{empty: 2000, naps: 96, few: 1000, many: 4000})
		}
		return run(ctx, s, sizes{empty: 20_000, naps: 1200, few: 100_000, many: 1_000_000, samples: 12})
	},
}

// sizes are what a quick run and a test make smaller.
type sizes struct {
	empty     int // tasks that do nothing
	naps      int // tasks that sleep
	few, many int // tasks of the runs whose memory is compared
	samples   int // of tasks that sleep; 0: the usual number
}

// The names of the models.
const (
	ours   = "cluster.Map"
	seq    = "cluster.MapSeq"
	byHand = "nats.go"
	local  = "stint.Map"
	ideal  = "ideal"
)

// describe returns a model, with what is the same of it in all cases.
func describe(name string) result.Model {
	m := result.Model{Name: name, Kind: result.Floor}
	switch name {
	case ours:
		m.Kind, m.Doc = result.Ours, "cluster.Map, and workers in cluster.Serve with a Limit"
	case seq:
		m.Kind, m.Doc = result.Ours, "cluster.MapSeq over a sequence that holds nothing, and a worker in cluster.Serve with a Limit"
	case byHand:
		m.Kind, m.Doc = result.Peer, fmt.Sprintf("a loop by hand with nats.go and package jetstream: PublishAsync, at most %d ahead, Fetch of as many as slots are free, Publish of a result that exists once, DoubleAck, an ordered consumer", ahead)
	case local:
		m.Doc = "stint.Map in this process, with the slots of all workers as its Limit"
	case ideal:
		m.Doc = "computed: the time of all tasks, divided by the number of slots"
	}
	return m
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("cluster", "tasks that double a number, and wait or do not, on workers that are reached through a NATS server",
		"The server keeps its streams in memory. Numbers go over the wire as JSON. What a model needs is made for each sample: server, streams, workers. One task or more has been through them before the time begins.",
		"Where there are several processes they are on this machine, and connected through its loopback interface. They share its processors. Bytes and allocations are those of the process that submits.",
		"The peaks of memory are of heap and stacks, looked at every 2 ms from the start of a process to its end.")
	return b.Run(ctx, z.emptyTasks(ctx), z.napping(ctx), z.memory(ctx))
}

// double is what all tasks do.
func double(_ context.Context, n int) (int, error) { return 2 * n, nil }

// napTime is how long a task sleeps, of those that do.
const napTime = 10 * time.Millisecond

// nap is a task that sleeps.
func nap(ctx context.Context, n int) (int, error) {
	time.Sleep(napTime)
	return double(ctx, n)
}

// numbers are the items.
func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// check returns an error unless the results are those of n items, in order.
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

package main

import (
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/report"
)

// costs are the rows of the README's table and picture. They are chosen by subject, not by
// result.
var costs = []report.Cost{
	{
		Of:         "an empty task, at most 2 at once",
		Experiment: "tiny", Case: "limit=2", Unit: measure.Time,
		Ours: []string{"stint.Pool", "stint.Group"}, Others: []string{"goroutines", "channel", "errgroup", "conc", "ants", "pond"},
		Pictured: []string{"stint.Pool", "goroutines", "errgroup", "conc", "ants", "pond"},
	},
	{
		Of:         "a group of one task",
		Experiment: "tiny", Case: "tasks=1", Unit: measure.Time,
		Ours: []string{"single-stint.Group"}, Others: []string{"single-goroutine", "single-errgroup", "single-conc"},
	},
	{
		Of:         "a group of 3 empty tasks, by package errgroup",
		Experiment: "errgroup", Case: "tasks=3", Unit: measure.Time,
		Ours: []string{"stint/errgroup"}, Others: []string{"x/sync/errgroup"},
	},
	{
		Of:         "a group of 20,000, at most 2 at once",
		Experiment: "errgroup", Case: "tasks=20000/limit=2", Unit: measure.Time,
		Ours: []string{"stint/errgroup"}, Others: []string{"x/sync/errgroup"},
	},
	{
		Of:         "a loop over 10 items of 2 ns",
		Experiment: "loops", Case: "few=mixed/n=10", Unit: measure.Time,
		Ours: []string{"par.Each", "stint.Each"}, Others: []string{"plain", "static", "errgroup", "conc"},
	},
	{
		Of:         "1,000,000 items of `math.Pow`; stint has no option, libraries with a limit have one goroutine a processor",
		Experiment: "cpu", Case: "n=1000000", Unit: measure.Time,
		Ours: []string{"stint.Each", "par.Reduce"}, Others: []string{"sequential", "parallelize", "conc-iter", "pool", "errgroup"},
		Pictured: []string{"stint.Each", "errgroup", "conc-iter", "pool"},
	},
	{
		Of:         "100 items that wait 0 to 9 ms; stint has no option, pool has one goroutine a processor, errgroup and pool-max have ten",
		Experiment: "io", Case: "n=100", Unit: measure.Time,
		Ours: []string{"stint.Each"}, Others: []string{"sequential", "pool", "pool-max", "errgroup", "goroutines"},
		Pictured: []string{"stint.Each", "errgroup", "pool", "sequential"},
	},
	{
		Of:         "1,000,000 tasks that sleep 10 ms, 50,000 at once",
		Experiment: "sleepers", Case: "tasks=1000000/limit=50000", Unit: measure.Time,
		Ours: []string{"stint.Pool", "stint.Group"}, Others: []string{"goroutines", "errgroup", "conc", "ants", "workerpool"},
		Pictured: []string{"stint.Pool", "goroutines", "errgroup", "conc", "ants"},
	},
	{
		Of:         "peak heap and stacks of the same",
		Experiment: "sleepers", Case: "tasks=1000000/limit=50000", Unit: measure.PeakMemory,
		Ours: []string{"stint.Pool", "stint.Group"}, Others: []string{"goroutines", "errgroup", "conc", "ants", "workerpool"},
		Pictured: []string{"stint.Pool", "goroutines", "errgroup", "conc", "ants"},
	},
	{
		Of:         "a record sent to another goroutine",
		Experiment: "hops", Case: "record=32-bytes/boundaries=1/beside=peers", Unit: measure.Time,
		Ours: []string{"stream.Buffer"}, Others: []string{"channel", "channel-64", "batches", "rill"},
		Pictured: []string{"stream.Buffer", "channel", "rill"},
	},
	{
		Of:         "one of 20,000,263 records read from a file; -fused uses one goroutine, the other rows of stint two",
		Experiment: "scan", Case: "records=20000263/table=large", Unit: measure.Time,
		Ours: []string{"stream.FromSeq-fused", "stream.FromSeq"}, Others: []string{"direct", "channel", "channel-1000", "batches-1000"},
	},
}

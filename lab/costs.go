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
		Pictured: []string{"stint.Pool", "goroutines", "channel", "errgroup", "conc", "ants", "pond"},
	},
	{
		Of:         "a loop over 10 items of 2 ns",
		Experiment: "loops", Case: "few=mixed/n=10", Unit: measure.Time,
		Ours: []string{"par.Each", "stint.Each"}, Others: []string{"plain", "static", "errgroup", "conc"},
	},
	{
		Of:         "100 items that wait 0 to 9 ms; stint finds its number of workers, the pool, written by hand, has one a processor, errgroup ten, a usual guess",
		Experiment: "io", Case: "n=100", Unit: measure.Time,
		Ours: []string{"stint.Each"}, Others: []string{"sequential", "pool", "errgroup", "goroutines"},
		Pictured: []string{"stint.Each", "goroutines", "errgroup", "pool", "sequential"},
	},
	{
		Of:         "1,000,000 tasks that sleep 10 ms, 50,000 at once",
		Experiment: "sleepers", Case: "tasks=1000000/limit=50000", Unit: measure.Time,
		Pictured: []string{"stint.Pool", "goroutines", "errgroup", "conc", "ants", "workerpool"},
	},
	{
		Of:         "peak heap and stacks of the million tasks",
		Experiment: "sleepers", Case: "tasks=1000000/limit=50000", Unit: measure.PeakMemory,
		Pictured: []string{"stint.Pool", "goroutines", "errgroup", "conc", "ants", "workerpool"},
	},
	{
		Of:         "a record sent to another goroutine",
		Experiment: "hops", Case: "record=32-bytes/boundaries=1/beside=peers", Unit: measure.Time,
		Pictured: []string{"stream.Buffer", "channel", "rill"},
	},
}

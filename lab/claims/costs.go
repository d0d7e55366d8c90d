package claims

// A Cost is a row of the README's table and a panel of its picture.
type Cost struct {
	Of, Unit     string // the work, and what is measured of it
	Ours, Others []string
}

// Costs are chosen by subject, not by result.
var Costs = []Cost{
	{"an empty task, at most 2 at once", "sec/item", each("EmptyTask/model=", "stint.Pool stint.Group"),
		each("EmptyTask/model=", "goroutines channel errgroup conc ants pond")},
	{"a loop that calls a function of 2 ns for 10 items", Time, each("Loop/items=10/model=", "par.Each stint.Each"),
		each("Loop/items=10/model=", "plain pieces errgroup conc.iter")},
	{"100 items that wait 0 to 9 ms; stint finds its number of workers, the pool has one for each CPU, errgroup ten, a usual guess",
		Time, each("Wait/model=", "stint.Map"), each("Wait/model=", "goroutines errgroup-no-limit errgroup pool sequential")},
	{"400,000 tasks that sleep 7 ms, 30,000 at once", Time, each("Sleepers/model=", "stint.Pool stint.Group"),
		each("Sleepers/model=", "goroutines conc")},
	{"peak heap and stacks of these tasks", "peak-B/op", each("Sleepers/model=", "stint.Pool stint.Group"),
		each("Sleepers/model=", "goroutines conc")},
	{"a record sent to another goroutine", "sec/item", each("Hop/model=", "stream.Buffer"),
		each("Hop/model=", "channel channel-buffered batches rill")},
}

package claims

import "strings"

// A Cost is a row of the README's table and a panel of its picture.
type Cost struct {
	Of           string // the work
	In, Filter   string
	Unit         string // Time if empty
	Ours, Others []Measured
}

// A Measured is a benchmark with the name that readers know.
type Measured struct{ Name, Bench string }

// Costs are chosen by subject, not by result.
var Costs = []Cost{
	cost("an empty task, at most 2 at once", "sec/item", "EmptyTask", "stint.Pool stint.Group", "goroutines channel errgroup conc ants pond"),
	cost("a loop that calls a function of 2 ns for 10 items", "", "Loop/items=10", "par.Each stint.Each", "plain pieces errgroup conc.iter"),
	cost("100 items that wait 0 to 9 ms; stint finds its number of workers, the pool has one for each CPU, errgroup ten, a usual guess", "", "Wait",
		"stint.Map", "goroutines errgroup-no-limit errgroup pool sequential"),
	cost("400,000 tasks that sleep 7 ms, 30,000 at once", "", "Sleepers", "stint.Pool stint.Group", "goroutines conc"),
	cost("peak heap and stacks of these tasks", "peak-B/op", "Sleepers", "stint.Pool stint.Group", "goroutines conc"),
	cost("a record sent to another goroutine", "sec/item", "Hop", "stream.Buffer", "channel channel-buffered batches rill"),
}

func cost(of, unit, bench, ours, others string) Cost {
	measured := func(models string) (out []Measured) {
		for m := range strings.FieldsSeq(models) {
			name := strings.Replace(m, "-no-limit", ", no limit", 1)
			if m == "goroutines" {
				name += ", no limit"
			}
			out = append(out, Measured{name, bench + "/model=" + m})
		}
		return out
	}
	return Cost{of, "ours", "", unit, measured(ours), measured(others)}
}

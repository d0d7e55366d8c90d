package loops

import (
	"fmt"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/result"
)

// The conclusions.
const (
	fewTiny  = "A loop over up to 100 items of 2 ns takes at most 0.4 µs more than a plain loop, and over up to 10,000 at most 0.8 µs."
	manyTiny = "A loop over a million tiny items is as fast as pieces cut by hand."
	alone    = "On one processor, a loop over a million tiny items is at most 1.15 times as slow as a plain loop."
	evenly   = "Items of unequal cost, and those of a loop in a loop, are shared out evenly."
	waits    = "A loop over items that wait is as fast as goroutines, one an item or as many as the limit."
	ends     = "A loop ends within 0.1 ms after an error or the end of its context."
	reduces  = "par.Reduce is as fast as the sums of pieces cut by hand."
	counts   = "par.RangeWith is as fast as a histogram for each of the pieces cut by hand."
	finds    = "par.Find is never much slower than a loop, and faster if the element is far from the first."
)

// rows returns the cases: name, doc, reference, models, and a claim: conclusion, models,
// form, bar.
func (z sizes) rows() []row {
	ours := []string{"stint.Range", "stint.Each", "par.Each", "par.Range"}
	stints, callers := ours[:2], ours[:3]
	quick := []engine.Loop{ // others take too long for a million items
		engine.Plain(), engine.Static(), engine.Counter(1), engine.Counter(1024), engine.ConcIter(), engine.Range(), engine.Each(), engine.ParEach(),
	}
	short := append([]engine.Loop{engine.GoroutineEach(), engine.ErrgroupEach()}, quick...)
	all := append(slices.Clone(short), engine.ParRange())
	ranges := []engine.Loop{engine.PlainRange(), engine.StaticRange(), engine.ParRange()}
	limited := []engine.Loop{engine.Counter(1), engine.ErrgroupEach(), engine.ConcIter(), engine.Rill(), engine.Range(), engine.Each()}
	unlimited := append([]engine.Loop{engine.GoroutineEach()}, limited...)

	million, most, inner, large, p := z.n(1e6), z.n(1e7), z.n(1000), z.n(200), z.p
	many, find := fmt.Sprintf("many=mixed/n=%d", million), fmt.Sprintf("find=last/n=%d", most)
	phases := append(make([]time.Duration, 1000*large), slices.Repeat([]time.Duration{95 * time.Microsecond}, large)...)
	const (
		ratio = result.Ratio
		tiny  = "items of about 2 ns"
		sleep = "items that sleep for 1 ms"
		late  = "the time is from the event to the return of a loop over items of 100 ns"
	)
	var few []row
	for _, n := range []int{1, 10, 100, 1000, 10_000} {
		more := 400.0
		if n > 100 {
			more = 800
		}
		few = append(few, row{fmt.Sprintf("few=mixed/n=%d", n), tiny, "plain", mixed(n, short), fewTiny, callers, result.Difference, more, nil})
	}
	return append(few, []row{
		{many, tiny, "static", mixed(million, quick), manyTiny, callers, ratio, 1.05, shown},
		{many + "/form=range", tiny, "static-range", mixed(million, ranges), manyTiny, ours[3:], ratio, 1.03, nil},
		{many, tiny, "plain", mixed(million, quick), alone, callers, ratio, 1.15, onOne},

		// The plain loop takes the sum of all, so the bar is slightly more than a p-th of it.
		{"item=unequal/cost=rising", "items of 0 to 12 µs", "plain", spinning(rising(z.n(3000)), all), evenly, ours, ratio, 1.05 / p, nil},
		{"item=unequal/cost=zipf", "items of 1 µs on average, the k-th largest a k-th of the largest", "plain",
			spinning(zipf(z.n(20_000)), all), evenly, ours, ratio, 1.05 / p, nil},
		{"item=unequal/cost=phases", fmt.Sprintf("%d items of a few ns, then %d of 95 µs", 1000*large, large), "plain",
			spinning(phases, all), evenly, ours, ratio, 1.25 / p, nil},
		{fmt.Sprintf("loop=nested/n=100x%d", inner), "loops over items of 100 ns, in a loop", "plain",
			spinning(slices.Repeat([]time.Duration{100}, 100*inner), nested(all, 100)), evenly, ours, ratio, 1.1 / p, nil},

		{"item=waiting/n=100/limit=10", sleep, "counter-1", sleeping(100, 10, limited), waits, stints, ratio, 1.2, nil},
		{"item=waiting/n=1000/limit=100", sleep, "counter-1", sleeping(1000, 100, limited), waits, stints, ratio, 1.2, shown},
		{"item=waiting/n=1000/limit=1000", sleep, "goroutines", sleeping(1000, 1000, unlimited), waits, stints, ratio, 1.15, shown},

		{"loop=ended/event=error", late, "ctx-errgroup", ended(million, true), ends, ours[:1], result.Value, 100e3, fewOps},
		{"loop=ended/event=cancel", late, "ctx-errgroup", ended(million, false), ends, ours[:1], result.Value, 100e3, fewOps},

		{fmt.Sprintf("reduce=sum/n=%d", most), "a sum of float64; that of par.Reduce has the same bits at any GOMAXPROCS", "sum-static",
			reduced(most), reduces, []string{"par.Reduce"}, ratio, 1.05, nil},
		{fmt.Sprintf("histogram/n=%d", most), "how often each byte is there", "histogram-static",
			counted(most), counts, []string{"par.RangeWith"}, ratio, 1.05, nil},

		// Several processors can share a search up to the element; one has nothing to gain.
		{fmt.Sprintf("find=first/n=%d", million), "a search for one element", "slices.IndexFunc",
			found(million, 0), finds, []string{"par.Find"}, result.Difference, 800, nil},
		{find, "a search for one element", "slices.IndexFunc", found(most, most-1), finds, []string{"par.Find"}, ratio, 1.2 / p, nil},
		{find, "a search for one element", "slices.IndexFunc", found(most, most-1), finds, []string{"par.Find"}, ratio, 1.05, onOne},
	}...)
}

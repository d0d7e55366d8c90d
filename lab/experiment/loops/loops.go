// Package loops measures a known number of items: the cost of a loop beside the
// best hand-written one for few, tiny, unequal, waiting or nested items.
package loops

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment loops.
var Experiment = experiment.New("loops", "loops over few, tiny, unequal, waiting and nested items, beside hand-written ones",
	sizes{divisor: 1}, sizes{divisor: 40}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	divisor int     // of the number of items
	ops     int     // operations per sample; 0: chosen by time
	p       float64 // processors
}

// n scales a number of items.
func (z sizes) n(full int) int { return max(1, full/z.divisor) }

// samples is less than usual: there are many models.
const samples = 12

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("loops", "loops over few, tiny, unequal, nested, waiting and failing items, and calls that give a result",
		"An op is a whole loop. Loops that need a limit have GOMAXPROCS; stint's limit is adaptive.",
		"Items are called functions, in hand-written loops too. Only plain-range, static-range and par.Range "+
			"call the body with a range of indexes, which is less work for tiny items.",
		"The results of all items are checked after each sample.")
	z.p = float64(b.Result.Processors)
	return b.RunSeq(ctx, func(yield func(experiment.Study) bool) {
		for _, r := range z.rows() {
			if !yield(r.study(z.ops)) {
				return
			}
		}
	})
}

// A row is a case and a claim about some of its models.
type row struct {
	name, doc, reference string

	models     func() []experiment.Model // called when its turn comes: the data may be large
	conclusion string
	ours       []string
	form       result.Form
	bar        float64
	options    func(*experiment.Case)
}

func (r row) study(ops int) experiment.Study {
	c := experiment.Case{Name: r.name, Doc: r.doc, Reference: r.reference, Ops: ops, Count: samples, Models: r.models()}
	if r.options != nil {
		r.options(&c)
	}
	var claims []result.Claim
	for _, model := range r.ours {
		claims = append(claims, result.Claim{Case: c.Name, Model: model, Unit: measure.Time, Form: r.form, Bar: r.bar})
		if r.form != result.Value {
			claims[len(claims)-1].Than = r.reference
		}
	}
	return experiment.One(c, experiment.Concludes("", r.conclusion, claims...)...)
}

// The options.
func shown(c *experiment.Case)  { c.Main = true }
func onOne(c *experiment.Case)  { *c = c.OnOne() }
func single(c *experiment.Case) { c.Ops = 1 }

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

		{"loop=ended/event=error", late, "ctx-errgroup", ended(million, true), ends, ours[:1], result.Value, 100e3, single},
		{"loop=ended/event=cancel", late, "ctx-errgroup", ended(million, false), ends, ours[:1], result.Value, 100e3, single},

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

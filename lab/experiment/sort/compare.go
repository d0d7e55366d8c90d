package sort

import (
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A target is how many times as fast as package slices our sort must be on one
// processor and on all, and a harder bar for all. 0: not slower.
type target struct{ one, all, stretch float64 }

// pays is our conclusion, beside the article's about bubble sort.
const pays = "With an algorithm that merges its parts, splitting a long sort pays on many processors."

// compare returns a study of sorters on one processor and on all. The first is
// from package slices, the second ours.
func compare[E any](z sizes, name string, n int, e element[E], makes generator[E], sorters []sorter[E], t target) experiment.Study {
	b := newBatch(e, n, z.batch, makes)
	c := experiment.Case{Name: name, Doc: "an op is a slice of " + e.name, Reference: sorters[0].Name, Count: z.count(n), Main: t.all > 0 && e.name == "ints"}
	if z.once || n > z.n(long) { // choosing a number would take as long as the samples
		c.Ops = len(b.sums)
	}
	for _, w := range sorters {
		c.Models = append(c.Models, experiment.Model{Model: w.Model, Run: func(m *measure.Meter) error { return b.measure(m, w) }})
	}
	one := c.OnOne()
	ours := func(c experiment.Case, bar, stretch float64) result.Claim {
		faster := result.Claim{Case: c.Name, Model: sorters[1].Name, Unit: measure.Time, Form: result.Speedup, Than: c.Reference, Bar: bar, Stretch: stretch}
		if bar == 0 {
			faster.Form, faster.Bar = result.Ratio, 1.05
		}
		return faster
	}
	if z.p == 1 {
		return experiment.One(one, ours(one, t.one, 0))
	}
	claims := []result.Claim{ours(one, t.one, 0), ours(c, t.all, t.stretch)}
	if t.all > 0 {
		claims = append(claims, result.Claim{
			Case: c.Name, Model: sorters[1].Name, Unit: measure.Time, Form: result.Ratio, Than: sorters[1].Name, InCase: one.Name, Bar: 0.8, Conclusion: pays,
		})
	}
	return experiment.Study{Cases: []experiment.Case{one, c}, Claims: claims}
}

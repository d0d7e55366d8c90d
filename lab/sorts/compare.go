package sorts

import (
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/report"
)

// A target is how many times as fast as package slices a sort of ours shall be
// on one processor and on two, and what would be better still on two. 0: not
// slower.
type target struct{ one, all, stretch float64 }

// compare is a study of ways to sort slices of n elements, the first of which is
// that of package slices and the second ours.
func compare[E any](z sizes, name string, n int, e element[E], makes maker[E], ways []way[E], t target) study {
	st := study{cases: newBatch(e, n, z.batch, makes).cases(name, z.p, z.ops, ways)}
	for _, c := range st.cases {
		faster := report.Claim{Case: c.Name, Model: ways[1].Name, Unit: measure.Time, Form: report.Speedup, Than: ways[0].Name, Bar: t.all, Stretch: t.stretch}
		if c.Processors == 1 {
			faster.Bar, faster.Stretch = t.one, 0
		}
		if faster.Bar == 0 {
			faster.Form, faster.Bar = report.Ratio, 1.05
		}
		st.claims = append(st.claims, faster)
	}
	return st
}

// cases are the case of that name on one processor, and on all if there are
// more.
func (b *batch[E]) cases(name string, p, ops int, ways []way[E]) []experiment.Case {
	one := experiment.Case{
		Name: name + "/procs=1", Doc: "an op is a slice of " + b.name, Reference: ways[0].Name,
		Processors: 1, Ops: ops, Count: samples,
	}
	if b.n >= long {
		one.Count = longSamples
	}
	if b.n > long {
		one.Ops = 1 // it is long enough, and to find that out would take as long
	}
	for _, w := range ways {
		one.Models = append(one.Models, experiment.Model{Model: w.Model, Run: func(m *measure.Meter) error { return b.measure(m, w) }})
	}
	if p == 1 {
		return []experiment.Case{one}
	}
	all := one
	all.Name, all.Processors = name, 0
	return []experiment.Case{one, all}
}

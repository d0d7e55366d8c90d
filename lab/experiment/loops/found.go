package loops

import (
	"fmt"
	"iter"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// A scan returns the first index that a function is true of.
type scan struct {
	result.Model
	run func(s []int, f func(int) bool) int
}

const parFind = "par.Find"

var scans = []scan{
	{result.Model{Name: "scan", Kind: result.Peer, Doc: "for i, v := range s { if f(v) { return i } }"}, scanPlain},
	{result.Model{Name: "slices.IndexFunc", Kind: result.Peer, Doc: "slices.IndexFunc"}, func(s []int, f func(int) bool) int { return slices.IndexFunc(s, f) }},
	{result.Model{Name: parFind, Kind: result.Ours, Doc: "par.Find"}, func(s []int, f func(int) bool) int { return par.Find(s, f) }},
}

// found is one element that is looked for among many. One processor has nothing
// to gain; several can share what lies before the element, and no more.
func (z sizes) found(yield func(experiment.Study) bool) {
	few, many := z.n(1e6), z.n(1e7)
	first := result.Claim{Unit: measure.Time, Form: result.Difference, Than: "scan", Bar: 800}
	all(yield,
		z.find("first", few, 0, 0, first),
		z.find("middle", few, few/2, 0, ratio("", "scan", 1.5/z.p)),
		z.find("last", many, many-1, 0, ratio("", "scan", 1.2/z.p)),
		z.find("middle", few, few/2, 1, ratio("", "scan", 1.05)),
		z.find("last", many, many-1, 1, ratio("", "scan", 1.05)))
}

func (z sizes) find(where string, n, at, procs int, claim result.Claim) iter.Seq[experiment.Study] {
	return func(yield func(experiment.Study) bool) {
		s := make([]int, n)
		for i := range s {
			s[i] = i
		}
		sought := mix(at)
		is := func(v int) bool { return mix(v) == sought }
		c := experiment.Case{Name: fmt.Sprintf("find=%s/n=%d", where, n), Doc: "an op is a search for one element", Reference: "scan", Ops: z.ops, Processors: procs}
		if procs == 1 {
			c.Name += "/procs=1"
		}
		for _, way := range scans {
			c.Models = append(c.Models, experiment.Model{Model: way.Model, Run: func(m *measure.Meter) error {
				wrong := 0
				m.Start()
				for range m.N {
					if way.run(s, is) != at {
						wrong++
					}
				}
				m.Stop()
				if wrong > 0 {
					return fmt.Errorf("%d of %d times another index than %d", wrong, m.N, at)
				}
				return nil
			}})
		}
		claim.Case = c.Name
		yield(experiment.One(c, claims([]string{parFind}, claim)...))
	}
}

func scanPlain(s []int, f func(int) bool) int {
	for i, v := range s {
		if f(v) {
			return i
		}
	}
	return -1
}

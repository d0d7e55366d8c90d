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

// A scan returns the first index for which a function returns true.
type scan struct {
	result.Model
	run func(s []int, f func(int) bool) int
}

const parFind = "par.Find"

var scans = []scan{
	{result.Peer.Model("scan", "for i, v := range s { if f(v) { return i } }"), scanPlain},
	{result.Peer.Model("slices.IndexFunc", "slices.IndexFunc"), func(s []int, f func(int) bool) int { return slices.IndexFunc(s, f) }},
	{result.Ours.Model(parFind, "par.Find"), func(s []int, f func(int) bool) int { return par.Find(s, f) }},
}

// found searches for one element among many. Several processors can share what
// comes before the element; one has nothing to gain.
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
		c := experiment.Case{Name: fmt.Sprintf("find=%s/n=%d", where, n), Doc: "an op is a search for one element", Reference: "scan", Ops: z.ops}
		if procs == 1 {
			c = c.OnOne()
		}
		for _, model := range scans {
			c.Models = append(c.Models, experiment.Model{Model: model.Model, Run: func(m *measure.Meter) error {
				wrong := 0
				m.Start()
				for range m.N {
					if model.run(s, is) != at {
						wrong++
					}
				}
				m.Stop()
				if wrong > 0 {
					return fmt.Errorf("%d of %d searches gave another index than %d", wrong, m.N, at)
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

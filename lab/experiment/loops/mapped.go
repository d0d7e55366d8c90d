package loops

import (
	"context"
	"fmt"

	"github.com/destel/rill"
	"github.com/sourcegraph/conc/iter"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
	"golang.org/x/sync/errgroup"
)

// A mapping returns a slice of results for a slice of items.
type mapping struct {
	result.Model
	run func(items []int) []uint64
}

var mappings = []mapping{
	{result.Peer.Model("slice", "make([]R, n) and a loop"), mapPlain},
	{result.Peer.Model("map-errgroup", "errgroup with SetLimit(2), into a slice"), mapErrgroup},
	{result.Peer.Model("map-conc", "iter.Map"), mapConc},
	{result.Peer.Model("map-rill", "FromSlice, OrderedMap of 2, ToSlice"), mapRill},
	{result.Ours.Model("stint.Map", "Map"), mapStint},
	{result.Ours.Model("par.Map", "par.Map"), mapPar},
}

// maps are the models of the claims.
var maps = []string{"stint.Map", "par.Map"}

// mapped measures the allocations of Map for items of about 2 ns.
func (z sizes) mapped(yield func(experiment.Study) bool) {
	sizes := []int{z.n(200), z.n(20_000), z.n(200_000)}
	for i, n := range sizes {
		st := z.results(n)
		if i == len(sizes)-1 {
			for _, name := range maps {
				st.Claims = append(st.Claims, result.Claim{
					Case: st.Cases[0].Name, Model: name, Unit: measure.Bytes, Form: result.Ratio, Than: name, InCase: resultsCase(sizes[i-1]), Bar: 10.1,
					Note: "linear: ten times the results",
				})
			}
		}
		if !yield(st) {
			return
		}
	}
}

func resultsCase(n int) string { return fmt.Sprintf("results=%d", n) }

func (z sizes) results(n int) experiment.Study {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	c := experiment.Case{Name: resultsCase(n), Doc: "an op is a slice of results", Reference: "slice", Ops: z.ops}
	for _, model := range mappings {
		c.Models = append(c.Models, experiment.Model{Model: model.Model, Run: func(m *measure.Meter) error {
			var got []uint64
			m.Start()
			for range m.N {
				got = model.run(items)
			}
			m.Stop()
			if len(got) != n {
				return fmt.Errorf("%d results of %d items", len(got), n)
			}
			return work{n: n, out: got, want: mix}.check(1)
		}})
	}
	return experiment.One(c, claims(maps, result.Claim{
		Case: c.Name, Unit: measure.Allocs, Form: result.Difference, Than: "slice", Bar: 2,
	})...)
}

func mapPlain(items []int) []uint64 {
	out := make([]uint64, len(items))
	for i, item := range items {
		out[i] = mix(item)
	}
	return out
}

func mapErrgroup(items []int) []uint64 {
	out := make([]uint64, len(items))
	var g errgroup.Group
	g.SetLimit(2)
	for i, item := range items {
		g.Go(func() error { out[i] = mix(item); return nil })
	}
	if err := g.Wait(); err != nil {
		panic(err)
	}
	return out
}

func mapConc(items []int) []uint64 {
	return iter.Map(items, func(item *int) uint64 { return mix(*item) })
}

func mapRill(items []int) []uint64 {
	out, err := rill.ToSlice(rill.OrderedMap(rill.FromSlice(items, nil), 2, func(item int) (uint64, error) { return mix(item), nil }))
	if err != nil {
		panic(err)
	}
	return out
}

func mapStint(items []int) []uint64 {
	out, err := stint.Map(context.Background(), items, func(_ context.Context, item int) (uint64, error) { return mix(item), nil })
	if err != nil {
		panic(err)
	}
	return out
}

func mapPar(items []int) []uint64 { return par.Map(items, mix) }

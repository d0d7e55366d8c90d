// Package sort measures the bubble sorts of an article, whole and split, and
// package par beside package slices.
package sort

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment sort.
var Experiment = experiment.New("sort", "sorting: a bubble sort whole and split, package par beside package slices, on one processor and on all",
	sizes{divisor: 1, batch: 200_000}, sizes{divisor: 25, batch: 4000}, run) // a quick million still exceeds the sequential limit

// sizes are smaller in quick runs and tests.
type sizes struct {
	divisor int // of the number of elements
	batch   int // elements of a sample, in at least one slice
}

// long is the number of elements of a slice that takes long.
const long = 1_000_000

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("sort", "sorting slices of numbers, strings and structs",
		"An op is the sorting of one slice. A sample sorts several slices of the same kind, if they are short.",
		"Structs have 32 bytes, of which 8 are the key. SortFunc sorts structs with different keys; for SortStableFunc some keys are equal.",
		models.NoteNoGC,
		"The article's pieces are as many as its machine has hardware threads, 8; bubble-split has runtime.NumCPU, at least 2.")
	studies := []func() experiment.Study{
		bubbles(b, z, false), bubbles(b, z, true),
		of(b, z, "Sort/of=ints", long, ints, ordered[int](), 1/3.0, 1/4.5),
		of(b, z, "Sort/of=floats", long, floats, ordered[float64](), notSlower, 1/3.0),
		of(b, z, "Sort/of=strings", long, strings, ordered[string](), notSlower, 1/2.5),
		of(b, z, "SortFunc/of=structs", long, keyed(perm), compared(byKey), notSlower, 1/1.8),
		of(b, z, "SortFunc/of=structs", 10_000, keyed(perm), compared(byKey), notSlower, notSlower),
		of(b, z, "SortStableFunc/of=ints", long, ints, stable(cmp.Compare[int]), 1/3.0, 1/5.5),
		of(b, z, "SortStableFunc/of=structs", long, keyed(some), stable(byKey), 1/3.0, 1/5.5),
		of(b, z, "SortStableFunc/of=structs", 10_000, keyed(some), stable(byKey), notSlower, notSlower),
		of(b, z, "SortStableFunc/of=structs/order=swapped", long, keyed(swapped), stable(byKey), notSlower, notSlower),
		of(b, z, "Sort/of=ints/order=sorted", long, sorted, ordered[int](), notSlower, notSlower),
		of(b, z, "Sort/of=ints/order=reversed", long, reversed, ordered[int](), notSlower, notSlower),
		of(b, z, "Sort/of=ints/order=sixteen", long, sixteen, ordered[int](), notSlower, notSlower),
		of(b, z, "Sort/of=ints/order=swapped", long, swapped, ordered[int](), notSlower, notSlower),
		of(b, z, "Sort/of=ints", 1000, ints, ordered[int](), notSlower, notSlower),
		of(b, z, "Sort/of=ints", 10_000, ints, ordered[int](), notSlower, notSlower),
		of(b, z, "Sort/of=ints", 100_000, ints, ordered[int](), notSlower, notSlower),
	}
	return b.RunSeq(ctx, func(yield func(experiment.Study) bool) {
		for _, study := range studies {
			if !yield(study()) {
				return
			}
		}
	})
}

// pays is our conclusion, beside the article's about bubble sort.
const pays = "With an algorithm that merges its parts, splitting a long sort pays on many processors."

// notSlower is the bar where no more than that is claimed.
const notSlower = 1.05

// of returns a study of a sort of package slices and ours that makes its slices
// when it is called. On one processor and on all, ours takes at most the given
// parts of the time.
func of[E comparable](b *experiment.Bench, z sizes, name string, full int, makes generator[E], sorters []sorter[E], one, all float64) func() experiment.Study {
	peer, ours := sorters[0].Name, sorters[1].Name
	return func() experiment.Study {
		c := kase(z, name, max(1, full/z.divisor), makes, sorters)
		c.Main = one < 1
		return b.OnBoth(c, func(on experiment.Names) []result.Claim {
			claims := append(models.One(one, on, ours, peer), models.All(all, on, ours, peer)...)
			if on.All != "" && all < 1 {
				claims = append(claims, experiment.Across(0.8, on.All, on.One, ours, pays))
			}
			return claims
		})
	}
}

// kase compares sorters of slices of n elements. The slices of a sample differ,
// since a processor learns the branches of a sort that it repeats. The first
// sorter is right.
func kase[E comparable](z sizes, name string, n int, makes generator[E], sorters []sorter[E]) experiment.Case {
	c := experiment.Case{Name: fmt.Sprintf("sort=%s/n=%d", name, n), Doc: "an op is a slice", Reference: sorters[0].Name, Ops: max(1, z.batch/n), Count: 6}
	var input, want []E
	for r := rand.New(rand.NewPCG(7, 8)); len(input) < c.Ops*n; {
		s := makes(r, n)
		input = append(input, s...)
		sorters[0].sort(s)
		want = append(want, s...)
	}
	work := make([]E, len(input))
	for _, s := range sorters {
		c.Models = append(c.Models, experiment.Model{Model: s.Model, Run: func(m *measure.Meter) error {
			copy(work, input)
			m.Start()
			for i := 0; i < len(work); i += n {
				s.sort(work[i : i+n : i+n])
			}
			m.Stop()
			if !slices.Equal(work, want) {
				return fmt.Errorf("slices of %d elements are not sorted", n)
			}
			return nil
		}})
	}
	return c
}

// bubbles is the article's study: a sort of quadratic time, whole and split.
func bubbles(b *experiment.Bench, z sizes, noGC bool) func() experiment.Study {
	whole := sorter[int]{result.Peer.Model("bubble", "bubble sort, which ends after a pass without an exchange"), sortBubble}
	split := strides("bubble-split", "max(2, NumCPU)", max(2, runtime.NumCPU()))
	split8 := strides("bubble-split-8", "8", 8)
	return func() experiment.Study {
		c := kase(z, "bubble", 2000, perm, append(ordered[int](), whole, split, split8))
		c.Main, c.NoGC, c.Reference, c.Article, c.Table = !noGC, noGC, whole.Name, result.Scheduling, "bubble sort"
		if noGC {
			c.Name = "gc=off/" + c.Name
		}
		return b.OnBoth(c, func(on experiment.Names) []result.Claim {
			return models.Says(result.Scheduling, "Splitting a bubble sort does not pay: nothing merges the parts cheaply.",
				models.Both(1, on, whole.Name, split.Name), models.Both(1, on, whole.Name, split8.Name))
		})
	}
}

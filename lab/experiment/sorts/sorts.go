// Package sorts is the experiment sort: package par beside package slices and what
// one would write by hand, for elements in any order and in the orders that a
// sort meets in practice.
package sorts

import (
	"context"
	"iter"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "sort",
	Doc:  "sorting numbers, strings and structs, random and in patterns, on one processor and on all",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		z := sizes{divisor: 1, batch: 200_000}
		if s.Quick {
			z = sizes{divisor: 25, batch: 4000, once: true} // a million are then more than one processor sorts alone
		}
		return run(ctx, s, z)
	},
}

// sizes are what a quick run and a test make smaller.
type sizes struct {
	divisor int  // of the number of elements
	batch   int  // elements of the slices that are sorted one after the other
	once    bool // a sample is a batch, and not as many slices as take long enough
	p       int  // processors
}

// n is a number of elements that is full in a full run.
func (z sizes) n(full int) int { return max(1, full/z.divisor) }

// long is how many elements of a full run make a slice that takes long.
const long = 1_000_000

// count is how many samples are taken where a slice has n elements. 6 are the
// fewest that give an interval.
func (z sizes) count(n int) int {
	if n >= z.n(long) {
		return 6
	}
	return 12
}

// lengths are those of slices, from least to most, ten times as long each in a full
// run.
func (z sizes) lengths(least, most int) []int {
	var out []int
	for n := least; n <= most; n *= 10 {
		out = append(out, z.n(n))
	}
	return slices.Compact(out) // small ones may be the same
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("sort", "sorting slices of numbers, strings and structs",
		"An op is the sorting of one slice. A sample sorts several of the same kind, if they are short, one after the other; putting the elements there is not in the time.",
		"Structs have 32 bytes, of which 8 are the key.",
		"After each sample the slices must be sorted and hold what they held before, and where the sort is stable equal elements must be in the order in which they were.")
	z.p = b.Result.Processors
	return b.RunSeq(ctx, func(yield func(experiment.Study) bool) {
		for _, part := range []iter.Seq[experiment.Study]{z.random, z.patterns, z.bubbles} {
			for st := range part {
				if !yield(st) {
					return
				}
			}
		}
	})
}

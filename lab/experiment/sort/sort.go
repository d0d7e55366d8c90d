// Package sort measures package par beside package slices and a hand-written
// sort, for random elements and for the orders that occur in practice.
package sort

import (
	"context"
	"iter"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment sort.
var Experiment = experiment.New("sort", "sorting numbers, strings and structs, random and in patterns, on one processor and on all",
	sizes{divisor: 1, batch: 200_000}, sizes{divisor: 25, batch: 4000, once: true},
	run) // a quick million still exceeds the sequential limit

// sizes are smaller in quick runs and tests.
type sizes struct {
	divisor int  // of the number of elements
	batch   int  // elements of a batch
	once    bool // a sample is one batch
	p       int  // processors
}

// n scales a number of elements.
func (z sizes) n(full int) int { return max(1, full/z.divisor) }

// long is the number of elements of a slice that takes long.
const long = 1_000_000

// count returns the number of samples for slices of n elements. An interval
// needs 6.
func (z sizes) count(n int) int {
	if n >= z.n(long) {
		return 6
	}
	return 12
}

// lengths returns lengths from least to most, each ten times the last.
func (z sizes) lengths(least, most int) []int {
	var out []int
	for n := least; n <= most; n *= 10 {
		out = append(out, z.n(n))
	}
	return slices.Compact(out) // scaled lengths may be equal
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("sort", "sorting slices of numbers, strings and structs",
		"An op is the sorting of one slice. A sample sorts several slices of the same kind, if they are short. Copying the elements is not in the time.",
		"Structs have 32 bytes, of which 8 are the key.",
		"After each sample the slices must be sorted and hold their elements. After a stable sort equal elements must be in their original order.")
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

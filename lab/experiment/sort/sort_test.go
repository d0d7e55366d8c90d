package sort

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{divisor: 1000, batch: 100, once: true}, trial.Want{Processors: 1, Cases: 17, Verdicts: 18}, trial.Want{Processors: 2, Cases: 34, Verdicts: 42})
}

// Each slice of a batch is sorted and checked, and an unsorted one is detected.
func TestEachOfABatchIsChecked(t *testing.T) {
	right := ordered[int]()[0]
	b := newBatch(10, 1000, random, right)
	for _, n := range []int{1, 99, 100, 101, 200, 250} {
		calls, forget := 0, 0
		counts := sorter[int]{sort: func(s []int) {
			if calls++; calls != forget {
				right.sort(s)
			}
		}}
		if err := b.measure(&measure.Meter{N: n}, counts); err != nil || calls != n || b.slices() != 100 {
			t.Errorf("%d slices of %d were sorted, %v, want %d of 100", calls, b.slices(), err, n)
		}
		calls, forget = 0, n
		if err := b.measure(&measure.Meter{N: n}, counts); err == nil {
			t.Errorf("%d slices, of which the last was not sorted: it was not found", n)
		}
	}
}

// A stable sort that changes the order of equal keys is detected.
func TestOrderOfEqualKeysIsChecked(t *testing.T) {
	keys := func(*rand.Rand, int) []int { return []int{1, 1} }
	b := newBatch(2, 0, keyed(keys), stable(byKey)[0])
	unstable := sorter[record]{sort: func(s []record) {
		slices.SortFunc(s, func(a, b record) int { return cmp.Or(byKey(a, b), cmp.Compare(b.index, a.index)) })
	}}
	if err := b.measure(&measure.Meter{N: 1}, unstable); err == nil {
		t.Error("equal keys have changed their order: it was not found")
	}
}

// The bubble sorts sort, in any number of strides.
func TestBubbles(t *testing.T) {
	for n := range 70 {
		b := newBatch(n+1, 0, random, ordered[int]()[0])
		for parts := range 9 {
			if err := b.measure(&measure.Meter{N: 1}, strides("", "", parts+1)); err != nil {
				t.Errorf("%d strides: %v", parts+1, err)
			}
		}
	}
}

// The orders have the requested length and are always the same.
func TestOrders(t *testing.T) {
	for i, order := range []generator[int]{random, permuted, sorted, reversed, sixteen, swapped} {
		for _, n := range []int{1, 2, 10, 1000} {
			if s := order(rand.New(rand.NewPCG(1, 2)), n); len(s) != n || !slices.Equal(s, order(rand.New(rand.NewPCG(1, 2)), n)) {
				t.Errorf("order %d: %d numbers, want %d and the same twice", i, len(s), n)
			}
		}
	}
	if slices.IsSorted(swapped(rand.New(rand.NewPCG(1, 2)), 1000)) {
		t.Error("swapped is sorted")
	}
}

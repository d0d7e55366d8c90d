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
	trial.Run(t, run, sizes{divisor: 1000, batch: 100}, trial.Want{Processors: 1, Cases: 18, Verdicts: 20}, trial.Want{Processors: 2, Cases: 36, Verdicts: 46})
}

// sorts reports the error of a sorter in a case of slices of n elements.
func sorts[E comparable](n, batch int, makes generator[E], right, s sorter[E]) error {
	c := kase(sizes{batch: batch}, "", n, makes, []sorter[E]{right, s})
	return c.Models[1].Run(&measure.Meter{N: c.Ops})
}

// Each slice of a sample is sorted and checked, and an unsorted one is detected.
func TestEachSliceIsChecked(t *testing.T) {
	right := ordered[int]()[0]
	for forget := range 11 {
		calls := 0
		forgets := sorter[int]{sort: func(s []int) {
			if calls++; calls != forget {
				right.sort(s)
			}
		}}
		if err := sorts(10, 100, ints, right, forgets); (err != nil) != (forget > 0) || calls != 10 {
			t.Errorf("slice %d is not sorted: got %v after %d of 10 calls", forget, err, calls)
		}
	}
}

// A stable sort that changes the order of equal keys is detected.
func TestOrderOfEqualKeysIsChecked(t *testing.T) {
	keys := func(*rand.Rand, int) []int { return []int{1, 1} }
	unstable := sorter[record]{sort: func(s []record) {
		slices.SortFunc(s, func(a, b record) int { return cmp.Or(byKey(a, b), cmp.Compare(b.index, a.index)) })
	}}
	if err := sorts(2, 0, keyed(keys), stable(byKey)[0], unstable); err == nil {
		t.Error("equal keys have changed their order: it was not found")
	}
}

// The bubble sorts sort, in any number of strides.
func TestBubbles(t *testing.T) {
	for n := range 70 {
		for parts := range 9 {
			if err := sorts(n+1, 0, some, ordered[int]()[0], strides("", "", parts+1)); err != nil {
				t.Errorf("%d strides: %v", parts+1, err)
			}
		}
	}
}

// The orders have the requested length and are always the same.
func TestOrders(t *testing.T) {
	for i, order := range []generator[int]{ints, some, perm, sorted, reversed, sixteen, swapped} {
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

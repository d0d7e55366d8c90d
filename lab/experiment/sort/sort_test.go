package sort

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{divisor: 1000, batch: 100, once: true}, trial.Want{Processors: 1, Cases: 166, Verdicts: 167}, trial.Want{Processors: 2, Cases: 332, Verdicts: 341})
}

// A wrong result is detected.
func TestCheck(t *testing.T) {
	keys := []int{3, 1, 2, 1, 3}
	for name, c := range map[string]struct {
		change func(s []record)
		stable bool
		want   string
	}{
		"right":                     {func([]record) {}, true, ""},
		"unsorted":                  {func(s []record) { s[1], s[2] = s[2], s[1] }, false, "elements 1 and 2 of 5 are not in order"},
		"lost":                      {func(s []record) { s[1] = s[0] }, false, "not those of the input"},
		"changed":                   {func(s []record) { s[4].more[1]++ }, false, "not those of the input"},
		"unstable":                  {func(s []record) { s[0], s[1] = s[1], s[0] }, true, "elements 0 and 1 of 5 are equal and have changed their order"},
		"unstable, but need not be": {func(s []record) { s[0], s[1] = s[1], s[0] }, false, ""},
	} {
		b := newBatch(records, len(keys), 0, keyed(given(keys)))
		copy(b.work, b.input)
		slices.SortStableFunc(b.work, byKey)
		c.change(b.work)
		err := b.check(0, c.stable)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// The hashes of all types distinguish elements.
func TestLostElements(t *testing.T) {
	lost(t, ints, []int{1, 2}, []int{1, 1})
	lost(t, floats, []float64{1, 2}, []float64{2, 2})
	lost(t, strs, []string{"a", "b"}, []string{"a", "a"})
}

func lost[E any](t *testing.T, e element[E], input, got []E) {
	t.Helper()
	b := newBatch(e, len(input), 0, given(input))
	copy(b.work, got)
	if err := b.check(0, false); err == nil {
		t.Errorf("%s: sorting %v has made %v of it, and it was not found", e.name, input, got)
	}
}

// given returns the same slice each time.
func given[E any](s []E) generator[E] {
	return func(*rand.Rand, int) []E { return s }
}

// Each slice of a batch is sorted and checked, and an unsorted one is detected.
func TestEachOfABatchIsChecked(t *testing.T) {
	right := ordered[int]()[0]
	b := newBatch(ints, 10, 1000, draw((*rand.Rand).Int))
	for _, n := range []int{1, 99, 100, 101, 200, 250} {
		calls, forget := 0, 0
		counts := sorter[int]{sort: func(s []int) {
			if calls++; calls != forget {
				right.sort(s)
			}
		}}
		if err := b.measure(&measure.Meter{N: n}, counts); err != nil || calls != n || len(b.sums) != 100 {
			t.Errorf("%d slices of %d were sorted, %v, want %d of 100", calls, len(b.sums), err, n)
		}
		calls, forget = 0, n
		if err := b.measure(&measure.Meter{N: n}, counts); err == nil {
			t.Errorf("%d slices, of which the last was not sorted: it was not found", n)
		}
	}
}

// The hand-written sort sorts, stably if its base is stable.
func TestByHand(t *testing.T) {
	for n := range 70 {
		for chunks := range 6 {
			b := newBatch(records, n+1, 0, keyed(distinct(5)))
			copy(b.work, b.input)
			halve(b.work, make([]record, n+1), chunks, stable(byKey)[0].sort, byKey)
			if err := b.check(0, true); err != nil {
				t.Errorf("%d pieces: %v", chunks, err)
			}
			x := newBatch(ints, n+1, 0, distinct(50))
			copy(x.work, x.input)
			sortStrides(x.work, max(1, chunks))
			if err := x.check(0, false); err != nil {
				t.Errorf("%d strides: %v", chunks, err)
			}
		}
	}
}

// The patterns have the requested length and are always the same.
func TestPatterns(t *testing.T) {
	r := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	for _, p := range patterned {
		for _, n := range []int{1, 2, 10, 1000} {
			if s := p.make(r(), n); len(s) != n || !slices.Equal(s, p.make(r(), n)) {
				t.Errorf("%s: %d numbers, want %d and the same twice", p.name, len(s), n)
			}
		}
	}
	for name, makes := range map[string]generator[int]{"swapped": swapped, "appended": appended} {
		if slices.IsSorted(makes(r(), 1000)) {
			t.Errorf("%s: it is sorted", name)
		}
	}
}

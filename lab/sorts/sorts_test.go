package sorts

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
)

// The experiment runs from end to end, with every claim about rows that it has.
func TestRun(t *testing.T) {
	for procs, want := range map[int]int{1: 112, 2: 224} {
		s := &experiment.Session{Quick: true, Count: 1, Processors: procs, Log: io.Discard}
		r, err := run(t.Context(), s, sizes{divisor: 1000, batch: 100})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range r.Cases {
			if slices.Contains(names, c.Name) {
				t.Errorf("two cases are named %s", c.Name)
			}
			names = append(names, c.Name)
		}
		if len(names) != want {
			t.Errorf("%d processors: %d cases, want %d", procs, len(names), want)
		}
		if len(r.Verdicts) != want+procs { // one more for each case of bubble sorts
			t.Errorf("%d processors: %d verdicts, want %d", procs, len(r.Verdicts), want+procs)
		}
		for _, v := range r.Verdicts {
			if v.Figures.N != 1 {
				t.Errorf("%s: %s: %d samples, want 1", v.Case, v.Text(), v.Figures.N)
			}
		}
	}
}

// A wrong result is found.
func TestCheck(t *testing.T) {
	keys := []int{3, 1, 2, 1, 3}
	sorted := func() []record {
		s := recordsOf(keys)
		slices.SortStableFunc(s, byKey)
		return s
	}
	for name, c := range map[string]struct {
		change func(s []record)
		stable bool
		want   string
	}{
		"right":                     {func([]record) {}, true, ""},
		"unsorted":                  {func(s []record) { s[1], s[2] = s[2], s[1] }, false, "elements 1 and 2 of 5 are not in order"},
		"lost":                      {func(s []record) { s[1] = s[0] }, false, "not those that were to be sorted"},
		"changed":                   {func(s []record) { s[4].more[1]++ }, false, "not those that were to be sorted"},
		"unstable":                  {func(s []record) { s[0], s[1] = s[1], s[0] }, true, "elements 0 and 1 of 5 are equal and have changed places"},
		"unstable, but need not be": {func(s []record) { s[0], s[1] = s[1], s[0] }, false, ""},
	} {
		s := sorted()
		c.change(s)
		err := newBatch(records, recordsOf(keys), 0).check(s, c.stable)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// The elements of all types are told apart.
func TestLostElements(t *testing.T) {
	lost(t, ints, []int{1, 2}, []int{1, 1})
	lost(t, floats, []float64{1, 2}, []float64{2, 2})
	lost(t, strs, []string{"a", "b"}, []string{"a", "a"})
}

func lost[E any](t *testing.T, e element[E], input, got []E) {
	t.Helper()
	if err := newBatch(e, input, 0).check(got, false); err == nil {
		t.Errorf("%s: sorting %v has made %v of it, and it was not found", e.name, input, got)
	}
}

// What is sorted by hand is sorted, and with a stable sort stably.
func TestByHand(t *testing.T) {
	for n := range 70 {
		for pieces := range 6 {
			b := newBatch(records, recordsOf(append(distinct(n, 5), 2)), 0)
			s := slices.Clone(b.input)
			halve(s, make([]record, len(s)), pieces, stable(byKey)[0].sort, byKey)
			if err := b.check(s, true); err != nil {
				t.Errorf("%d pieces: %v", pieces, err)
			}
			x := newBatch(ints, append(distinct(n, 50), 2), 0)
			keys := slices.Clone(x.input)
			sortStrides(keys, max(1, pieces))
			if err := x.check(keys, false); err != nil {
				t.Errorf("%d strides: %v", pieces, err)
			}
		}
	}
}

// The patterns are as long as they are said to be, and the same each time.
func TestPatterns(t *testing.T) {
	for _, p := range patterned {
		for _, n := range []int{1, 2, 10, 1000} {
			if s := p.make(n); len(s) != n || !slices.Equal(s, p.make(n)) {
				t.Errorf("%s: %d numbers, want %d and the same twice", p.name, len(s), n)
			}
		}
	}
	for name, moved := range map[string][]int{"swapped": swapped(1000), "appended": appended(1000)} {
		if slices.IsSorted(moved) {
			t.Errorf("%s: it is sorted", name)
		}
	}
}

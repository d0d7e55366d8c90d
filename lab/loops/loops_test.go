package loops

import (
	"io"
	"slices"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
)

// The experiment runs from end to end, with every claim about rows that it has.
func TestRun(t *testing.T) {
	s := &experiment.Session{Quick: true, Count: 1, Log: io.Discard}
	r, err := run(t.Context(), s, sizes{divisor: 1000, ops: 2})
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, c := range r.Cases {
		if slices.Contains(rows, c.Name) {
			t.Errorf("two cases are named %s", c.Name)
		}
		rows = append(rows, c.Name)
	}
	if len(rows) < 33 {
		t.Errorf("%d cases, want 33 or more: %q", len(rows), rows)
	}
	for _, v := range r.Verdicts {
		if v.Figures.N != 1 {
			t.Errorf("%s: %s: %d samples, want 1", v.Case, v.Text(), v.Figures.N)
		}
	}
}

// A wrong result is found.
func TestCheck(t *testing.T) {
	w := spinning([]int{1, 2, 3})
	for i := range w.n {
		w.body.Plain(i)
	}
	if err := w.check(1); err != nil {
		t.Error(err)
	}
	w.body.Plain(2)
	if err := w.check(1); err == nil {
		t.Error("an item that ran twice was not found")
	}
	if w.clear(); w.check(0) != nil {
		t.Error("not empty after clear")
	}
}

// The costs are the same each time, and a microsecond on average.
func TestCosts(t *testing.T) {
	for name, make := range map[string]func(int) []int{"lognormal": lognormal, "zipf": zipf} {
		a, b := make(1000), make(1000)
		if !slices.Equal(a, b) {
			t.Errorf("%s: different costs", name)
		}
		sum := 0
		for _, c := range a {
			sum += c
		}
		if mean, want := sum/len(a), steps(1000); mean < want*3/4 || mean > want*5/4 {
			t.Errorf("%s: %d steps an item, want about %d", name, mean, want)
		}
	}
}

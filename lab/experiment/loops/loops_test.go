package loops

import (
	"slices"
	"testing"

	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{divisor: 1000, ops: 2, waits: 1}, trial.Want{Processors: 2, Cases: 72, Verdicts: 158})
}

// A wrong result is detected.
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

// The costs are always the same, and a microsecond on average.
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
		if mean, want := sum/len(a), load.Steps(1000); mean < want*3/4 || mean > want*5/4 {
			t.Errorf("%s: %d steps an item, want about %d", name, mean, want)
		}
	}
}

// Results that depend on the number of processors are detected.
func TestIdentical(t *testing.T) {
	s := numbers(100_000)
	if err := identical(addAll, s); err != nil {
		t.Error(err)
	}
	if err := identical(chunks(addAll), s); err == nil {
		t.Error("sums of pieces that depend on GOMAXPROCS were not found")
	}
	for _, model := range reductions {
		if got, want := model.run([]float64{1, 2, 4, 8, 16}), 31.0; got != want {
			t.Errorf("%s: got %v, want %v", model.Name, got, want)
		}
	}
}

// Every counter counts every byte.
func TestHistograms(t *testing.T) {
	for _, n := range []int{1, 2, 1000, 300_000} {
		s := randomBytes(n)
		for _, model := range counters {
			if got, want := *model.run(s), *countAlone(s); got != want {
				t.Errorf("%s: %d bytes: got %v, want %v", model.Name, n, got, want)
			}
		}
	}
}

// A search that finds another index is detected.
func TestSearchesAreChecked(t *testing.T) {
	defer func(model scan) { scans[0] = model }(scans[0])
	scans[0].run = func(s []int, f func(int) bool) int { return scanPlain(s[1:], f) }
	for st := range (sizes{divisor: 1, ops: 2, p: 1}).find("last", 10, 9, 0, ratio("", "scan", 1)) {
		for i, model := range st.Cases[0].Models {
			if err := model.Run(&measure.Meter{N: 2}); (err != nil) != (i == 0) {
				t.Errorf("%s: got %v", model.Name, err)
			}
		}
	}
}

// The forms of each work do the same.
func TestForms(t *testing.T) {
	for name, w := range map[string]work{"mixed": mixed(10), "spinning": spinning(alike(10, 3)), "pow": pow(10)} {
		for i := range w.n {
			w.body.Plain(i)
			w.body.Pointer(&i)
			if err := w.body.Task(t.Context(), i); err != nil {
				t.Error(err)
			}
		}
		w.body.Range(0, 4)
		w.body.Range(4, 4)
		w.body.Range(4, w.n)
		if err := w.check(4); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

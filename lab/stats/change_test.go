package stats

import (
	"slices"
	"testing"
)

func TestCompare(t *testing.T) {
	old := []float64{10, 11, 12, 13, 14, 15}
	twice := []float64{30, 28, 26, 24, 22, 20}
	for _, c := range []struct {
		name     string
		old, new []float64
		differ   bool
		delta    string
	}{
		{"twice", old, twice, true, "+100.00%"},
		{"half", twice, old, true, "-50.00%"},
		{"the same", old, old, false, "~"},
		{"a little", old, []float64{10, 11, 12, 13, 14, 16}, false, "~"},
		{"all alike", []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}, false, "~"},
		{"too few", []float64{1, 2, 3}, []float64{7, 8, 9}, false, "~"},
		{"enough", []float64{1, 2, 3, 4}, []float64{7, 8, 9, 10}, true, "+240.00%"},
	} {
		change := Compare(c.old, c.new)
		if change.Differ() != c.differ || change.Delta() != c.delta {
			t.Errorf("%s: differ %v by %s, p = %v, want %v by %s", c.name, change.Differ(), change.Delta(), change.P, c.differ, c.delta)
		}
	}
	if !slices.Equal(twice, []float64{30, 28, 26, 24, 22, 20}) {
		t.Errorf("the sample became %v", twice)
	}
}

func TestSpread(t *testing.T) {
	for want, values := range map[string][]float64{
		"∞":   {1, 2, 3},
		"43%": {10, 6, 7, 7, 7, 7},
		"0%":  {0, 0, 0, 0, 0, 0},
		"?":   {-1, 1, 1, 1, 1, 1},
	} {
		if got := Median(values).Spread(); got != want {
			t.Errorf("%v: got %s, want %s", values, got, want)
		}
	}
}

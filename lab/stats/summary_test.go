package stats

import (
	"encoding/json"
	"testing"
)

// An estimate is written in few bytes and read back with its confidence.
func TestEstimateAsJSON(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, "[0,0]"},
		{[]float64{1.23456, 1.23456}, "[2,1.235]"},
		{[]float64{144490590, 133815984, 133627197, 94852465, 130231815, 96741404}, "[6,1.319e+08,9.485e+07,1.445e+08]"},
		{[]float64{48, 48, 48, 48, 48, 48, 48}, "[7,48,48,48]"},
	} {
		e := Median(c.values)
		text, err := json.Marshal(e)
		if err != nil || string(text) != c.want {
			t.Errorf("%v: got %s, %v, want %s", c.values, text, err, c.want)
		}
		var back Estimate
		if err := json.Unmarshal(text, &back); err != nil || back.N != e.N || (back.Interval == nil) != (e.Interval == nil) {
			t.Errorf("%s is read as %+v, %v", text, back, err)
		} else if e.Interval != nil && back.Interval.Confidence != e.Interval.Confidence {
			t.Errorf("%s is read with confidence %v, want %v", text, back.Interval.Confidence, e.Interval.Confidence)
		}
	}
	for _, text := range []string{"[]", "[1]", "[6,1,2]", "[-1,0]", "{}"} {
		if err := json.Unmarshal([]byte(text), new(Estimate)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// The quotient of medians has the bounds that hold for all samples.
func TestQuotient(t *testing.T) {
	a := Estimate{6, 8, &Interval{6, 9, 0.5}}
	q := Quotient(a, Estimate{7, 4, &Interval{3, 6, 0.5}})
	if q.N != 6 || q.Median != 2 || *q.Interval != (Interval{1, 3, 0.25}) {
		t.Errorf("got %+v, %+v", q, q.Interval)
	}
	for _, base := range []Estimate{{N: 5, Median: 4}, {N: 6, Median: 4, Interval: &Interval{0, 6, 0.97}}} {
		if q := Quotient(a, base); q.Median != 2 || q.Interval != nil {
			t.Errorf("%+v: got %+v, want no interval", base, q)
		}
	}
	if q := Quotient(a, Estimate{}); q != (Estimate{}) {
		t.Errorf("got %+v of nothing", q)
	}
}

// Estimates differ if their intervals do not overlap.
func TestCompareEstimates(t *testing.T) {
	low, near, high := Estimate{6, 10, &Interval{9, 11, 0.97}}, Estimate{6, 11, &Interval{10, 12, 0.97}}, Estimate{6, 20, &Interval{15, 21, 0.97}}
	for _, c := range []struct {
		old, new Estimate
		delta    string
	}{{low, near, "~"}, {low, high, "+100.00%"}, {high, low, "-50.00%"}, {low, Estimate{N: 2, Median: 20}, "~"}} {
		if change := CompareEstimates(c.old, c.new); change.Delta() != c.delta || change.Differ() != (c.delta != "~") {
			t.Errorf("%v and %v: %s, want %s", c.old, c.new, change.Delta(), c.delta)
		}
	}
}

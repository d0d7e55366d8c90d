package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// covers returns the probability that the true median lies between the order
// statistics lo and hi, counted from 1, of n samples: that at least lo and at
// most hi-1 of them are below it, each with probability 1/2.
func covers(n, lo, hi int) float64 {
	p, choose := 0.0, 1.0
	for k := range n + 1 {
		if k >= lo && k < hi {
			p += choose
		}
		choose = choose * float64(n-k) / float64(k+1)
	}
	return p / math.Pow(2, float64(n))
}

func TestMedianOfFewHasNoInterval(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for n := range len(values) + 1 {
		e := Median(values[:n])
		if e.N != n || e.Interval != nil {
			t.Errorf("n = %d: got %+v, want no interval", n, e)
		}
	}
	if got := Median(values).Median; got != 3 {
		t.Errorf("median %v, want 3", got)
	}
	if want := []float64{5, 1, 4, 2, 3}; !slices.Equal(values, want) {
		t.Errorf("the sample became %v, it was %v", values, want)
	}
}

// The values are 1 to n, so that an order statistic is its own number. Above 30
// benchmath approximates the binomial distribution by the normal one.
func TestIntervalIsOfOrderStatistics(t *testing.T) {
	for n := 6; n <= 40; n++ {
		slack := 1e-9
		if n > 30 {
			slack = 2e-3
		}
		values := make([]float64, n)
		for i, v := range rand.New(rand.NewPCG(1, uint64(n))).Perm(n) {
			values[i] = float64(v + 1)
		}
		e := Median(values)
		if want := float64(n+1) / 2; e.Median != want {
			t.Errorf("n = %d: median %v, want %v", n, e.Median, want)
		}
		if e.Interval == nil {
			t.Fatalf("n = %d: no interval", n)
		}
		lo, hi := e.Interval.Lo, e.Interval.Hi
		want := covers(n, int(lo), int(hi))
		if want < confidence || math.Abs(e.Interval.Confidence-want) > slack {
			t.Errorf("n = %d: [%v, %v] holds the median with probability %.4f, said to be %.4f, wanted at least %v",
				n, lo, hi, want, e.Interval.Confidence, confidence)
		}
	}
}

func TestPairs(t *testing.T) {
	values, base := []float64{8, 6, 9}, []float64{2, 3}
	if got, want := Ratios(values, base), []float64{4, 2}; !slices.Equal(got, want) {
		t.Errorf("ratios %v, want %v", got, want)
	}
	if got, want := Differences(values, base), []float64{6, 3}; !slices.Equal(got, want) {
		t.Errorf("differences %v, want %v", got, want)
	}
}

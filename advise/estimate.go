package advise

import (
	"math"
	"slices"
)

// quantiles are those of Student's distribution that leave out half a percent on each side, by
// degrees of freedom. 3 has more than all larger ones from 14 on.
var quantiles = [...]float64{1: 63.66, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17, 3.11, 3.05, 3.01}

// estimate returns the median, and an interval for the logarithms' mean. Samples of a ratio
// differ by factors, so that their logarithms are nearly normal.
func estimate(samples []float64) Estimate {
	n := len(samples)
	if n == 0 {
		return Estimate{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	e := Estimate{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2}
	if n < 3 {
		return e
	}
	var sum, squares float64
	for _, x := range samples {
		sum += math.Log(x)
	}
	mean := sum / float64(n)
	for _, x := range samples {
		squares += (math.Log(x) - mean) * (math.Log(x) - mean)
	}
	q := 3.0
	if n-1 < len(quantiles) {
		q = quantiles[n-1]
	}
	half := q * math.Sqrt(squares/float64(n-1)/float64(n))
	e.Lo, e.Hi = min(e.Median, math.Exp(mean-half)), max(e.Median, math.Exp(mean+half))
	return e
}

// duration and so on: quantile of sorted durations

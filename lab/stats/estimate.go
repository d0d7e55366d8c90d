// Package stats estimates medians. It makes no assumption about the
// distribution of times, which are skewed and have outliers.
package stats

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// confidence is the minimum confidence of an interval.
const confidence = 0.95

// An Estimate is the median of a sample with an interval for the true median.
type Estimate struct {
	N        int       `json:"n"`
	Median   float64   `json:"median"`
	Interval *Interval `json:"interval,omitempty"` // nil: too few samples
}

// An Interval lies between two order statistics of the sample and contains the
// true median with the given confidence, at least 0.95.
type Interval struct {
	Lo         float64 `json:"lo"`
	Hi         float64 `json:"hi"`
	Confidence float64 `json:"confidence"`
}

// Median estimates the median of a sample, which it does not modify. Without
// values the median is 0.
func Median(values []float64) Estimate {
	if len(values) == 0 {
		return Estimate{}
	}
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, confidence)
	e := Estimate{N: len(values), Median: s.Center}
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		e.Interval = &Interval{s.Lo, s.Hi, s.Confidence}
	}
	return e
}

// Ratios returns values[i]/base[i] for each pair. Values without a partner are
// left out.
func Ratios(values, base []float64) []float64 {
	return pairs(values, base, func(v, b float64) float64 { return v / b })
}

// Differences returns values[i]-base[i] for each pair.
func Differences(values, base []float64) []float64 {
	return pairs(values, base, func(v, b float64) float64 { return v - b })
}

func pairs(values, base []float64, f func(v, b float64) float64) []float64 {
	out := make([]float64, min(len(values), len(base)))
	for i := range out {
		out[i] = f(values[i], base[i])
	}
	return out
}

package advise

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// An Answer says whether something holds.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"      // the whole interval meets the bar
	No      Answer = "no"       // no part of the interval does
	NotSure Answer = "not sure" // the bar is inside the interval, or there are too few samples
)

// An Estimate is the median of a sample with an interval for the true median.
type Estimate struct {
	N        int
	Median   float64
	Interval *Interval // nil: too few samples
}

// An Interval lies between two order statistics of the sample, and contains the true median with 95 % confidence or more.
type Interval struct{ Lo, Hi, Confidence float64 }

// median estimates the median of a sample, which it does not modify. Without values it is 0.
func median(values []float64) Estimate {
	if len(values) == 0 {
		return Estimate{}
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), 0.95)
	e := Estimate{N: len(values), Median: s.Center}
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		e.Interval = &Interval{s.Lo, s.Hi, s.Confidence}
	}
	return e
}

// ratios returns values[i]/base[i] for each pair. Values without a partner are left out.
func ratios(values, base []float64) []float64 {
	out := make([]float64, min(len(values), len(base)))
	for i := range out {
		out[i] = values[i] / base[i]
	}
	return out
}

package stats

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Change is how a sample differs from an earlier one, by the Mann-Whitney U
// test: nothing is assumed of how times are distributed.
type Change struct {
	Old, New Estimate
	P        float64 // how likely as great a difference is if there is none
	Doubts   []error // why nothing may be said: too few values
}

// Compare compares two samples, which it leaves as they are.
func Compare(old, new []float64) Change {
	sample := func(values []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(values), &benchmath.Thresholds{CompareAlpha: Alpha})
	}
	c := benchmath.AssumeNothing.Compare(sample(old), sample(new))
	return Change{Median(old), Median(new), c.P, c.Warnings}
}

// Alpha is the P up to which samples are said to differ.
const Alpha = 0.05

// Differ reports whether the samples are said to differ.
func (c Change) Differ() bool { return c.P <= Alpha }

// Delta is by how much the median changed, in percent, or ~ where the samples
// are not said to differ.
func (c Change) Delta() string {
	return benchmath.Comparison{P: c.P, Alpha: Alpha}.FormatDelta(c.Old.Median, c.New.Median)
}

// Spread is how far the interval reaches from the median, in percent.
func (e Estimate) Spread() string {
	if e.Interval == nil {
		return "∞"
	}
	return benchmath.Summary{Center: e.Median, Lo: e.Interval.Lo, Hi: e.Interval.Hi}.PctRangeString()
}

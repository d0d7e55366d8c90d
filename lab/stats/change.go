package stats

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Change compares a sample with an earlier one by the Mann-Whitney U test,
// which makes no assumption about the distribution.
type Change struct {
	Old, New Estimate
	P        float64 // probability of such a difference by chance
	Warnings []error // why no statement is possible: too few values
}

// Compare compares two samples. It does not modify them.
func Compare(old, new []float64) Change {
	sample := func(values []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(values), &benchmath.Thresholds{CompareAlpha: Alpha})
	}
	c := benchmath.AssumeNothing.Compare(sample(old), sample(new))
	return Change{Median(old), Median(new), c.P, c.Warnings}
}

// Alpha is the largest P at which samples count as different.
const Alpha = 0.05

// Differ reports whether the samples differ.
func (c Change) Differ() bool { return c.P <= Alpha }

// Delta returns the change of the median in percent, or ~ if the samples do not
// differ.
func (c Change) Delta() string {
	return benchmath.Comparison{P: c.P, Alpha: Alpha}.FormatDelta(c.Old.Median, c.New.Median)
}

// Spread returns how far the interval reaches from the median, in percent.
func (e Estimate) Spread() string {
	if e.Interval == nil {
		return "∞"
	}
	return benchmath.Summary{Center: e.Median, Lo: e.Interval.Lo, Hi: e.Interval.Hi}.PctRangeString()
}

package stats

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Change compares a sample with an earlier one by the Mann-Whitney U test,
// which makes no assumption about the distribution, or two estimates by their intervals.
type Change struct {
	Old, New Estimate
	P        float64 // probability of such a difference by chance; NaN: not tested, intervals are compared
	Warnings []error // why no statement is possible: too few values
}

// Alpha is the largest P at which samples count as different.
const Alpha = 0.05

// Compare compares two samples. It does not modify them.
func Compare(old, new []float64) Change {
	sample := func(values []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(values), &benchmath.Thresholds{CompareAlpha: Alpha})
	}
	c := benchmath.AssumeNothing.Compare(sample(old), sample(new))
	return Change{Median(old), Median(new), c.P, c.Warnings}
}

// CompareEstimates compares two estimates whose samples are not known. They differ if
// their intervals do not overlap, which is a stricter test than that of Compare.
func CompareEstimates(old, new Estimate) Change { return Change{Old: old, New: new, P: math.NaN()} }

// Differ reports whether the samples differ.
func (c Change) Differ() bool {
	a, b := c.Old.Interval, c.New.Interval
	return c.P <= Alpha || math.IsNaN(c.P) && a != nil && b != nil && (a.Hi < b.Lo || b.Hi < a.Lo)
}

// Delta returns the change of the median in percent, or ~ if the samples do not
// differ.
func (c Change) Delta() string {
	if !c.Differ() {
		return "~"
	}
	return benchmath.Comparison{}.FormatDelta(c.Old.Median, c.New.Median)
}

// Spread returns how far the interval reaches from the median, in percent.
func (e Estimate) Spread() string {
	if e.Interval == nil {
		return "∞"
	}
	return benchmath.Summary{Center: e.Median, Lo: e.Interval.Lo, Hi: e.Interval.Hi}.PctRangeString()
}

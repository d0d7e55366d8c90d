// Package stats estimates medians. It makes no assumption about the
// distribution of times, which are skewed and have outliers.
package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchmath"
)

// confidence is the minimum confidence of an interval.
const confidence = 0.95

// An Estimate is the median of a sample with an interval for the true median.
type Estimate struct {
	N        int
	Median   float64
	Interval *Interval // nil: too few samples
}

// An Interval lies between two order statistics of the sample and contains the
// true median with the given confidence: of a sample at least 0.95.
type Interval struct{ Lo, Hi, Confidence float64 }

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

// Quotient estimates the ratio of two medians whose samples are not known. Its interval
// holds whatever the samples were, and is wider than that of values paired by round.
func Quotient(e, base Estimate) Estimate {
	out := Estimate{N: min(e.N, base.N)}
	if out.N == 0 {
		return out
	}
	out.Median = e.Median / base.Median
	if a, b := e.Interval, base.Interval; a != nil && b != nil && a.Lo >= 0 && b.Lo > 0 {
		out.Interval = &Interval{a.Lo / b.Hi, a.Hi / b.Lo, a.Confidence * b.Confidence}
	}
	return out
}

// MarshalJSON writes n, the median and the ends of the interval, if there is one, with
// 4 digits. The confidence follows from n.
func (e Estimate) MarshalJSON() ([]byte, error) {
	text := strconv.AppendInt([]byte("["), int64(e.N), 10)
	values := []float64{e.Median}
	if e.Interval != nil {
		values = append(values, e.Interval.Lo, e.Interval.Hi)
	}
	for _, v := range values {
		text = strconv.AppendFloat(append(text, ','), v, 'g', 4, 64)
	}
	return append(text, ']'), nil
}

// UnmarshalJSON reads the output of MarshalJSON.
func (e *Estimate) UnmarshalJSON(text []byte) error {
	var v []float64
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if len(v) != 2 && len(v) != 4 || v[0] < 0 || v[0] > 1e6 {
		return fmt.Errorf("%s: want n, a median, and no or two ends of an interval", text)
	}
	*e = Estimate{N: int(v[0]), Median: v[1]}
	if len(v) == 4 {
		e.Interval = &Interval{Lo: v[2], Hi: v[3]}
		if of := Median(make([]float64, e.N)).Interval; of != nil {
			e.Interval.Confidence = of.Confidence
		}
	}
	return nil
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

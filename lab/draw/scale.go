package draw

import (
	"math"
	"slices"
)

// A scale maps values to positions: linear from zero or, if all values are positive and far apart, logarithmic.
type scale struct {
	log      bool
	lo, hi   float64 // values
	from, to float64 // positions
}

// fit returns the scale of values, of which there must be one.
func fit(values []float64) scale {
	lo, hi := slices.Min(values), slices.Max(values)
	if lo > 0 && hi/lo > 20 {
		return scale{log: true, lo: lo / 1.2, hi: hi * 1.2}
	}
	return scale{lo: min(lo, 0), hi: max(hi, math.SmallestNonzeroFloat64)}
}

// over returns the scale with the given positions.
func (s scale) over(from, to float64) scale {
	s.from, s.to = from, to
	return s
}

// at returns the position of a value, clipped to the ends of the scale.
func (s scale) at(v float64) float64 {
	part := (v - s.lo) / (s.hi - s.lo)
	if s.log {
		part = math.Log(v/s.lo) / math.Log(s.hi/s.lo)
	}
	if !(part > 0) { // also of a scale of one value
		part = 0
	}
	return s.from + min(part, 1)*(s.to-s.from)
}

// ticks returns up to ten round values: 1, 2 and 5 times powers of ten, or only these, or steps of one of these.
func (s scale) ticks() (out []float64) {
	for _, steps := range [][]float64{{1, 2, 5}, {1}} {
		out = nil
		for decade := math.Pow(10, math.Floor(math.Log10(max(s.lo, s.hi/1e12)))); s.log && decade <= s.hi; decade *= 10 {
			for _, step := range steps {
				if v := step * decade; v >= s.lo && v <= s.hi {
					out = append(out, v)
				}
			}
		}
		if len(out) > 0 && len(out) <= 10 {
			return out
		}
	}
	step := math.Pow(10, math.Floor(math.Log10((s.hi-s.lo)/4)))
	for step*8 < s.hi-s.lo {
		step *= 2
	}
	for v := math.Ceil(s.lo/step) * step; v <= s.hi; v += step {
		out = append(out, v)
	}
	return out
}

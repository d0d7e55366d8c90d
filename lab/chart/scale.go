package chart

import (
	"math"
	"slices"
)

// A scale maps values to positions.
type scale struct {
	log      bool
	lo, hi   float64 // values
	from, to float64 // positions
}

// farApart is the ratio of values from which a scale is logarithmic.
const farApart = 20

// fit returns a linear scale from zero, or a logarithmic one if all values are
// positive and far apart. There must be values.
func fit(values []float64) scale {
	lo, hi := slices.Min(values), slices.Max(values)
	if lo > 0 && hi/lo > farApart {
		return scale{log: true, lo: lo / 1.2, hi: hi * 1.2}
	}
	lo, hi = min(lo, 0), max(hi, 0)
	if lo == hi {
		hi = 1
	}
	return scale{lo: lo, hi: hi}
}

// over returns the scale with the given positions.
func (s scale) over(from, to float64) scale {
	s.from, s.to = from, to
	return s
}

// at returns the position of a value, clipped to the ends of the scale.
func (s scale) at(v float64) float64 {
	part := 0.5
	switch {
	case s.hi == s.lo:
	case s.log:
		part = math.Log(max(v, s.lo)/s.lo) / math.Log(s.hi/s.lo)
	default:
		part = (v - s.lo) / (s.hi - s.lo)
	}
	return s.from + min(max(part, 0), 1)*(s.to-s.from)
}

// ticks returns about n round values, or up to twice as many of a logarithmic
// scale.
func (s scale) ticks(n int) []float64 {
	var out []float64
	if !s.log {
		step := nice((s.hi - s.lo) / float64(n))
		for i := math.Ceil(s.lo/step-1e-9) + 0; i*step <= s.hi+step*1e-9; i++ {
			out = append(out, i*step)
		}
		return out
	}
	for _, steps := range [][]float64{{1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1}} {
		out = nil
		for decade := math.Floor(math.Log10(s.lo)); decade <= math.Log10(s.hi); decade++ {
			for _, step := range steps {
				if v := step * math.Pow(10, decade); v >= s.lo*(1-1e-9) && v <= s.hi*(1+1e-9) {
					out = append(out, v)
				}
			}
		}
		if len(out) <= 2*n {
			break
		}
	}
	every, i := (len(out)-1)/(2*n)+1, -1 // each second or third of many decades
	return slices.DeleteFunc(out, func(float64) bool { i++; return i%every != 0 })
}

// nice returns the next step that is 1, 2 or 5 times a power of ten.
func nice(step float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(step)))
	for _, s := range []float64{1, 2, 5} {
		if s*decade >= step*(1-1e-9) {
			return s * decade
		}
	}
	return 10 * decade
}

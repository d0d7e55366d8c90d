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
// positive and far apart.
func fit(values []float64) scale {
	if len(values) == 0 {
		return scale{lo: 0, hi: 1}
	}
	lo, hi := slices.Min(values), slices.Max(values)
	if lo > 0 && hi/lo > farApart {
		return scale{log: true, lo: lo, hi: hi}
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
	part := 0.0
	switch {
	case s.hi == s.lo:
		part = 0.5
	case s.log:
		part = math.Log(max(v, s.lo)/s.lo) / math.Log(s.hi/s.lo)
	default:
		part = (v - s.lo) / (s.hi - s.lo)
	}
	return s.from + min(max(part, 0), 1)*(s.to-s.from)
}

// roundOut extends a scale to the next of about n ticks.
func (s scale) roundOut(n int) scale {
	if s.log {
		steps := s.decades()
		s.lo, s.hi = floorTo(s.lo, steps), ceilTo(s.hi, steps)
		return s
	}
	step := nice((s.hi - s.lo) / float64(n))
	s.lo, s.hi = math.Floor(s.lo/step+1e-9)*step, math.Ceil(s.hi/step-1e-9)*step
	return s
}

// ticks returns about n round values.
func (s scale) ticks(n int) []float64 {
	var out []float64
	if !s.log {
		step := nice((s.hi - s.lo) / float64(n))
		for i := math.Ceil(s.lo/step - 1e-9); i*step <= s.hi+step*1e-9; i++ {
			out = append(out, i*step)
		}
		return out
	}
	steps := s.decades()
	for v := ceilTo(s.lo, steps); v <= s.hi*(1+1e-9); v = ceilTo(v*1.01, steps) {
		out = append(out, v)
	}
	return everyNth(out, (len(out)+2*n-1)/(2*n)) // every second or third of many decades
}

// everyNth returns each nth value.
func everyNth(values []float64, n int) []float64 {
	var out []float64
	for i := 0; i < len(values); i += max(n, 1) {
		out = append(out, values[i])
	}
	return out
}

// decades returns the ticks between 1 and 10 of a logarithmic scale, more for
// shorter scales.
func (s scale) decades() []float64 {
	switch r := s.hi / s.lo; {
	case r < 2:
		return []float64{1, 1.1, 1.2, 1.5, 2, 3, 5, 7, 8, 9}
	case r < 5:
		return []float64{1, 1.5, 2, 3, 5, 7}
	case r < 200:
		return []float64{1, 2, 5}
	}
	return []float64{1}
}

// ceilTo returns the smallest step, in any decade, that is not below v.
func ceilTo(v float64, steps []float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, s := range steps {
		if s*decade >= v*(1-1e-9) {
			return s * decade
		}
	}
	return 10 * decade
}

// floorTo returns the largest step, in any decade, that is not above v.
func floorTo(v float64, steps []float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, s := range slices.Backward(steps) {
		if s*decade <= v*(1+1e-9) {
			return s * decade
		}
	}
	return decade
}

// nice returns the next step that is 1, 2 or 5 times a power of ten.
func nice(step float64) float64 { return ceilTo(step, []float64{1, 2, 5}) }

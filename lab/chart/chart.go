// Package chart draws rows of values, such as bars, and curves as SVG, with
// their intervals. Drawings use classes instead of colours; the rules in Style
// give them colours for light and dark pages. The same input gives the same
// drawing.
//
// A drawing is as wide as a phone, so that its text appears at the size it was
// drawn in. A wide page shows several side by side.
package chart

import (
	_ "embed" // for the rules
	"math"
)

// Style holds the CSS rules for the drawings, needed once per page.
//
//go:embed chart.css
var Style string

// A Frame describes a drawing for readers who cannot see it.
type Frame struct {
	ID    string // unique in the page
	Title string // in a few words
	Desc  string // in a sentence
}

// A Value is a measured value with its interval. Mid is NaN if nothing was
// measured.
type Value struct{ Mid, Lo, Hi float64 }

// At returns a value without an interval.
func At(v float64) Value { return Value{v, v, v} }

// known reports whether there is a value.
func (v Value) known() bool { return !math.IsNaN(v.Mid) && !math.IsInf(v.Mid, 0) }

// hasInterval reports whether there is an interval.
func (v Value) hasInterval() bool {
	return v.known() && v.Hi > v.Lo && !math.IsInf(v.Lo, 0) && !math.IsInf(v.Hi, 0)
}

// bounds returns the extent of the value with its interval.
func (v Value) bounds() (lo, hi float64) {
	if v.hasInterval() {
		return min(v.Lo, v.Mid), max(v.Hi, v.Mid)
	}
	return v.Mid, v.Mid
}

// An Axis describes an axis.
type Axis struct {
	Label  string
	Format func(float64) string // formats tick labels
}

// Package chart draws bars, curves, dots and shares as SVG. Drawings use
// classes instead of colours; the rules in Style give them colours for light
// and dark pages. The same input gives the same drawing.
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

// A Look distinguishes parts of a chart, not only by colour.
type Look int

// The looks, the most prominent first.
const (
	Strong Look = iota // filled, named in bold
	Second             // as Strong, for a second line
	Third              // as Strong, for a third line
	Accent             // filled, in the warning colour
	Rival              // filled, in the text colour
	Plain              // outlined
	Dashed             // outlined with dashes
)

// class returns the CSS class.
func (l Look) class() string {
	names := [...]string{"strong", "second", "third", "accent", "rival", "plain", "dashed"}
	if l < 0 || int(l) >= len(names) {
		return "plain"
	}
	return names[l]
}

// bold reports whether names are bold.
func (l Look) bold() bool { return l <= Third }

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

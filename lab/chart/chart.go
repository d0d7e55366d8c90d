// Package chart draws charts as SVG: bars, curves, dots and the shares of a
// whole. It knows nothing of what they are about. A drawing names no colour:
// its parts have classes, and Style, the rules for them, gives them colours
// that are fit for a light and a dark page. The same input gives the same
// drawing.
//
// A drawing is as wide as a phone, so that its text is read at the size in
// which it was drawn; a wide page puts several side by side.
package chart

import (
	_ "embed" // for the rules
	"math"
)

// Style are the rules of CSS that the drawings need, once on their page.
//
//go:embed chart.css
var Style string

// A Frame is what a reader is told who does not see the drawing.
type Frame struct {
	ID    string // of the drawing in its page, where it is the only one with it
	Title string // what is shown, in a few words
	Desc  string // what is to be seen, in a sentence
}

// A Look tells parts of a chart apart, by more than their colour.
type Look int

// The looks, from what is looked for first to what is only there to compare
// with.
const (
	Strong Look = iota // filled, named in bold
	Second             // as Strong, where there are two of them
	Third              // as Strong, where there are three
	Accent             // filled, in the colour of what is against us
	Rival              // filled, in the colour of the text
	Plain              // outlined
	Dashed             // outlined with dashes
)

// class is the class of a look.
func (l Look) class() string {
	names := [...]string{"strong", "second", "third", "accent", "rival", "plain", "dashed"}
	if l < 0 || int(l) >= len(names) {
		return "plain"
	}
	return names[l]
}

// bold reports whether a look has its name in bold.
func (l Look) bold() bool { return l <= Third }

// A Value is what was measured, with the ends of its interval. Where Mid is no
// number, nothing was measured.
type Value struct{ Mid, Lo, Hi float64 }

// At is a value without an interval.
func At(v float64) Value { return Value{v, v, v} }

// known reports whether there is something to draw.
func (v Value) known() bool { return !math.IsNaN(v.Mid) && !math.IsInf(v.Mid, 0) }

// wide reports whether there is an interval to draw.
func (v Value) wide() bool {
	return v.known() && v.Hi > v.Lo && !math.IsInf(v.Lo, 0) && !math.IsInf(v.Hi, 0)
}

// span is the part of an axis that a value takes.
func (v Value) span() (lo, hi float64) {
	if v.wide() {
		return min(v.Lo, v.Mid), max(v.Hi, v.Mid)
	}
	return v.Mid, v.Mid
}

// An Axis says what is counted along it.
type Axis struct {
	Label  string
	Format func(float64) string // of the numbers at its ticks
}

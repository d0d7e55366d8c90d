// Package chart draws bars and curves as SVG, with their intervals. Drawings
// use classes instead of colours; the rules in Style give them colours for
// light and dark pages. The same input gives the same drawing.
//
// A drawing is as wide as a phone, so that its text appears at the size it was
// drawn in. A wide page shows several side by side.
package chart

import (
	_ "embed" // for the rules
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
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

// A Value is a measured value with its interval, or three equal numbers.
type Value struct{ Mid, Lo, Hi float64 }

// An Axis describes an axis.
type Axis struct {
	Label  string
	Format func(float64) string // formats tick labels
}

// Sizes in pixels at the drawing's natural size.
const (
	width = 360.0
	line  = 14.0 // line height
	gap   = 6.0
)

// A canvas collects the elements of a drawing.
type canvas struct{ strings.Builder }

// svg returns the whole drawing.
func (c *canvas) svg(f Frame, height float64) string {
	return `<svg class="chart"` + f.head(width, height) + c.String() + "</svg>\n"
}

// head returns the rest of the first tag, the title and the description.
func (f Frame) head(wide, high float64) string {
	return fmt.Sprintf(` role="img" viewBox="0 0 %s %s" aria-labelledby="%[3]s-t %[3]s-d"><title id="%[3]s-t">%[4]s</title><desc id="%[3]s-d">%[5]s</desc>`,
		num(wide), num(high), html.EscapeString(f.ID), html.EscapeString(f.Title), html.EscapeString(f.Desc))
}

// text writes one line with its baseline at y. The classes mid and end anchor it.
func (c *canvas) text(x, y float64, class, s string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" class="%s">%s</text>`, num(x), num(y), class, html.EscapeString(s))
}

// label writes the label of an axis.
func (c *canvas) label(x, y float64, class string, a Axis, s scale) {
	if s.log {
		a.Label += ", log scale"
	}
	c.text(x, y, class, a.Label)
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.path(fmt.Sprintf("M%s %sL%s %s", num(x1), num(y1), num(x2), num(y2)), class, "")
}

// path draws a path, with a tooltip if words are given.
func (c *canvas) path(d, class, words string) {
	if words != "" {
		words = "<title>" + html.EscapeString(words) + "</title>"
	}
	fmt.Fprintf(c, `<path class="%s" d="%s">%s</path>`, class, d, words)
}

// shapes are the marks of points: a disc, square, diamond, triangle and inverted
// triangle.
var shapes = []string{"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z", "m-3-3h6v6h-6z", "m0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z", "m0-4l4 7h-8z", "m0 4l4-7h-8z"}

// mark draws a point.
func (c *canvas) mark(x, y float64, shape int, class, words string) {
	c.path("M"+num(x)+" "+num(y)+shapes[shape%len(shapes)], "mark "+class, words)
}

// num formats a coordinate with at most one decimal.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64) // + 0: no -0
}

// textWidth estimates the width of a text for the widest of the fonts that
// browsers use for "system-ui".
func textWidth(s string) float64 { return 7 * float64(utf8.RuneCountInString(s)) }

package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Sizes that all charts share, in pixels at the drawing's natural size.
const (
	width  = 360.0
	letter = 11.0 // font size
	line   = 14.0 // line height
)

// A canvas collects the elements of a drawing.
type canvas struct{ b strings.Builder }

// svg returns the whole drawing.
func (c *canvas) svg(f Frame, height float64) string {
	return fmt.Sprintf(`<svg class="chart" role="img" viewBox="0 0 %s %s" aria-labelledby="%[3]s-t %[3]s-d"><title id="%[3]s-t">%[4]s</title><desc id="%[3]s-d">%[5]s</desc>`,
		num(width), num(height), html.EscapeString(f.ID), html.EscapeString(f.Title), html.EscapeString(f.Desc)) + c.b.String() + "</svg>\n"
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// Text anchors.
const (
	start  = ""
	middle = " mid"
	end    = " end"
)

// text writes one line with its baseline at y.
func (c *canvas) text(x, y float64, class, anchor, s string) {
	if s == "" {
		return
	}
	class = strings.TrimSpace(class + anchor)
	if class != "" {
		class = ` class="` + class + `"`
	}
	c.add(`<text x="%s" y="%s"%s>%s</text>`, num(x), num(y), class, html.EscapeString(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.path(fmt.Sprintf("M%s %sL%s %s", num(x1), num(y1), num(x2), num(y2)), class)
}

func (c *canvas) path(d, class string) { c.add(`<path class="%s" d="%s"/>`, class, d) }

func (c *canvas) rect(x, y, w, h float64, class string) {
	c.add(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, num(x), num(y), num(w), num(h))
}

// mark draws the point of a look: a disc, square, triangle, diamond, inverted
// triangle, ring or hollow square.
func (c *canvas) mark(x, y float64, look Look, words string) {
	title, class := hover(words), "mark "+look.class()
	const r = 3.5
	switch look {
	case Second, Dashed:
		c.add(`<rect class="%s" x="%s" y="%s" width="6" height="6">%s</rect>`, class, num(x-3), num(y-3), title)
	case Third:
		c.add(`<path class="%s" d="M%s %sl4 7h-8z">%s</path>`, class, num(x), num(y-4), title)
	case Accent:
		c.add(`<path class="%s" d="M%s %sl4.5 4.5l-4.5 4.5l-4.5-4.5z">%s</path>`, class, num(x), num(y-4.5), title)
	case Rival:
		c.add(`<path class="%s" d="M%s %sl4-7h-8z">%s</path>`, class, num(x), num(y+4), title)
	default:
		c.add(`<circle class="%s" cx="%s" cy="%s" r="%s">%s</circle>`, class, num(x), num(y), num(r), title)
	}
}

// arrow points out of the drawing, to the right or, with side -1, to the left.
func (c *canvas) arrow(x, y, side float64, look Look, words string) {
	c.add(`<path class="mark %s" d="M%s %sl%s 4l%s 4z">%s</path>`, look.class(), num(x), num(y-4), num(6*side), num(-6*side), hover(words))
}

// cut marks a line that continues beyond the drawing, to the right or, with
// side -1, to the left.
func (c *canvas) cut(x, y, side float64, class string) {
	c.path(fmt.Sprintf("M%s %sl%s 3l%s 3", num(x-4*side), num(y-3), num(4*side), num(-4*side)), "cut "+class)
}

// hover returns a tooltip.
func hover(words string) string {
	if words == "" {
		return ""
	}
	return "<title>" + html.EscapeString(words) + "</title>"
}

// whisker draws an interval along a row.
func (c *canvas) whisker(x1, x2, y float64, class string) {
	c.path(fmt.Sprintf("M%s %sH%sM%[1]s %[4]sv6M%[3]s %[4]sv6", num(x1), num(y), num(x2), num(y-3)), "whisker "+class)
}

// star draws a star left of x, for text with its baseline at y.
func (c *canvas) star(x, y float64) {
	var b strings.Builder
	for i := range 10 {
		r := 5.0
		if i%2 == 1 {
			r = 2.1
		}
		sin, cos := math.Sincos(float64(i) * math.Pi / 5)
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&b, "%s%s %s", command, num(x-5+r*sin), num(y-4-r*cos))
	}
	c.path(b.String()+"z", "star")
}

// num formats a coordinate with at most one decimal.
func num(v float64) string {
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

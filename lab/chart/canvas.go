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
	gap    = 6.0
)

// A canvas collects the elements of a drawing.
type canvas struct{ strings.Builder }

// svg returns the whole drawing.
func (c *canvas) svg(f Frame, height float64) string {
	return fmt.Sprintf(`<svg class="chart" role="img" viewBox="0 0 %s %s" aria-labelledby="%[3]s-t %[3]s-d"><title id="%[3]s-t">%[4]s</title><desc id="%[3]s-d">%[5]s</desc>`,
		num(width), num(height), html.EscapeString(f.ID), html.EscapeString(f.Title), html.EscapeString(f.Desc)) + c.String() + "</svg>\n"
}

// text writes one line with its baseline at y. The classes mid and end anchor it.
func (c *canvas) text(x, y float64, class, s string) {
	if s != "" {
		fmt.Fprintf(c, `<text x="%s" y="%s" class="%s">%s</text>`, num(x), num(y), class, html.EscapeString(s))
	}
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
func textWidth(s string) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijlI.,:;|'! ", r):
			em += 0.35
		case strings.ContainsRune("ftr/()[]-", r):
			em += 0.43
		case strings.ContainsRune("mwMW@%+=×±", r):
			em += 1
		case r >= 'A' && r <= 'Z':
			em += 0.75
		case r >= 0x2e80: // East Asian letters, and symbols
			em += 1.1
		default:
			em += 0.67
		}
	}
	return em * letter
}

// wrap breaks a name after separators into lines of at most limit, unless a
// single part is wider.
func wrap(s string, limit float64) []string {
	var lines []string
	row := ""
	for s != "" {
		end := strings.IndexAny(s, "/ -+") + 1
		if end == 0 {
			end = len(s)
		}
		if row != "" && textWidth(row+s[:end]) > limit {
			lines, row = append(lines, strings.TrimSpace(row)), ""
		}
		row, s = row+s[:end], s[end:]
	}
	return append(lines, strings.TrimSpace(row))
}

package draw

import (
	"cmp"
	"slices"
	"strings"
)

// A Line is a curve, with its points in any order.
type Line struct {
	Name   string
	Points []Point
}

// A Point is a value of a line.
type Point struct {
	X float64
	Value
}

// Curves are lines over a number. X formats its ticks, and Y those of the values.
type Curves struct {
	ID, Title, XLabel, YLabel string
	X, Y                      func(float64) string
	Lines                     []Line
}

const (
	curvesWide = 480.0
	plotHigh   = 200.0
)

// SVG returns the drawing. There must be points.
func (v Curves) SVG(theme Theme) string {
	var xs, ys []float64
	for _, l := range v.Lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Lo, p.Hi)
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	y, left := fit(ys).over(2*line+plotHigh, 2*line), 0.0
	for _, t := range y.ticks() {
		left = max(left, textWidth(v.Y(t)))
	}
	x := scale{lo: xs[0], hi: xs[len(xs)-1]}
	x.log = x.lo > 0 && x.hi/x.lo >= 8
	x = x.over(left+2*gap, curvesWide-3*gap)
	c := &canvas{Theme: theme}
	c.text(0, line, "start", theme.Soft, false, v.YLabel)
	for _, t := range y.ticks() {
		c.line(x.from, y.at(t), x.to, y.at(t), theme.Grid)
		c.text(x.from-gap, y.at(t)+4, "end", theme.Soft, false, v.Y(t))
	}
	c.ticks(x, y.from, xs, v.X)
	for i, l := range slices.Backward(v.Lines) { // the first on top
		c.curve(l, x, y, theme.Lines[i%len(theme.Lines)])
	}
	bottom := y.from + 2*line
	c.text((x.from+x.to)/2, bottom, "middle", theme.Soft, false, v.XLabel)
	words := ""
	for i, l := range v.Lines { // the legend
		bottom += line + 2
		c.line(x.from, bottom-4, x.from+18, bottom-4, theme.Lines[i%len(theme.Lines)])
		c.text(x.from+24, bottom, "start", theme.Ink, i == 0, l.Name)
		words += l.Name + ". "
	}
	return c.svg(v.ID, v.Title, words, curvesWide, bottom+gap)
}

// ticks labels the horizontal axis, the last value in any case.
func (c *canvas) ticks(x scale, y float64, xs []float64, format func(float64) string) {
	if len(xs) > 16 {
		xs = x.ticks()
	}
	end := curvesWide
	for _, t := range slices.Backward(xs) {
		c.line(x.at(t), y, x.at(t), y+3, c.Soft)
		half := textWidth(format(t)) / 2
		if at := min(x.at(t), curvesWide-half-gap); at+half <= end {
			c.text(at, y+line, "middle", c.Soft, false, format(t))
			end = at - half - gap
		}
	}
}

// curve draws the band of the intervals, the line and the points.
func (c *canvas) curve(l Line, x, y scale, colour string) {
	points := slices.SortedFunc(slices.Values(l.Points), func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	var up, mid, down []string
	for _, p := range points {
		at := num(x.at(p.X)) + " "
		up, mid, down = append(up, at+num(y.at(p.Hi))), append(mid, at+num(y.at(p.Mid))), append(down, at+num(y.at(p.Lo)))
	}
	slices.Reverse(down)
	c.WriteString(`<g opacity=".15">`)
	c.path("M"+strings.Join(up, "L")+"L"+strings.Join(down, "L")+"z", colour, "none", 0)
	c.WriteString("</g>\n")
	c.path("M"+strings.Join(mid, "L"), "none", colour, 1.6)
	for _, at := range mid {
		c.path("M"+at+"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", colour, "none", 0)
	}
}

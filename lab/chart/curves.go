package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Curves are lines over a number, with a legend, and their intervals as bands.
type Curves struct {
	Frame
	X, Y  Axis
	Lines []Line
}

// A Line is one curve.
type Line struct {
	Name   string
	Ours   bool // thick, with filled marks
	Level  bool // its only point holds for every X
	Points []Point
}

// A Point is one value of a line.
type Point struct {
	X     float64
	Y     Value
	Words string // tooltip
}

// MaxLines is how many lines have colours of their own.
const MaxLines = 8

const plotHigh = 190.0

// SVG returns the drawing. There must be points.
func (v Curves) SVG() string {
	xs, y := v.scales()
	left := 0.0
	for _, t := range y.ticks(4) {
		left = max(left, textWidth(v.Y.Format(t)))
	}
	y = y.over(line+gap+plotHigh, line+gap)
	x := scale{lo: xs[0], hi: xs[len(xs)-1]}
	if x.lo == 0 && len(xs) > 1 && x.hi/xs[1] >= 8 {
		x.lo = xs[1] / 3 // where zero is on a logarithmic scale
	}
	x.log = x.lo > 0 && x.hi/x.lo >= 8
	x = x.over(left+2*gap, width-2*gap)
	c := &canvas{}
	c.label(0, line-3, "soft", v.Y, y)
	for _, t := range y.ticks(4) {
		c.line(x.from, y.at(t), x.to, y.at(t), "grid")
		c.text(x.from-gap, y.at(t)+4, "soft end", v.Y.Format(t))
	}
	v.xTicks(c, x, y.from, xs)
	for i, l := range slices.Backward(v.Lines) { // the first on top
		l.draw(c, x, y, i)
	}
	bottom := y.from + 2*line
	c.label((x.from+x.to)/2, bottom, "soft mid", v.X, x)
	return c.svg(v.Frame, v.legend(c, bottom+gap)+gap)
}

// scales returns all values of X, sorted, and the scale of Y.
func (v Curves) scales() (xs []float64, y scale) {
	var ys []float64
	for _, l := range v.Lines {
		for _, p := range l.Points {
			ys = append(ys, p.Y.Lo, p.Y.Hi)
			if !l.Level {
				xs = append(xs, p.X)
			}
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs), fit(ys)
}

// xTicks writes the labels of the horizontal axis: of the points if these are
// few, and as many as there is room for, the last in any case.
func (v Curves) xTicks(c *canvas, x scale, y float64, xs []float64) {
	if len(xs) > 16 {
		xs = x.ticks(5)
	}
	end := width
	for _, t := range slices.Backward(xs) {
		c.line(x.at(t), y, x.at(t), y+3, "base")
		half := textWidth(v.X.Format(t)) / 2
		if at := min(x.at(t), width-half); at+half <= end {
			c.text(at, y+line, "soft mid", v.X.Format(t))
			end = at - half - gap
		}
	}
}

// draw draws the band, the line and the points.
func (l Line) draw(c *canvas, x, y scale, i int) {
	points := slices.SortedStableFunc(slices.Values(l.Points), func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	if l.Level {
		points = []Point{{x.lo, points[0].Y, ""}, {x.hi, points[0].Y, ""}}
	}
	var up, mid, down []string
	for _, p := range points {
		at := num(x.at(p.X)) + " "
		up, mid, down = append(up, at+num(y.at(p.Y.Hi))), append(mid, at+num(y.at(p.Y.Mid))), append(down, at+num(y.at(p.Y.Lo)))
	}
	if slices.Reverse(down); !l.Level {
		c.path("M"+strings.Join(up, "L")+"L"+strings.Join(down, "L")+"z", "band "+l.class(i), "")
	}
	c.path("M"+strings.Join(mid, "L"), "curve "+l.class(i), l.Name)
	for _, p := range points {
		if !l.Level {
			c.mark(x.at(p.X), y.at(p.Y.Mid), i, l.class(i), p.Words)
		}
	}
}

// class returns the classes of the line with this number.
func (l Line) class(i int) string {
	class := fmt.Sprintf("line%d", i%MaxLines)
	if l.Ours {
		class += " ours"
	}
	if l.Level {
		class += " level"
	}
	return class
}

// legend names the lines below the plot, and returns where it ends.
func (v Curves) legend(c *canvas, y float64) float64 {
	x := width
	for i, l := range v.Lines {
		need := 28 + textWidth(l.Name) + gap
		if x+need > width {
			x, y = 0, y+line
		}
		c.line(x, y-4, x+22, y-4, "curve "+l.class(i))
		if !l.Level {
			c.mark(x+11, y-4, i, l.class(i), "")
		}
		class := "soft"
		if l.Ours {
			class = "bold"
		}
		c.text(x+28, y, class, l.Name)
		x += need
	}
	return y
}

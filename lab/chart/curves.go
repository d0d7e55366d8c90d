package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Curves are lines over a number, with their intervals as bands and a legend.
type Curves struct {
	Frame
	X, Y  Axis
	Lines []Line
}

// A Line is one curve.
type Line struct {
	Name   string
	Ours   bool    // thick, with filled marks
	Level  bool    // its only point holds for every X
	Points []Point // unknown values are left out
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

// SVG returns the drawing.
func (v Curves) SVG() string {
	xs, y := v.scales()
	label := v.Y.Label
	if y.log {
		label += ", log scale"
	}
	left := 0.0
	for _, t := range y.ticks(4) {
		left = max(left, textWidth(v.Y.Format(t)))
	}
	top := line + gap
	y = y.over(top+plotHigh, top)
	x := scale{lo: 0, hi: 1}
	if len(xs) > 0 {
		x = scale{lo: xs[0], hi: xs[len(xs)-1]}
		x.log = x.lo > 0 && x.hi/x.lo >= 8
	}
	x = x.over(left+2*gap, width-2*gap)
	c := &canvas{}
	c.text(0, line-3, "soft", label)
	for _, t := range y.ticks(4) {
		c.line(x.from, y.at(t), x.to, y.at(t), "grid")
		c.text(x.from-gap, y.at(t)+4, "soft end", v.Y.Format(t))
	}
	v.xTicks(c, x, y.from, xs)
	for i, l := range slices.Backward(v.Lines) { // the first on top
		l.draw(c, x, y, i)
	}
	bottom := y.from + 2*line
	label = v.X.Label
	if x.log {
		label += ", log scale"
	}
	c.text((x.from+x.to)/2, bottom, "soft mid", label)
	return c.svg(v.Frame, v.legend(c, bottom+gap)+gap)
}

// scales returns all values of X, sorted, and the scale of Y.
func (v Curves) scales() (xs []float64, y scale) {
	var ys []float64
	for _, l := range v.Lines {
		for _, p := range l.Points {
			if !l.Level {
				xs = append(xs, p.X)
			}
			if p.Y.known() {
				lo, hi := p.Y.bounds()
				ys = append(ys, lo, hi)
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
		text := v.X.Format(t)
		half := textWidth(text) / 2
		if at := min(x.at(t), width-half); at+half <= end {
			c.text(at, y+line, "soft mid", text)
			end = at - half - gap
		}
	}
}

// draw draws the band, the line and the points.
func (l Line) draw(c *canvas, x, y scale, i int) {
	points := slices.DeleteFunc(slices.Clone(l.Points), func(p Point) bool { return !p.Y.known() })
	if l.Level && len(points) > 0 {
		points = []Point{{x.lo, points[0].Y, ""}, {x.hi, points[0].Y, ""}}
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	var up, mid, down []string
	banded := false
	for _, p := range points {
		lo, hi := p.Y.bounds()
		at := num(x.at(p.X)) + " "
		up, mid, down = append(up, at+num(y.at(hi))), append(mid, at+num(y.at(p.Y.Mid))), append(down, at+num(y.at(lo)))
		banded = banded || p.Y.hasInterval()
	}
	class := l.class(i)
	if slices.Reverse(down); banded && len(points) > 1 {
		c.path("M"+strings.Join(up, "L")+"L"+strings.Join(down, "L")+"z", "band "+class, "")
	}
	if len(points) > 1 {
		c.path("M"+strings.Join(mid, "L"), "curve "+class, l.Name)
	}
	for _, p := range points {
		if len(points) == 1 && p.Y.hasInterval() {
			c.line(x.at(p.X), y.at(p.Y.Lo), x.at(p.X), y.at(p.Y.Hi), "whisker")
		}
		if !l.Level && p.Words != "" {
			c.mark(x.at(p.X), y.at(p.Y.Mid), i, class, p.Words)
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
		need := 28 + textWidth(l.Name) + 2*gap
		if x+need > width {
			x, y = 0, y+line
		}
		c.line(x, y-4, x+22, y-4, "curve "+l.class(i))
		class := "soft"
		if !l.Level {
			c.mark(x+11, y-4, i, l.class(i), "")
		}
		if l.Ours {
			class = "bold"
		}
		c.text(x+28, y, class, l.Name)
		x += need
	}
	return y
}

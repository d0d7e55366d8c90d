package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Curves are lines over a number, with their intervals as bands and their names
// at the end.
type Curves struct {
	Frame
	X, Y   Axis
	To     float64 // end of the horizontal axis, which then is linear from 0; 0: as the points need
	Lines  []Line
	Levels []Level
}

// A Line is one curve.
type Line struct {
	Name   string
	Look   Look
	Points []Point // unknown values leave a gap

	runs [][]Point // known points, split at gaps
}

// A Point is one value of a line.
type Point struct {
	X     float64
	Y     Value
	Words string // tooltip
}

// A Level is a value that does not depend on the number.
type Level struct {
	Name string
	Look Look
	Y    Value
}

const plotHigh = 190.0

// SVG returns the drawing.
func (v Curves) SVG() string {
	v.Lines = v.sorted()
	c := &canvas{}
	y := v.yScale()
	names := v.names(y.over(1, 0))
	high := max(plotHigh, float64(len(names))*line)
	top := line + 6
	y = y.over(top+high, top)
	x := v.xScale().over(v.left(y)+6, v.right())
	v.frame(c, x, y)
	for _, l := range v.Levels {
		l.draw(c, x, y)
	}
	for _, l := range slices.Backward(v.Lines) { // prominent lines on top
		l.draw(c, x, y)
	}
	v.label(c, x, y, v.names(y))
	bottom := top + high + line
	c.text((x.from+x.to)/2, bottom+line, "soft", middle, v.xLabel(x))
	return c.svg(v.Frame, bottom+line+5)
}

// sorted returns the lines with known points, in order of X.
func (v Curves) sorted() []Line {
	var out []Line
	for _, l := range v.Lines {
		all := slices.Clone(l.Points)
		slices.SortStableFunc(all, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		l.runs = runs(all)
		l.Points = slices.Concat(l.runs...)
		if len(l.Points) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// runs splits points at gaps.
func runs(points []Point) [][]Point {
	var out [][]Point
	gap := true
	for _, p := range points {
		switch {
		case !p.Y.known():
		case gap:
			out = append(out, []Point{p})
		default:
			out[len(out)-1] = append(out[len(out)-1], p)
		}
		gap = !p.Y.known()
	}
	return out
}

// xs returns all values of X, sorted.
func (v Curves) xs() []float64 {
	var all []float64
	for _, l := range v.Lines {
		for _, p := range l.Points {
			all = append(all, p.X)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// HasPoints reports whether a line has known points.
func (v Curves) HasPoints() bool { return len(v.sorted()) > 0 }

// xScale is logarithmic if all values are positive and far apart, unless its end
// is given.
func (v Curves) xScale() scale {
	if v.To > 0 {
		return scale{lo: 0, hi: v.To}
	}
	all := v.xs()
	if len(all) == 0 {
		return scale{lo: 0, hi: 1}
	}
	lo, hi := all[0], all[len(all)-1]
	return scale{log: lo > 0 && hi/lo >= 8, lo: lo, hi: hi}
}

func (v Curves) yScale() scale {
	var all []float64
	for _, l := range v.Lines {
		for _, p := range l.Points {
			lo, hi := p.Y.bounds()
			all = append(all, lo, hi)
		}
	}
	for _, l := range v.Levels {
		if l.Y.known() {
			lo, hi := l.Y.bounds()
			all = append(all, lo, hi)
		}
	}
	return fit(all).roundOut(4)
}

// left returns the width of the vertical axis's labels.
func (v Curves) left(y scale) float64 {
	most := 0.0
	for _, t := range y.ticks(4) {
		most = max(most, textWidth(v.Y.Format(t), false))
	}
	return most
}

// right returns where the names start, less the room for leader lines.
func (v Curves) right() float64 {
	most := 0.0
	for _, l := range v.Lines {
		most = max(most, textWidth(l.Name, l.Look.bold()))
	}
	for _, l := range v.Levels {
		most = max(most, textWidth(l.Name, l.Look.bold()))
	}
	return width - 1 - most - leader
}

const leader = 18.0 // from the end of a line to its name

func (v Curves) xLabel(x scale) string {
	if x.log {
		return v.X.Label + ", log scale"
	}
	return v.X.Label
}

// frame draws the axes.
func (v Curves) frame(c *canvas, x, y scale) {
	label := v.Y.Label
	if y.log {
		label += ", log scale"
	}
	c.text(0, line-3, "soft", start, label)
	for _, t := range y.ticks(4) {
		at := y.at(t)
		c.line(x.from, at, x.to, at, gridClass(t, y))
		c.text(x.from-6, at+4, "soft", end, v.Y.Format(t))
	}
	xs := v.xs()
	if v.To > 0 {
		xs = x.ticks(4)
	}
	for _, t := range xs {
		c.line(x.at(t), y.from, x.at(t), y.from+3, "grid")
	}
	v.xTicks(c, x, y.from+line, xs)
}

// xTicks writes the labels of the horizontal axis, the ends first. Labels
// without room are left out.
func (v Curves) xTicks(c *canvas, x scale, y float64, xs []float64) {
	type room struct{ from, to float64 }
	var taken []room
	for i := range xs {
		t := xs[0]
		switch i {
		case 0:
		case 1:
			t = xs[len(xs)-1]
		default:
			t = xs[i-1]
		}
		text := v.X.Format(t)
		half := textWidth(text, false) / 2
		at := max(x.at(t), half+1)
		r := room{at - half, at + half}
		if slices.ContainsFunc(taken, func(o room) bool { return r.from <= o.to+gap && o.from <= r.to+gap }) {
			continue
		}
		c.text(at, y, "soft", middle, text)
		taken = append(taken, r)
	}
}

// draw draws a line and its points.
func (l Line) draw(c *canvas, x, y scale) {
	for _, points := range l.runs {
		l.run(c, x, y, points)
	}
	for _, p := range l.Points {
		c.mark(x.at(p.X), y.at(p.Y.Mid), l.Look, p.Words)
	}
}

// run draws the band and the line through points, or the interval of a single
// point.
func (l Line) run(c *canvas, x, y scale, points []Point) {
	var up, down, mid strings.Builder
	command := "M"
	banded := false
	for _, p := range points {
		_, hi := p.Y.bounds()
		banded = banded || p.Y.hasInterval()
		fmt.Fprintf(&up, "%s%s %s", command, num(x.at(p.X)), num(y.at(hi)))
		fmt.Fprintf(&mid, "%s%s %s", command, num(x.at(p.X)), num(y.at(p.Y.Mid)))
		command = "L"
	}
	for _, p := range slices.Backward(points) {
		lo, _ := p.Y.bounds()
		fmt.Fprintf(&down, "L%s %s", num(x.at(p.X)), num(y.at(lo)))
	}
	class := l.Look.class()
	switch {
	case len(points) == 1:
		p := points[0]
		lo, hi := p.Y.bounds()
		c.line(x.at(p.X), y.at(lo), x.at(p.X), y.at(hi), "whisker "+class)
	default:
		if banded {
			c.path(up.String()+down.String()+"z", "band "+class)
		}
		c.path(mid.String(), "curve "+class)
	}
}

// draw draws a level across the plot, with its interval as a band.
func (l Level) draw(c *canvas, x, y scale) {
	if l.Y.hasInterval() {
		lo, hi := l.Y.bounds()
		c.rect(x.from, y.at(hi), x.to-x.from, y.at(lo)-y.at(hi), "band "+l.Look.class())
	}
	if l.Y.known() {
		c.line(x.from, y.at(l.Y.Mid), x.to, y.at(l.Y.Mid), "level "+l.Look.class())
	}
}

// A nameTag is the name of a line and its vertical position.
type nameTag struct {
	name  string
	look  Look
	end   float64 // where the line ends
	x     float64 // last X of the line; for a level the end of the axis
	level bool
	y     float64 // position of the name
}

// names returns the names of all lines and levels, from the top, without
// positions.
func (v Curves) names(y scale) []nameTag {
	var out []nameTag
	for _, l := range v.Lines {
		p := l.Points[len(l.Points)-1]
		out = append(out, nameTag{name: l.Name, look: l.Look, end: y.at(p.Y.Mid), x: p.X})
	}
	for _, l := range v.Levels {
		if l.Y.known() {
			out = append(out, nameTag{name: l.Name, look: l.Look, end: y.at(l.Y.Mid), level: true})
		}
	}
	slices.SortStableFunc(out, func(a, b nameTag) int { return cmp.Compare(a.end, b.end) })
	return out
}

// label writes the names without overlap, with leader lines.
func (v Curves) label(c *canvas, x, y scale, tags []nameTag) {
	spreadTags(tags, y.to, y.from)
	for _, t := range tags {
		from := x.to
		if !t.level {
			from = x.at(t.x)
		}
		class := ""
		if t.look.bold() {
			class = "bold "
		}
		c.path(fmt.Sprintf("M%s %sL%s %sL%s %s", num(from), num(t.end), num(x.to+5), num(t.end), num(x.to+leader-4), num(t.y)), "lead")
		c.text(x.to+leader, t.y+4, class+"name "+t.look.class(), start, t.name)
	}
}

// spreadTags moves names apart by at least a line, between top and bottom,
// keeping their order and staying near their lines.
func spreadTags(tags []nameTag, top, bottom float64) {
	at := top
	for i := range tags {
		tags[i].y = max(tags[i].end, at)
		at = tags[i].y + line
	}
	at = bottom
	for i := len(tags) - 1; i >= 0; i-- {
		tags[i].y = min(tags[i].y, at)
		at = tags[i].y - line
	}
}

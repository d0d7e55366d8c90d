package chart

import (
	"math"
	"strings"
)

// Bars are horizontal bars. Values too far apart for bars from zero are points
// on a logarithmic scale.
type Bars struct {
	Frame
	Axis   Axis
	Beside string // heading of the notes
	Bars   []Bar
}

// A Bar is one row.
type Bar struct {
	Name  string
	Look  Look
	Value Value
	Text  string // the formatted value
	Note  string // at the end of the row
	Best  bool   // marked with a star
}

// Sizes of bars.
const (
	rowHigh   = 20.0
	barHigh   = 11.0
	longLabel = 150.0 // wider names take two lines
	gap       = 6.0
)

// columns are the positions of the parts of a row.
type columns struct {
	label, plot, end, text, note float64
}

// SVG returns the drawing.
func (b Bars) SVG() string {
	c := &canvas{}
	at := b.columns()
	s := b.scale().over(at.plot, at.end)
	if long := s.over(at.plot, at.text-4); s.log && b.fit(at, long) {
		s = long
	}
	y := b.head(c, at, s)
	top := y
	rows := &canvas{}
	for _, bar := range b.Bars {
		y = bar.draw(rows, at, s, y)
	}
	foot(c, s, b.Axis, top, y, 3)
	c.b.WriteString(rows.b.String())
	return c.svg(b.Frame, y+line+4)
}

// columns gives each part the width it needs, and the rest to the bars.
func (b Bars) columns() columns {
	var label, text, note float64
	for _, bar := range b.Bars {
		for _, l := range wrap(bar.Name, bar.Look.bold(), longLabel) {
			label = max(label, textWidth(l, bar.Look.bold()))
		}
		text = max(text, textWidth(bar.words(), true))
		note = max(note, textWidth(bar.Note, false))
	}
	at := columns{label: label + 1, plot: label + gap + 15, note: width - 1} // room for the star
	at.text = at.note - note - gap
	if note == 0 {
		at.text = at.note
	}
	at.end = at.text - text - gap
	return at
}

// fit reports whether each text fits on one side of its point.
func (b Bars) fit(at columns, s scale) bool {
	for _, bar := range b.Bars {
		if x, anchor := bar.beside(at, s); anchor == end && x-textWidth(bar.words(), bar.Look.bold()) < at.plot {
			return false
		}
	}
	return true
}

// scale contains all bars with their intervals.
func (b Bars) scale() scale {
	var all []float64
	for _, bar := range b.Bars {
		if bar.Value.known() {
			lo, hi := bar.Value.bounds()
			all = append(all, lo, hi)
		}
	}
	s := fit(all)
	if s.log {
		return s.roundOut(3)
	}
	return s
}

// head writes the headings and returns where the rows start.
func (b Bars) head(c *canvas, at columns, s scale) float64 {
	label := b.Axis.Label
	if s.log {
		label += ", log scale"
	}
	y := line - 3
	c.text(0, y, "soft", start, label)
	if textWidth(label, false)+2*gap+textWidth(b.Beside, false) > width {
		y += line
	}
	c.text(at.note, y, "soft", end, b.Beside)
	return y + 5
}

// foot draws the ticks below the rows, and grid lines through them.
func foot(c *canvas, s scale, a Axis, top, bottom float64, n int) {
	last := math.Inf(-1)
	for _, v := range s.ticks(n) {
		x := s.at(v)
		c.line(x, top, x, bottom, gridClass(v, s))
		text := a.Format(v)
		half := textWidth(text, false) / 2
		if x-half < max(0, last+gap) || x+half > width {
			continue
		}
		c.text(x, bottom+line-2, "soft", middle, text)
		last = x + half
	}
}

// gridClass distinguishes zero, where bars start.
func gridClass(v float64, s scale) string {
	if v == 0 && !s.log {
		return "base"
	}
	return "grid"
}

// draw draws one row and returns the position of the next.
func (b Bar) draw(c *canvas, at columns, s scale, y float64) float64 {
	name := wrap(b.Name, b.Look.bold(), longLabel)
	high := rowHigh + float64(len(name)-1)*(line-2)
	class := ""
	if b.Look.bold() {
		class = "bold"
	}
	for i, l := range name {
		c.text(at.label, y+14+float64(i)*(line-2), class, end, l)
	}
	y += (high - rowHigh) / 2
	if b.Best {
		c.star(at.plot-3, y+14)
	}
	b.body(c, s, y)
	x, anchor := b.beside(at, s)
	c.text(x, y+14, strings.TrimSpace(class+" over"), anchor, b.words())
	c.text(at.note, y+14, "soft", end, b.Note)
	return y + rowHigh + (high-rowHigh)/2
}

// words returns the formatted value.
func (b Bar) words() string {
	if !b.Value.known() {
		return "not measured"
	}
	return b.Text
}

// beside returns the position and anchor of the text: right of the drawn value,
// or on a logarithmic scale left of it if there is no room.
func (b Bar) beside(at columns, s scale) (x float64, anchor string) {
	if !b.Value.known() {
		return s.from, start
	}
	lo, hi := b.Value.bounds()
	if !s.log {
		return max(s.at(hi), s.at(0)) + gap, start
	}
	x = max(s.at(hi), s.at(b.Value.Mid)+3) + gap
	if x+textWidth(b.words(), b.Look.bold()) > at.text {
		return min(s.at(lo), s.at(b.Value.Mid)-3) - gap, end
	}
	return x, start
}

// body draws the bar, or the point on a logarithmic scale, with its interval.
func (b Bar) body(c *canvas, s scale, y float64) {
	if !b.Value.known() {
		return
	}
	mid, lo, hi := s.at(b.Value.Mid), s.at(b.Value.Lo), s.at(b.Value.Hi)
	class := b.Look.class()
	if s.log {
		c.line(s.from, y+10, mid, y+10, "guide")
	} else {
		zero := s.at(0)
		c.rect(min(zero, mid), y+10-barHigh/2, math.Abs(mid-zero), barHigh, "bar "+class)
	}
	if b.Value.hasInterval() {
		c.whisker(lo, hi, y+10, class)
	}
	if s.log {
		c.mark(mid, y+10, b.Look, "")
	}
}

package chart

import "math"

// Dots are rows of ratios on a logarithmic scale with a line at 1.
type Dots struct {
	Frame
	Axis         Axis
	Below, Above string  // meaning of the sides of the line
	Least, Most  float64 // smallest extent of the scale; 0: the dots' extent
	Rows         []DotRow
}

// A DotRow is a named row of dots.
type DotRow struct {
	Title string // heading shared by consecutive rows
	Name  string
	Text  string // at the end of the row
	Dots  []Dot
}

// A Dot is a ratio. It is not drawn unless it is positive.
type Dot struct {
	Look  Look
	Value Value
	Words string // tooltip
}

const (
	longName = 170.0 // wider names take two lines
	dotRow   = 17.0
)

// SVG returns the drawing.
func (d Dots) SVG() string {
	c := &canvas{}
	at := d.columns()
	s := d.scale().over(at.plot, at.end)
	top := 2*line - 1
	rows := &canvas{}
	y := top
	title := ""
	for _, row := range d.Rows {
		switch {
		case row.Title == title:
		case row.Title == "":
			y += gap
		default:
			rows.text(0, y+15, "title", start, row.Title)
			y += dotRow + 3
		}
		title = row.Title
		y = row.draw(rows, at, s, y)
	}
	d.head(c, s)
	foot(c, s, d.Axis, top, y, 4)
	c.line(s.at(1), top-3, s.at(1), y, "base")
	c.b.WriteString(rows.b.String())
	return c.svg(d.Frame, y+line+4)
}

// head writes the axis label and the meaning of the sides.
func (d Dots) head(c *canvas, s scale) {
	c.text(0, line-3, "soft", start, d.Axis.Label+", log scale")
	one := s.at(1)
	if left := "← " + d.Below; one-gap-textWidth(left, false) > 0 {
		c.text(one-gap, 2*line-5, "soft", end, left)
	}
	if right := d.Above + " →"; one+gap+textWidth(right, false) < width {
		c.text(one+gap, 2*line-5, "soft", start, right)
	}
}

func (d Dots) columns() columns {
	var label, text float64
	for _, row := range d.Rows {
		for _, l := range wrap(row.Name, false, longName) {
			label = max(label, textWidth(l, false))
		}
		text = max(text, textWidth(row.Text, false))
	}
	return columns{label: label + 1, plot: label + 2*gap, end: width - text - 2*gap, text: width - 1}
}

// scale reaches from Least to Most, or contains the dots' intervals.
func (d Dots) scale() scale {
	lo, hi := d.Least, d.Most
	for _, row := range d.Rows {
		for _, dot := range row.Dots {
			if !dot.drawn() {
				continue
			}
			from, to := dot.Value.bounds()
			if d.Least <= 0 && from > 0 {
				lo = least(lo, from)
			}
			if d.Most <= 0 {
				hi = max(hi, to)
			}
		}
	}
	return scale{log: true, lo: least(lo, 0.9) / 1.1, hi: max(hi, 1/0.9) * 1.1}
}

// least returns the smaller of two values, ignoring a if it is not set.
func least(a, b float64) float64 {
	if a <= 0 {
		return b
	}
	return min(a, b)
}

func (d Dot) drawn() bool { return d.Value.known() && d.Value.Mid > 0 }

// draw draws one row and returns the position of the next.
func (r DotRow) draw(c *canvas, at columns, s scale, y float64) float64 {
	name := wrap(r.Name, false, longName)
	high := dotRow + float64(len(name)-1)*(line-2)
	for i, l := range name {
		c.text(at.label, y+12+float64(i)*(line-2), "", end, l)
	}
	mid := y + high/2
	c.line(s.from, mid, s.to, mid, "guide")
	for _, dot := range r.Dots {
		if dot.drawn() && dot.Value.hasInterval() {
			dot.whisker(c, s, mid)
		}
	}
	for _, dot := range r.Dots {
		if dot.drawn() {
			dot.draw(c, s, mid)
		}
	}
	c.text(at.text, mid+4, "soft", end, r.Text)
	return math.Round(y + high)
}

// whisker draws the interval, and marks an end beyond the scale. The arrow of a
// dot beyond the scale replaces the mark.
func (d Dot) whisker(c *canvas, s scale, y float64) {
	lo, hi := d.Value.bounds()
	class := d.Look.class()
	c.line(s.at(lo), y, s.at(hi), y, "whisker "+class)
	if lo < s.lo && d.Value.Mid >= s.lo {
		c.cut(s.from, y, -1, class)
	}
	if hi > s.hi && d.Value.Mid <= s.hi {
		c.cut(s.to, y, 1, class)
	}
}

// draw draws one dot, or an arrow if it is beyond the scale.
func (d Dot) draw(c *canvas, s scale, y float64) {
	switch {
	case d.Value.Mid > s.hi:
		c.arrow(s.to, y, 1, d.Look, d.Words)
	case d.Value.Mid < s.lo:
		c.arrow(s.from, y, -1, d.Look, d.Words)
	default:
		c.mark(s.at(d.Value.Mid), y, d.Look, d.Words)
	}
}

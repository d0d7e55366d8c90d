package chart

import "math"

// Dots are ratios, several in a row, on a logarithmic scale that has a line at
// one.
type Dots struct {
	Frame
	Axis         Axis
	Below, Above string  // what it means to be left and right of the line
	Least, Most  float64 // what the scale has room for at least; 0: what the dots need
	Rows         []DotRow
}

// A DotRow is a named row of dots.
type DotRow struct {
	Title string // of this row and those behind it with the same one
	Name  string
	Text  string // at the end of the row
	Dots  []Dot
}

// A Dot is a ratio. Where it is not above zero, it is left out.
type Dot struct {
	Look  Look
	Value Value
	Words string // said when one hovers over it
}

const (
	longName = 170.0 // names of rows that are wider take two lines
	dotRow   = 17.0
)

// SVG draws them.
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

// head says what is counted, and what the sides of the line mean.
func (d Dots) head(c *canvas, s scale) {
	c.text(0, line-3, "soft", start, d.Axis.Label+", log scale")
	one := s.at(1)
	if left := "← " + d.Below; one-gap-breadth(left, false) > 0 {
		c.text(one-gap, 2*line-5, "soft", end, left)
	}
	if right := d.Above + " →"; one+gap+breadth(right, false) < width {
		c.text(one+gap, 2*line-5, "soft", start, right)
	}
}

func (d Dots) columns() columns {
	var label, text float64
	for _, row := range d.Rows {
		for _, l := range wrap(row.Name, false, longName) {
			label = max(label, breadth(l, false))
		}
		text = max(text, breadth(row.Text, false))
	}
	return columns{label: label + 1, plot: label + 2*gap, end: width - text - 2*gap, text: width - 1}
}

// scale goes from the least to the most, with room for the dots at its ends. What
// the dots need is what their intervals do.
func (d Dots) scale() scale {
	lo, hi := d.Least, d.Most
	for _, row := range d.Rows {
		for _, dot := range row.Dots {
			if !dot.drawn() {
				continue
			}
			from, to := dot.Value.span()
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

// least is the smaller one of two values, of which the first may be missing.
func least(a, b float64) float64 {
	if a <= 0 {
		return b
	}
	return min(a, b)
}

func (d Dot) drawn() bool { return d.Value.known() && d.Value.Mid > 0 }

// draw draws one row and returns where the next begins.
func (r DotRow) draw(c *canvas, at columns, s scale, y float64) float64 {
	name := wrap(r.Name, false, longName)
	high := dotRow + float64(len(name)-1)*(line-2)
	for i, l := range name {
		c.text(at.label, y+12+float64(i)*(line-2), "", end, l)
	}
	mid := y + high/2
	c.line(s.from, mid, s.to, mid, "guide")
	for _, dot := range r.Dots {
		if dot.drawn() && dot.Value.wide() {
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

// whisker draws the interval, with the sign of a cut at an end that is beyond the
// scale. A dot that is there itself has its arrow.
func (d Dot) whisker(c *canvas, s scale, y float64) {
	lo, hi := d.Value.span()
	class := d.Look.class()
	c.line(s.at(lo), y, s.at(hi), y, "whisker "+class)
	if lo < s.lo && d.Value.Mid >= s.lo {
		c.cut(s.from, y, -1, class)
	}
	if hi > s.hi && d.Value.Mid <= s.hi {
		c.cut(s.to, y, 1, class)
	}
}

// draw draws one dot, or an arrow where it is beyond the scale.
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

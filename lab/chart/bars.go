package chart

import (
	"fmt"
	"math"
)

// Bars are horizontal bars with their names above. Values too far apart for bars
// from zero are points on a logarithmic scale.
type Bars struct {
	Frame
	Axis Axis
	Bars []Bar
}

// A Bar is one row.
type Bar struct {
	Name  string
	Look  Look
	Value Value
	Text  string // the formatted value
}

// A Look distinguishes bars, not only by colour.
type Look string

// The looks.
const (
	Ours   Look = "ours"   // filled, named in bold
	Plain  Look = "plain"  // outlined
	Dashed Look = "dashed" // outlined with dashes
)

const rowHigh = 26.0

// SVG returns the drawing.
func (b Bars) SVG() string {
	var all []float64
	for _, bar := range b.Bars {
		all = append(all, bar.Value.Lo, bar.Value.Hi)
	}
	s := fit(all).over(5, width-5)
	c := &canvas{}
	c.label(0, line-3, "soft", b.Axis, s)
	bottom := line + rowHigh*float64(len(b.Bars)) + gap
	last := -gap
	for _, v := range s.ticks(4) {
		class := "grid"
		if v == 0 && !s.log {
			class = "base"
		}
		x, half := s.at(v), textWidth(b.Axis.Format(v))/2
		c.line(x, line+2, x, bottom, class)
		if at := min(max(x, half), width-half); at-half > last {
			c.text(at, bottom+line-2, "soft mid", b.Axis.Format(v))
			last = at + half + gap
		}
	}
	for i, bar := range b.Bars {
		bar.draw(c, s, line+rowHigh*float64(i)+12)
	}
	return c.svg(b.Frame, bottom+line+4)
}

// draw draws the name, the value, and below them the bar.
func (b Bar) draw(c *canvas, s scale, y float64) {
	class := ""
	if b.Look == Ours {
		class = "bold "
	}
	squeeze := ""
	if room := width - textWidth(b.Text) - 2*gap; textWidth(b.Name) > room {
		squeeze = fmt.Sprintf(`" textLength="%s" lengthAdjust="spacingAndGlyphs`, num(room))
	}
	c.text(2, y, class+"over"+squeeze, b.Name)
	c.text(width-2, y, class+"over end", b.Text)
	b.horizontal(c, s, y+9)
}

// horizontal draws the bar, or the point on a logarithmic scale, with its interval.
func (b Bar) horizontal(c *canvas, s scale, y float64) {
	mid, words := s.at(b.Value.Mid), b.Name+": "+b.Text
	if s.log {
		c.line(s.from, y, s.to, y, "guide")
	} else {
		zero := s.at(0)
		c.path("M"+num(min(zero, mid))+" "+num(y-4)+"h"+num(math.Abs(mid-zero))+"v8H"+num(min(zero, mid))+"z", "bar "+string(b.Look), words)
	}
	if lo, hi := num(s.at(b.Value.Lo)), num(s.at(b.Value.Hi)); b.Value.Lo < b.Value.Hi {
		c.path("M"+lo+" "+num(y)+"H"+hi+"M"+lo+" "+num(y-3)+"v6M"+hi+" "+num(y-3)+"v6", "whisker", "")
	}
	if s.log {
		c.mark(mid, y, map[Look]int{Dashed: 1}[b.Look], string(b.Look), words)
	}
}

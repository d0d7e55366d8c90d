package chart

import "math"

// Bars are horizontal bars. Ratios, and values too far apart for bars from zero,
// are points on a logarithmic scale.
type Bars struct {
	Frame
	Axis   Axis
	Ratios bool // a line at 1 takes the place of zero
	Bars   []Bar
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
	Accent Look = "accent" // filled, in the warning colour
	Plain  Look = "plain"  // outlined
	Dashed Look = "dashed" // outlined with dashes
)

const (
	rowHigh   = 18.0
	longLabel = 150.0 // wider names take several lines
	most      = 8.0   // the end of a scale of ratios: larger ones leave no room for those near 1
)

// SVG returns the drawing.
func (b Bars) SVG() string {
	var names, text float64
	for _, bar := range b.Bars {
		for _, l := range wrap(bar.Name, longLabel) {
			names = max(names, textWidth(l))
		}
		text = max(text, textWidth(bar.words()))
	}
	s := b.scale().over(names+2*gap, width-text-2*gap)
	label := b.Axis.Label
	if s.log {
		label += ", log scale"
	}
	c := &canvas{}
	c.text(0, line-3, "soft", label)
	top := line + 2
	bottom := top
	for _, bar := range b.Bars {
		bottom += bar.high()
	}
	b.grid(c, s, top, bottom)
	y := top
	for _, bar := range b.Bars {
		bar.draw(c, s, y, b.Ratios)
		y += bar.high()
	}
	return c.svg(b.Frame, bottom+line+4)
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
	if !b.Ratios {
		return fit(all)
	}
	lo, hi := 0.9, 1/0.9
	for _, v := range all {
		lo, hi = min(lo, max(v, 1/most)), max(hi, min(v, most))
	}
	return scale{log: true, lo: lo / 1.1, hi: hi * 1.1}
}

// grid draws the ticks below the rows, and lines through them.
func (b Bars) grid(c *canvas, s scale, top, bottom float64) {
	last := 0.0
	for _, v := range s.ticks(3) {
		class := "grid"
		if v == 0 && !s.log || v == 1 && b.Ratios {
			class = "base"
		}
		x, half := s.at(v), textWidth(b.Axis.Format(v))/2
		c.line(x, top, x, bottom, class)
		if x-half > last && x+half < width {
			c.text(x, bottom+line-2, "soft mid", b.Axis.Format(v))
			last = x + half + gap
		}
	}
}

// high returns the height of the row.
func (b Bar) high() float64 { return rowHigh + float64(len(wrap(b.Name, longLabel))-1)*(line-2) }

func (b Bar) draw(c *canvas, s scale, y float64, ratios bool) {
	class := ""
	if b.Look == Ours && !ratios {
		class = " bold"
	}
	for i, l := range wrap(b.Name, longLabel) {
		c.text(s.from-gap, y+13+float64(i)*(line-2), "end"+class, l)
	}
	middle := y + b.high()/2
	c.text(width-1, middle+4, "end"+class, b.words())
	if b.Value.known() {
		b.body(c, s, middle)
	}
}

// words returns the formatted value.
func (b Bar) words() string {
	if !b.Value.known() {
		return "not measured"
	}
	return b.Text
}

// body draws the bar, or the point on a logarithmic scale, with its interval.
func (b Bar) body(c *canvas, s scale, y float64) {
	mid := s.at(b.Value.Mid)
	words := b.Name + ": " + b.Text
	if !s.log {
		zero := s.at(0)
		c.path("M"+num(min(zero, mid))+" "+num(y-5)+"h"+num(math.Abs(mid-zero))+"v10H"+num(min(zero, mid))+"z", "bar "+string(b.Look), words)
	} else {
		c.line(s.from, y, s.to, y, "guide")
	}
	if lo, hi := s.at(b.Value.Lo), s.at(b.Value.Hi); b.Value.hasInterval() {
		c.path("M"+num(lo)+" "+num(y)+"H"+num(hi)+"M"+num(lo)+" "+num(y-3)+"v6M"+num(hi)+" "+num(y-3)+"v6", "whisker", "")
	}
	if s.log {
		shape := map[Look]int{Accent: 2, Dashed: 1}[b.Look]
		c.mark(mid, y, shape, string(b.Look), words)
	}
}

package draw

import "strings"

// A Bar is a value with its name and how it is written.
type Bar struct {
	Name, Text string
	Ours       bool
	Value
}

// A Panel is bars from zero on a scale of its own.
type Panel struct {
	Title string
	Bars  []Bar
}

const (
	panelWide = 360.0
	namesWide = 130.0
	textsWide = 58.0
	barHigh   = 17.0
	margin    = 20.0
)

// Bars returns a picture of two columns of panels, the first half on the left, with a note below.
func Bars(id, title, note string, theme Theme, panels []Panel) string {
	body, words := &canvas{Theme: theme}, ""
	bottom, half := 0.0, (len(panels)+1)/2
	for i, p := range panels {
		words += p.Title + ": "
		for _, b := range p.Bars {
			words += b.Name + " " + b.Text + ", "
		}
		words = strings.TrimSuffix(words, ", ") + ". "
		if i == 0 || i == half {
			body.top = margin
		}
		x := margin
		if i >= half {
			x += panelWide + 2*margin
		}
		body.panel(x, p)
		bottom = max(bottom, body.top)
	}
	wide := 4*margin + 2*panelWide
	bottom = body.lines(margin, bottom+line, wide-2*margin, theme.Soft, false, note)
	c := &canvas{Theme: theme}
	c.path("M0 0H"+num(wide)+"V"+num(bottom)+"H0z", theme.Paper, "none", 0)
	c.WriteString(body.String())
	return c.svg(id, title, words, wide, bottom)
}

func (c *canvas) panel(x float64, p Panel) {
	from, wide, most := x+namesWide, panelWide-namesWide-textsWide, 0.0
	for _, b := range p.Bars {
		most = max(most, b.Hi)
	}
	at := func(v float64) float64 { return from + wide*v/max(most, 1e-300) }
	y := c.lines(x, c.top+line, panelWide, c.Ink, true, p.Title)
	for _, b := range p.Bars {
		fill := c.Fill
		if b.Ours {
			fill = c.Lines[0]
		}
		c.text(x, y+4, "start", c.Ink, b.Ours, b.Name)
		c.text(x+panelWide, y+4, "end", c.Ink, b.Ours, b.Text)
		c.path("M"+num(from)+" "+num(y-5)+"H"+num(max(at(b.Mid), from+1))+"v10H"+num(from)+"z", fill, "none", 0)
		if b.Lo < b.Hi {
			lo, hi := num(at(b.Lo)), num(at(b.Hi))
			c.path("M"+lo+" "+num(y)+"H"+hi+"M"+lo+" "+num(y-3)+"v6M"+hi+" "+num(y-3)+"v6", "none", c.Ink, 1)
		}
		y += barHigh
	}
	c.top = y + gap
}

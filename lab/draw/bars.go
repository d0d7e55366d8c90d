package draw

import "golang.org/x/perf/benchmath"

// A Bar is a value with its name and how it is written.
type Bar struct {
	Name, Text        string
	Ours              bool
	benchmath.Summary // with three equal numbers if there is no interval
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
func Bars(id, title, note string, panels []Panel) string {
	c := new(canvas)
	c.fill("paper", "M0 0H9999V9999H0z")
	x, y, bottom := margin, margin, 0.0
	for i, p := range panels {
		if i == (len(panels)+1)/2 {
			x, y = x+panelWide+2*margin, margin
		}
		y = c.panel(x, y, p)
		bottom = max(bottom, y)
	}
	c.text(margin, bottom+line, "start", "soft", false, note)
	return c.svg(id, title, 4*margin+2*panelWide, bottom+2*line)
}

// panel draws a panel, and returns where it ends.
func (c *canvas) panel(x, y float64, p Panel) float64 {
	most := 0.0
	for _, b := range p.Bars {
		most = max(most, b.Hi)
	}
	at := func(v float64) float64 { return x + namesWide + (panelWide-namesWide-textsWide)*v/max(most, 1e-300) }
	c.text(x, y+line, "start", "ink", true, p.Title)
	y += 2 * line
	for _, b := range p.Bars {
		colour := "fill"
		if b.Ours {
			colour = "line0"
		}
		c.text(x, y+4, "start", "ink", b.Ours, b.Name)
		c.text(x+panelWide, y+4, "end", "ink", b.Ours, b.Text)
		c.fill(colour, "M%.1f %.1fH%.1fv10H%.1[1]fz", at(0), y-5, max(at(b.Center), at(0)+1))
		if b.Lo < b.Hi {
			c.line("ink", 1, "M%.1f %.1fH%.1fM%.1[1]f %.1[4]fv6M%.1[3]f %.1[4]fv6", at(b.Lo), y, at(b.Hi), y-3)
		}
		y += barHigh
	}
	return y + gap
}

package chart

import (
	"fmt"
	"slices"
	"strings"
)

// A Picture is a stand-alone file with two columns of panels, as wide as a text of
// a page about a project.
type Picture struct {
	Frame
	Note   string  // below the panels
	Panels []Panel // the first half on the left
}

// A Panel has horizontal bars from zero, on a scale of its own.
type Panel struct {
	Title string
	Bars  []Bar
	Notes []string // below the bars
}

// Sizes of a picture. A panel is as wide as a drawing.
const (
	margin    = 20.0
	between   = 40.0 // the columns
	barHigh   = 17.0
	namesWide = 134.0
	textsWide = 56.0
)

// pictureStyle adds to Style what a page has around its drawings.
const pictureStyle = `svg { background: var(--chart-paper); font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
`

// SVG returns the file, for a dark page or a light one.
func (p Picture) SVG(dark bool) string {
	media := "not all"
	if dark {
		media = "all"
	}
	style := strings.Replace(Style, "(prefers-color-scheme: dark)", media, 1) + pictureStyle
	var c canvas
	bottom := 0.0
	half := (len(p.Panels) + 1) / 2
	for column := range slices.Chunk(p.Panels, half) {
		x, y := margin, margin/2
		if bottom > 0 {
			x += width + between
		}
		for _, panel := range column {
			fmt.Fprintf(&c, `<g transform="translate(%s %s)">`, num(x), num(y))
			y += panel.draw(&c) + margin
			c.WriteString("</g>\n")
		}
		bottom = max(bottom, y)
	}
	across := 2*(margin+width) + between
	fmt.Fprintf(&c, `<g transform="translate(%s %s)">`, num(margin), num(bottom))
	bottom += c.lines(0, across-2*margin, "soft", p.Note)
	c.WriteString("</g>\n")
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%s\"%s\n<style>\n%s</style>\n<g class=\"chart\">\n%s</g>\n</svg>\n",
		num(across), num(bottom), p.head(across, bottom), style, c.String())
}

// draw draws the title, the bars with their names on the left and values on the
// right, and the note, and returns the height.
func (p Panel) draw(c *canvas) float64 {
	s := scale{from: namesWide, to: width - textsWide}
	for _, b := range p.Bars {
		s.hi = max(s.hi, b.Value.Hi)
	}
	top := c.lines(line-4, width, "bold", p.Title) - line/2
	y := top + gap + 4
	for _, b := range p.Bars {
		class := ""
		if b.Look == Ours {
			class = "bold"
		}
		c.text(0, y+4, class, b.Name)
		c.text(width, y+4, class+" end", b.Text)
		b.horizontal(c, s, y)
		y += barHigh
	}
	c.line(s.from, top, s.from, y-gap, "base")
	for _, note := range p.Notes {
		y = c.lines(y, width, "soft", note)
	}
	return y
}

// lines writes words in lines of this width, and returns where they end.
func (c *canvas) lines(y, wide float64, class, words string) float64 {
	text := ""
	for word := range strings.FieldsSeq(words) {
		if 0.9*textWidth(text+" "+word) > wide { // words are narrower than numbers
			c.text(0, y+4, class, text)
			text, y = "", y+line
		}
		text = strings.TrimSpace(text + " " + word)
	}
	c.text(0, y+4, class, text)
	return y + line
}

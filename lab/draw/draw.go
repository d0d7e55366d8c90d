// Package draw draws bars and curves as SVG. Colours are CSS variables, for a page that has Style; Fixed puts the colours of one
// theme in their place, for a file.
package draw

import (
	"fmt"
	"html"
	"strings"
)

// colours are the variables with their values in a light theme and in a dark one. The curves have line0 and the following,
// and our bars line0.
var colours = [][3]string{
	{"ink", "#1b1f24", "#e8eaed"}, {"soft", "#57606a", "#a3acb7"}, {"grid", "#dfe3e8", "#30363d"},
	{"paper", "#ffffff", "#14181d"}, {"fill", "#dde2e8", "#3d4650"},
	{"line0", "#0072b2", "#58b4ee"}, {"line1", "#c04a00", "#ff9350"}, {"line2", "#007a5a", "#3ecf9f"},
	{"line3", "#a0427c", "#e39ac6"}, {"line4", "#7a6a00", "#d9c24a"}, {"line5", "#4f46c8", "#a7a1ff"},
	{"line6", "#57606a", "#a3acb7"}, {"line7", "#a1261f", "#ff8a80"},
}

// Style returns a CSS rule for the variables, which follow the reader's theme.
func Style() string {
	s := ":root { color-scheme: light dark;"
	for _, c := range colours {
		s += fmt.Sprintf(" --%s: light-dark(%s, %s);", c[0], c[1], c[2])
	}
	return s + " }\n"
}

// Fixed returns a drawing with the colours of one theme.
func Fixed(svg string, dark bool) string {
	theme := 1
	if dark {
		theme = 2
	}
	for _, c := range colours {
		svg = strings.ReplaceAll(svg, "var(--"+c[0]+")", c[theme])
	}
	return svg
}

// Sizes in pixels.
const (
	line = 14.0 // height of a line of text
	gap  = 6.0
)

// A canvas collects the elements of a drawing.
type canvas struct{ strings.Builder }

// svg returns the drawing with a title for readers who cannot see it.
func (c *canvas) svg(id, title string, wide, high float64) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0[1]f %.0[2]f" role="img"`+
		` aria-labelledby="%[3]s" font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif"`+
		` font-size="11"><title id="%[3]s">%[4]s</title>`+"\n%[5]s</svg>\n", wide, high, id, html.EscapeString(title), c)
}

// text writes a line with its baseline at y; anchor is start, middle or end.
func (c *canvas) text(x, y float64, anchor, colour string, bold bool, s string) {
	weight := 400
	if bold {
		weight = 600
	}
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="var(--%s)" font-weight="%d">%s</text>`+"\n",
		x, y, anchor, colour, weight, html.EscapeString(s))
}

// line draws a line; its path is a format of SVG's for the numbers.
func (c *canvas) line(colour string, wide float64, path string, at ...any) {
	fmt.Fprintf(c, `<path d="%s" fill="none" stroke="var(--%s)" stroke-width="%.1f"/>`+"\n", fmt.Sprintf(path, at...), colour, wide)
}

// fill fills what is inside of a line.
func (c *canvas) fill(colour string, path string, at ...any) {
	fmt.Fprintf(c, `<path d="%s" fill="var(--%s)"/>`+"\n", fmt.Sprintf(path, at...), colour)
}

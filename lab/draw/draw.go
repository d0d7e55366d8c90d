// Package draw draws bars and curves as SVG. Colours are attributes of the elements, so that a file needs no style sheet; a
// page that has a light and a dark theme gives the names of its CSS variables as colours.
package draw

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Theme is the colours of a drawing.
type Theme struct {
	Ink, Soft, Grid, Paper, Fill string
	Lines                        []string // of curves; the first is also that of our bars
}

// Themes of files, and of a page that defines these variables.
var (
	Light = Theme{"#1b1f24", "#57606a", "#dfe3e8", "#ffffff", "#dde2e8",
		[]string{"#0072b2", "#c04a00", "#007a5a", "#a0427c", "#7a6a00", "#4f46c8", "#57606a", "#a1261f"}}
	Dark = Theme{"#e8eaed", "#a3acb7", "#30363d", "#14181d", "#3d4650",
		[]string{"#58b4ee", "#ff9350", "#3ecf9f", "#e39ac6", "#d9c24a", "#a7a1ff", "#a3acb7", "#ff8a80"}}
	Page = Theme{"var(--ink)", "var(--soft)", "var(--grid)", "var(--paper)", "var(--fill)",
		[]string{"var(--line0)", "var(--line1)", "var(--line2)", "var(--line3)", "var(--line4)", "var(--line5)", "var(--line6)", "var(--line7)"}}
)

// Variables returns CSS declarations of the variables that Page names.
func (t Theme) Variables() string {
	s := fmt.Sprintf("--ink: %s; --soft: %s; --grid: %s; --paper: %s; --fill: %s;", t.Ink, t.Soft, t.Grid, t.Paper, t.Fill)
	for i, c := range t.Lines {
		s += fmt.Sprintf(" --line%d: %s;", i, c)
	}
	return s
}

// A Value is a measured value with its interval, or three equal numbers.
type Value struct{ Mid, Lo, Hi float64 }

// Sizes in pixels.
const (
	line = 14.0 // height of a line of text
	gap  = 6.0
)

// A canvas collects the elements of a drawing.
type canvas struct {
	strings.Builder
	Theme
	top float64 // where the next panel begins
}

// svg returns the drawing with a title and a description for readers who cannot see it.
func (c *canvas) svg(id, title, words string, wide, high float64) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" aria-labelledby="%[3]s-t %[3]s-d"`+
		` font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif" font-size="11">`+
		`<title id="%[3]s-t">%[4]s</title><desc id="%[3]s-d">%[5]s</desc>`+"\n%s</svg>\n",
		num(wide), num(high), html.EscapeString(id), html.EscapeString(title), html.EscapeString(words), c.String())
}

// text writes a line with its baseline at y; anchor is start, middle or end.
func (c *canvas) text(x, y float64, anchor, colour string, bold bool, s string) {
	weight := ""
	if bold {
		weight = ` font-weight="600"`
	}
	fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s" fill="%s"%s>%s</text>`+"\n", num(x), num(y), anchor, colour, weight, html.EscapeString(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, colour string) {
	c.path(fmt.Sprintf("M%s %sL%s %s", num(x1), num(y1), num(x2), num(y2)), "none", colour, 1)
}

func (c *canvas) path(d, fill, stroke string, wide float64) {
	fmt.Fprintf(c, `<path d="%s" fill="%s" stroke="%s" stroke-width="%s"/>`+"\n", d, fill, stroke, num(wide))
}

// lines writes words in lines of this width, and returns where they end.
func (c *canvas) lines(x, y, wide float64, colour string, bold bool, words string) float64 {
	text := ""
	for word := range strings.FieldsSeq(words) {
		if text != "" && textWidth(text+" "+word) > wide {
			c.text(x, y, "start", colour, bold, text)
			text, y = "", y+line
		}
		text = strings.TrimSpace(text + " " + word)
	}
	c.text(x, y, "start", colour, bold, text)
	return y + line
}

// textWidth estimates the width of a text.
func textWidth(s string) float64 { return 6.3 * float64(utf8.RuneCountInString(s)) }

// num formats a coordinate with at most one decimal.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64) // + 0: no -0
}

package main

import (
	"bytes"
	_ "embed" // for the style
	"encoding/xml"
	"fmt"
)

// Sizes of the image, in pixels.
const (
	fontSize   = 14.0
	advance    = 8.45 // the width of a column in the widest of the fonts
	lineHeight = 20.0
	margin     = 16.0
)

// style shows a line when its delay is over, and one that is replaced until then. The image
// plays once, and then stays: a reader who comes later, wants no motion or has a viewer without
// animation sees all lines that stay.
//
//go:embed style.css
var style string

// render returns the image of a session. Its elements are lines of text.
func render(lines []line) []byte {
	var b bytes.Buffer
	rows := 0
	for _, l := range lines {
		y := margin + float64(rows)*lineHeight + fontSize
		class, animation := string(l.kind), fmt.Sprintf("animation-delay:%.2fs", l.at.Seconds())
		if l.until > 0 {
			class, animation = class+" replaced", fmt.Sprintf("animation:replaced %.2fs %.2fs", (l.until-l.at).Seconds(), l.at.Seconds())
		} else {
			rows++
		}
		fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%.0f\" class=\"%s\" style=\"%s\">", margin, y, class, animation)
		_ = xml.EscapeText(&b, []byte(l.text)) // to memory
		b.WriteString("</text>\n")
	}
	width, height := 2*margin+columns*advance, 2*margin+float64(rows)*lineHeight
	return fmt.Appendf(nil, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" xml:space=\"preserve\">\n"+
		"<!-- written by: go run ./lab/record -->\n<title>A terminal session of stint run</title>\n<style>\n%s</style>\n%s</svg>\n", width, height, width, height, style, &b)
}

package main

import (
	"bytes"
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
const style = `
svg { background: #f6f8fa; }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #1f2328; animation: show 1ms both; }
.command { font-weight: 600; }
.message { fill: #b31d28; }
.progress { fill: #57606a; }
.replaced { visibility: hidden; }
@keyframes show { from { visibility: hidden; } }
@keyframes replaced { from, to { visibility: visible; } }
@media (prefers-color-scheme: dark) {
svg { background: #161b22; }
text { fill: #e6edf3; }
.message { fill: #ff9492; }
.progress { fill: #9198a1; }
}
@media (prefers-reduced-motion: reduce) { text { animation: none; } }
`

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
		"<!-- written by: go run ./lab/record -->\n<title>A terminal session of stint run</title>\n<style>%s</style>\n%s</svg>\n", width, height, width, height, style, &b)
}

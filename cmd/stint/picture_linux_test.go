package main

import (
	"encoding/xml"
	"flag"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/images/run.svg")

// session is what docs/images/run.svg shows: a server answers each request after a tenth of a second.
var session = []string{
	"wc -l < urls",
	"time xargs -P $(nproc) -n 1 curl -sO < urls",
	"time xargs -P 16 -n 1 curl -sO < urls",
	"time stint run curl -sO < urls",
}

// TestPicture runs the session on a terminal, and wants what the screen shows in the picture, but for
// the numbers. With -update it writes the picture.
func TestPicture(t *testing.T) {
	for _, name := range []string{"bash", "curl", "xargs", "nproc"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(100 * time.Millisecond) }))
	defer server.Close()
	const columns, jobs = 64, 100
	script := fmt.Sprintf("TIMEFORMAT='real %%2Rs'; for i in {1..%d}; do echo %s/page$i; done > urls\n", jobs, server.URL)
	for _, command := range session {
		script += "printf '$ %s\\n' '" + command + "'; " + command + "\n"
	}
	shown, _ := onTerminal(t, columns, script, "")
	const name = "../../docs/images/run.svg"
	if *update {
		must(t, os.WriteFile(name, []byte(picture(shown, columns)), 0o666))
	}
	svg, err := os.ReadFile(name)
	must(t, err)
	if got, want := textOf(t, string(svg)), textOf(t, picture(shown, columns)); !slices.Equal(got, want) {
		t.Errorf("the picture has the lines\n%s\nbut the screen shows\n%s\ngo test -run TestPicture -update writes it", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// textOf returns the lines of a picture without numbers.
func textOf(t *testing.T, svg string) (lines []string) {
	t.Helper()
	var got struct {
		Text []string `xml:"text"`
	}
	must(t, xml.Unmarshal([]byte(svg), &got))
	number := regexp.MustCompile(`\b[0-9][0-9.]*(ms|s|m[0-9.]+s)?`)
	for _, text := range got.Text {
		lines = append(lines, number.ReplaceAllString(text, "N"))
	}
	return lines
}

// picture draws a screen, and below it a bar for each time that it shows.
func picture(screen string, columns int) string {
	const line, wide, margin, names, texts = 20, 8.43, 16, 170, 80 // of 14 pixels
	var b strings.Builder
	y := 8
	text := func(x float64, colour, s string) {
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" fill="%s">%s</text>`+"\n", x, y, colour, html.EscapeString(s))
	}
	type bar struct {
		name    string
		seconds float64
	}
	var bars []bar
	most := 0.0
	for s := range strings.Lines(strings.TrimSpace(screen)) {
		y += line
		s = strings.TrimSuffix(s, "\n")
		command, isCommand := strings.CutPrefix(s, "$ ")
		switch after, isTime := strings.CutPrefix(s, "real "); {
		case isCommand:
			text(margin, "#ffffff", s)
			timed, _, _ := strings.Cut(strings.TrimPrefix(command, "time "), " -n 1")
			timed, _, _ = strings.Cut(timed, " curl")
			bars = append(bars, bar{name: timed})
		case isTime:
			text(margin, "#8fa1b3", s)
			seconds, _ := strconv.ParseFloat(strings.TrimSuffix(after, "s"), 64)
			bars[len(bars)-1].seconds = seconds
			most = max(most, seconds)
		default:
			text(margin, "#8fa1b3", s)
		}
	}
	width := 2*margin + wide*float64(columns)
	y += line
	for _, bar := range bars {
		if bar.seconds == 0 {
			continue
		}
		y += line
		colour := "#4b5a68"
		if strings.HasPrefix(bar.name, "stint") {
			colour = "#58b4ee"
		}
		long := (width - 2*margin - names - texts) * bar.seconds / max(most, 0.01)
		text(margin, "#ffffff", bar.name)
		fmt.Fprintf(&b, `<path d="M%d %dh%.1fv12h-%.1[3]fz" fill="%s"/>`+"\n", margin+names, y-11, long, colour)
		text(margin+names+long+8, "#ffffff", fmt.Sprintf("%.1f s", bar.seconds))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0[1]f %[2]d" role="img" aria-labelledby="run"`+
		` font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" style="white-space: pre"><title id="run">`+
		`A terminal: xargs and stint run fetch the same pages, and the time that each takes</title>`+"\n"+
		`<rect width="100%%" height="100%%" rx="8" fill="#14181d"/>`+"\n%[3]s</svg>\n", width, y+line, b.String())
}

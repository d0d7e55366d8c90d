package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// maxBytes is the size of an image that a page shows at once.
const maxBytes = 60_000

// TestImage checks the committed image: that it is small, well-formed and of text, and that it
// has the commands of the session, the summary of the failed job and the progress.
func TestImage(t *testing.T) {
	text, err := os.ReadFile("../../" + image)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > maxBytes {
		t.Errorf("%s has %d bytes, want %d at most", image, len(text), maxBytes)
	}
	lines := texts(t, text)
	for _, c := range session {
		if want := screen("$ " + c); !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("%s does not show %q: run go run ./lab/record", image, want)
		}
	}
	for _, want := range []string{"1 of 12 jobs failed: job 7", "; limit ", "12/12 jobs"} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("%s does not show %q: run go run ./lab/record", image, want)
		}
	}
}

// screen returns text as the lines of the image.
func screen(text string) string {
	var lines []string
	for _, l := range wrap(line{text: text}) {
		lines = append(lines, l.text)
	}
	return strings.Join(lines, "\n")
}

// texts returns the lines of an image, which has no elements but text.
func texts(t *testing.T, svg []byte) (lines []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "text":
			var content string
			if err := d.DecodeElement(&content, &start); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, content)
		case !slices.Contains([]string{"svg", "title", "style"}, start.Name.Local):
			t.Errorf("an element %s, want text", start.Name.Local)
		}
	}
}

func TestRender(t *testing.T) {
	want := []string{"$ a <b> & 'c'", "  d", "1", "2", strings.Repeat("x", columns), "y"}
	lines := []line{
		{kind: command, text: want[0]},
		{at: time.Second, kind: output, text: want[1]},
		{at: time.Second, kind: progress, text: want[2], until: 3 * time.Second},
		{at: 3 * time.Second, kind: progress, text: want[3]},
	}
	lines = append(lines, wrap(line{at: 4 * time.Second, kind: message, text: want[4] + want[5]})...)
	svg := render(lines)
	if got := texts(t, svg); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, want := range []string{
		`y="50" class="output" style="animation-delay:1.00s"`,
		`y="70" class="progress replaced" style="animation:replaced 2.00s 1.00s"`,
		`y="70" class="progress" style="animation-delay:3.00s"`,
		`height="132"`, // five rows
	} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("%s has no %s", svg, want)
		}
	}
}

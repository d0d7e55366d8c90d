package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/experiment"
)

// Output that is not a terminal has messages and no changing line.
func TestNoLineInAFile(t *testing.T) {
	var b bytes.Buffer
	s := &experiment.Session{}
	clear := show(s, &b)
	s.Logf("remark %d", 1)
	clear()
	if b.String() != "remark 1\n" || s.Progress != nil {
		t.Errorf("got %q, progress %t", b.String(), s.Progress != nil)
	}
}

// Text replaces the line, which changes a few times in a second.
func TestLine(t *testing.T) {
	var b bytes.Buffer
	l := &line{w: &b}
	l.clear() // nothing yet
	l.step("a", 0, 2)
	l.step("a", 1, 2)
	for range 2 {
		if _, err := io.WriteString(l, "text\n"); err != nil {
			t.Fatal(err)
		}
	}
	l.next = time.Time{}
	l.step("b", 1, 2)
	if got, want := b.String(), "\r\x1b[Ka 0/2\r\x1b[Ktext\ntext\n\r\x1b[Kb 1/2"; got != want {
		t.Errorf("the terminal got %q, want %q", got, want)
	}
}

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
)

// Output that is not a terminal has messages and no bar.
func TestNoBarInAFile(t *testing.T) {
	var b bytes.Buffer
	s := &experiment.Session{}
	clear := show(s, &b)
	s.Logf("remark %d", 1)
	clear()
	if b.String() != "remark 1\n" || s.Progress != nil {
		t.Errorf("got %q, progress %t", b.String(), s.Progress != nil)
	}
}

// Text replaces the bar, and the next label starts a new one.
func TestBar(t *testing.T) {
	var b bytes.Buffer
	l := &line{w: &b}
	l.step("a", 0, 2)
	l.step("b", 1, 2)
	if _, err := io.WriteString(l, "text\n"); err != nil {
		t.Fatal(err)
	}
	shown := b.String()
	for _, want := range []string{"a ", "b ", "1/2"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in %q", want, shown)
		}
	}
	last := shown[strings.LastIndex(strings.TrimSuffix(shown, "\n"), "\r")+1:]
	if last != "text\n" || l.bar != nil {
		t.Errorf("the line of the bar holds %q, want the text alone", last)
	}
	l.clear() // no bar yet
}

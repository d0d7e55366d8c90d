package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"golang.org/x/term"
)

// throttle limits updates, so that the terminal does not use the measured
// processors.
const throttle = 200 * time.Millisecond

// show reports the progress of s on w: as a changing line if w is a terminal,
// as a log otherwise. The returned function clears the changing line.
func show(s *experiment.Session, w io.Writer) (clear func()) {
	s.Log = w
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	l := &line{w: w}
	s.Log, s.Progress = l, l.step
	return l.clear
}

// A line is the last line of a terminal. It shows what is measured until text replaces it.
type line struct {
	w     io.Writer
	next  time.Time // of an update
	shown bool
}

func (l *line) step(what string, done, total int) {
	if now := time.Now(); now.After(l.next) {
		fmt.Fprintf(l.w, "\r\x1b[K%.60s %d/%d", what, done, total)
		l.next, l.shown = now.Add(throttle), true
	}
}

// Write replaces the line with text.
func (l *line) Write(p []byte) (int, error) {
	l.clear()
	return l.w.Write(p)
}

func (l *line) clear() {
	if l.shown {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.shown = false
	}
}

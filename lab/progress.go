package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/stint-go/stint/lab/experiment"
	"golang.org/x/term"
)

// throttle keeps the terminal from using the processors that are measured.
const throttle = 200 * time.Millisecond

// show lets s say on w where it is: as a line that changes if w is a terminal,
// else as lines that stay. The function that it returns removes what would be in
// the way of the next text.
func show(s *experiment.Session, w io.Writer) (end func()) {
	s.Log = w
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	l := &line{w: w}
	s.Log, s.Progress = l, l.step
	return l.clear
}

// A line is the last one of a terminal: a bar for what is measured, until a text
// takes its place.
type line struct {
	w    io.Writer
	what string
	bar  *progressbar.ProgressBar
}

// step moves the bar, or begins one for what was not measured before.
func (l *line) step(what string, done, total int) {
	if l.bar == nil || what != l.what {
		l.clear()
		l.what = what
		l.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(l.w), progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(20),
			progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false), progressbar.OptionThrottle(throttle))
	}
	_ = l.bar.Set(done) // the terminal is gone: so is who would read an error
}

// Write writes a text in place of the bar.
func (l *line) Write(p []byte) (int, error) {
	l.clear()
	return l.w.Write(p)
}

func (l *line) clear() {
	if l.bar != nil {
		_ = l.bar.Clear()
		l.bar = nil
	}
}

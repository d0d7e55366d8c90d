package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/stint-go/stint/lab/experiment"
	"golang.org/x/term"
)

// throttle limits updates, so that the terminal does not use the measured
// processors.
const throttle = 200 * time.Millisecond

// show reports the progress of s on w: as a changing line if w is a terminal,
// as a log otherwise. The returned function clears the changing line.
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

// A line is the last line of a terminal. It shows a progress bar until text
// replaces it.
type line struct {
	w    io.Writer
	what string
	bar  *progressbar.ProgressBar
}

// step updates the bar, or starts one for a new label.
func (l *line) step(what string, done, total int) {
	if l.bar == nil || what != l.what {
		l.clear()
		l.what = what
		l.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(l.w), progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(20),
			progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false), progressbar.OptionThrottle(throttle))
	}
	_ = l.bar.Set(done) // an error means that the terminal is gone
}

// Write replaces the bar with text.
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

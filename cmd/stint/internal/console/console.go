// Package console writes what a command prints: results to standard output, messages
// and the progress line to standard error.
package console

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	redrawInterval = 100 * time.Millisecond // on a terminal
	logInterval    = time.Second            // elsewhere, where every line stays
)

// Streams are the three standard streams of a run.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Console is standard error: messages, and below them the progress line, which is
// cleared while anything else is printed. It uses no colour and no escape sequence:
// all that it needs of a terminal is the carriage return.
type Console struct {
	mu    sync.Mutex // guards the fields below
	w     io.Writer
	width int // of the progress line on the screen
}

// New returns a console that writes to w.
func New(w io.Writer) *Console { return &Console{w: w} }

// Message prints a line that begins with the command's name. Unprintable characters
// are escaped: another machine or user may have written the text.
func (c *Console) Message(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hideLocked()
	fmt.Fprintf(c.w, "stint: %s\n", Visible(text))
}

// Plain prints a line as it is.
func (c *Console) Plain(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(c.w, text)
}

// Write writes b as it is, in the place of the progress line.
func (c *Console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hideLocked()
	return c.w.Write(b)
}

// Logger returns a logger whose records become messages.
func (c *Console) Logger() *slog.Logger {
	bare := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.New(slog.NewTextHandler(messageWriter{c}, &slog.HandlerOptions{ReplaceAttr: bare}))
}

// messageWriter makes a message of each line.
type messageWriter struct{ c *Console }

func (m messageWriter) Write(line []byte) (int, error) {
	m.c.Message(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}

// Follow prints what line returns until ctx ends. On a terminal it redraws one line
// and clears it at the end; elsewhere it prints a line a second and a last one.
func (c *Console) Follow(ctx context.Context, terminal bool, line func() string) {
	interval := logInterval
	if terminal {
		interval = redrawInterval
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if terminal {
				text := line()
				c.show(text[:min(len(text), c.columns()-1)])
			} else {
				c.Plain(line())
			}
		case <-ctx.Done():
			if terminal {
				c.hide()
			} else {
				c.Plain(line())
			}
			return
		}
	}
}

// show replaces the progress line by text, which is narrower than the terminal.
func (c *Console) show(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	width := utf8.RuneCountInString(text)
	fmt.Fprintf(c.w, "\r%s%s", text, strings.Repeat(" ", max(0, c.width-width)))
	c.width = width
}

// hide clears the progress line until the next show.
func (c *Console) hide() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hideLocked()
}

func (c *Console) hideLocked() {
	if c.width > 0 {
		fmt.Fprintf(c.w, "\r%s\r", strings.Repeat(" ", c.width))
		c.width = 0
	}
}

// columns returns the width of the terminal, 80 if it is unknown.
func (c *Console) columns() int {
	if f, ok := c.w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// IsTerminal reports whether a standard stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

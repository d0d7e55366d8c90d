package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/term"
)

// console is standard error: messages, and under them the progress line, which
// goes away while anything else is printed. It uses no colour and no escape
// sequence, so that it needs nothing of the terminal but a carriage return.
type console struct {
	files atomic.Int64 // dealt with so far, for the progress line

	mu    sync.Mutex // guards what is below
	w     io.Writer
	width int // of the progress line now on the screen
}

// message prints one line that begins with the command's name. Every text that another
// machine or user may have written goes through here.
func (c *console) message(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hideLocked()
	fmt.Fprintf(c.w, "stint: %s\n", visible(text))
}

// plain prints one line as it is.
func (c *console) plain(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(c.w, text)
}

// logger writes what the library reports, and no caller is told, as messages.
func (c *console) logger() *slog.Logger {
	bare := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.New(slog.NewTextHandler(messages{c}, &slog.HandlerOptions{ReplaceAttr: bare}))
}

// messages is a writer of lines that each become a message.
type messages struct{ c *console }

func (m messages) Write(line []byte) (int, error) {
	m.c.message(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}

// show puts text, of one line and narrower than the terminal, in place of the
// progress line.
func (c *console) show(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	width := utf8.RuneCountInString(text)
	rest := strings.Repeat(" ", max(0, c.width-width))
	fmt.Fprintf(c.w, "\r%s%s", text, rest)
	c.width = width
}

// hide clears the progress line. It comes back with the next show.
func (c *console) hide() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hideLocked()
}

func (c *console) hideLocked() {
	if c.width > 0 {
		fmt.Fprintf(c.w, "\r%s\r", strings.Repeat(" ", c.width))
		c.width = 0
	}
}

// hideFrom clears the progress line if results that go to stdout would land
// on it.
func (c *console) hideFrom(stdout io.Writer) {
	if isTerminal(stdout) {
		c.hide()
	}
}

// columns is the width of the terminal, or a common one if it does not say.
func (c *console) columns() int {
	if f, ok := c.w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// isTerminal reports whether a standard stream is one.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

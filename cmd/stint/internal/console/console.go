// Package console writes what a command prints: results to standard output, messages
// and the progress line to standard error.
package console

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxMessage is how many bytes of a text are shown: a few lines on a terminal. An item may be long,
// and a command may have thousands of them.
const maxMessage = 500

// Streams are the three standard streams of a run.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Console is standard error: messages, and the progress line. All that this process writes to the
// terminal goes through it.
type Console struct {
	w       io.Writer
	columns func() int // of the terminal; 0 while it is not ours

	mu    sync.Mutex // guards the terminal and the fields below
	line  line
	width int // of the progress line; 0: none was shown
}

// New returns a console that writes to w.
func New(w io.Writer) *Console { return &Console{w: w, columns: func() int { return columnsOf(w) }} }

// Message prints a line that begins with the command's name. Unprintable characters
// are escaped: another machine or user may have written the text. A long text is cut.
func (c *Console) Message(text string) { c.Plain("stint: " + Short(text)) }

// Short returns text as Visible does. A long one loses its middle: the reason of an error is at the end.
func Short(text string) string {
	if len(text) <= maxMessage {
		return Visible(text)
	}
	first, last := maxMessage/2, len(text)-maxMessage/2
	for !utf8.RuneStart(text[first]) && first > 0 {
		first--
	}
	for !utf8.RuneStart(text[last]) && last < len(text)-1 {
		last++
	}
	return fmt.Sprintf("%s [... %d bytes ...] %s", Visible(text[:first]), last-first, Visible(text[last:]))
}

// Plain prints a line as it is.
func (c *Console) Plain(text string) { _, _ = c.Write([]byte(text + "\n")) }

// Write writes b as it is, in the place of the progress line.
func (c *Console) Write(b []byte) (int, error) { return c.writeTo(c.w, b) }

// writeTo writes b to w, which is standard error or the same terminal.
func (c *Console) writeTo(w io.Writer, b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hideLocked()
	n, err := w.Write(b)
	c.line.wrote(b[:n])
	return n, err
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

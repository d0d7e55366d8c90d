package console

import (
	"context"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

const (
	redrawInterval = 100 * time.Millisecond // on a terminal
	logInterval    = time.Second            // elsewhere, where every line stays
)

// Progress says how progress is shown.
type Progress int

const (
	NoProgress Progress = iota
	Lines               // a line a second, and a last one
	Redrawn             // one line, which the last one replaces
)

// Progress returns how progress is shown if --progress has the value when. If isShared, others than
// this process write to the terminal: a line that is redrawn would erase what they write. Unless
// it is wanted always, none is shown if they may do so: the reader of a pipe may write to the terminal.
func (s Streams) Progress(when string, isShared bool) Progress {
	redraws := IsTerminal(s.Stderr) && os.Getenv("TERM") != "dumb" && !isShared
	switch {
	case when == "never", when == "auto" && (!redraws || IsPipe(s.Stdout)):
		return NoProgress
	case redraws:
		return Redrawn
	}
	return Lines
}

// IsPipe reports whether a stream is a pipe or a socket: what is at its other end may write to the
// terminal, too.
func IsPipe(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0
}

// Follow shows what line returns, which is ASCII, until stop is called, and then what last returns, which
// stays. An empty line is not shown, and no last one if no other has been redrawn.
func (c *Console) Follow(p Progress, line, last func() string) (stop func()) {
	if p == NoProgress {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	plain := func(text string) {
		if text != "" {
			c.Plain(text)
		}
	}
	show, end, interval := plain, plain, logInterval
	if p == Redrawn {
		show, end, interval = c.show, c.leave, redrawInterval
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() { end(last()) }()
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show(line())
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// A line is the line of the terminal on which the cursor is.
type line int

const (
	unknownLine  line = iota // at the start: perhaps somebody has written to it
	emptyLine                // ours
	progressLine             // ours
	outputLine               // output, whose next bytes belong there
)

// wrote notes that b was written. The progress line is hidden.
func (l *line) wrote(b []byte) {
	switch {
	case len(b) == 0:
	case b[len(b)-1] == '\n':
		*l = emptyLine
	default:
		*l = outputLine
	}
}

// show replaces the progress line by text, or by its beginning on a narrow terminal. It shows nothing
// while the cursor is in a line of output, or another process group has the terminal.
//
// It uses no colour and no escape sequence: all that it needs of a terminal is the carriage return.
func (c *Console) show(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.showLocked(text)
}

func (c *Console) showLocked(text string) {
	before, columns := "", c.columns()
	switch {
	case text == "":
		c.hideLocked()
		return
	case columns == 0:
		c.line = unknownLine
		return
	case c.line == outputLine:
		return
	case c.line == unknownLine: // a line's worth of blanks goes on to the next line if this one has text
		before = strings.Repeat(" ", columns) + "\r"
	case c.line == progressLine:
		before = c.blank(columns)
	}
	text = text[:min(len(text), columns-1)]
	_, _ = c.w.Write([]byte(before + text))
	c.line, c.width = progressLine, len(text)
}

// blank clears the progress line, but not the last column, where some terminals go on to the next
// line: it is empty unless the terminal has become narrower.
func (c *Console) blank(columns int) string {
	n := columns - 1
	if c.width > n {
		n++
	}
	return "\r" + strings.Repeat(" ", n) + "\r"
}

// leave replaces the progress line by text, which stays, if there was one and show would show text.
func (c *Console) leave(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.width == 0 {
		text = ""
	}
	c.showLocked(text)
	if c.line == progressLine {
		_, _ = c.w.Write([]byte("\n"))
		c.line = emptyLine
	}
}

// hideLocked clears the progress line until the next show.
func (c *Console) hideLocked() {
	if c.line != progressLine {
		return
	}
	c.line = unknownLine
	if columns := c.columns(); columns > 0 {
		_, _ = c.w.Write([]byte(c.blank(columns)))
		c.line = emptyLine
	}
}

// columnsOf returns the width of a terminal, 80 if it is unknown, and 0 while another process group
// has it: its user types there.
func columnsOf(w io.Writer) int {
	n := 80
	control(w, func(fd int) {
		if width, _, err := term.GetSize(fd); err == nil && width > 0 {
			n = width
		}
		if !inForeground(fd) {
			n = 0
		}
	})
	return n
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) (is bool) {
	control(stream, func(fd int) { is = term.IsTerminal(fd) })
	return is
}

// control calls f with the descriptor of a stream that has one.
func control(stream any, f func(fd int)) {
	if s, ok := stream.(syscall.Conn); ok {
		if c, err := s.SyscallConn(); err == nil {
			_ = c.Control(func(fd uintptr) { f(int(fd)) })
		}
	}
}

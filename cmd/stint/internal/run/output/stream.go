package output

import (
	"bytes"
	"io"
	"os"
	"sync/atomic"

	"github.com/stint-go/stint/cmd/stint/internal/spool"
)

// maxLine is how much of a line --line-buffer keeps. A longer one is written in parts.
const maxLine = 1 << 20

// Streams are the standard output and the standard error of an attempt of a job. They are nil
// before the first attempt.
type Streams struct{ Stdout, Stderr *Stream }

// blocked reports whether the job waits for room.
func (s Streams) blocked() bool {
	return s.Stdout != nil && (s.Stdout.buffer.Blocked() || s.Stderr.buffer.Blocked())
}

// written returns how many bytes they were given.
func (s Streams) written() int64 { return s.Stdout.Len() + s.Stderr.Len() }

// discard drops what is kept.
func (s Streams) discard() {
	if s.Stdout != nil {
		s.Stdout.buffer.Discard()
		s.Stderr.buffer.Discard()
	}
}

// print prints what is kept, and lets the job print the rest itself.
func (s Streams) print() {
	if s.Stdout != nil {
		s.Stdout.print()
		s.Stderr.print()
	}
}

// A Stream is one of them: where it is kept, and where it is printed.
type Stream struct {
	buffer *spool.Buffer
	to     io.Writer
	bytes  atomic.Int64 // written
}

// Write keeps b, or prints it.
func (s *Stream) Write(b []byte) (n int, err error) {
	n, err = s.buffer.Write(b)
	s.bytes.Add(int64(n))
	return n, err
}

// Writer returns what the process writes to; nil is our own stream, which is passed on.
func (s *Stream) Writer() io.Writer {
	if _, ok := s.to.(*os.File); ok {
		return nil
	}
	return s
}

// Len returns the bytes that were written; a nil Stream has none.
func (s *Stream) Len() int64 {
	if s == nil {
		return 0
	}
	return s.bytes.Load()
}

// Reader returns a reader of what is kept, which is all if the Format has JSON.
func (s *Stream) Reader() io.Reader { return s.buffer.Reader() }

func (s *Stream) print() {
	_ = s.buffer.Direct(s.to) // the output has its own way to report errors
	if l, ok := s.to.(*lineWriter); ok {
		l.flush()
	}
}

// An errorWriter writes to the standard error, after what was written to the standard output.
type errorWriter struct{ p *Printer }

func (e errorWriter) Write(b []byte) (int, error) {
	_ = e.p.out.Flush()
	return e.p.console.Write(b)
}

// A tagWriter writes a tag before each line.
type tagWriter struct {
	w      io.Writer
	tag    []byte
	inLine bool
}

func (t *tagWriter) Write(b []byte) (int, error) {
	var tagged []byte
	for line := range bytes.Lines(b) {
		if !t.inLine {
			tagged = append(tagged, t.tag...)
		}
		tagged = append(tagged, line...)
		t.inLine = line[len(line)-1] != '\n'
	}
	if _, err := t.w.Write(tagged); err != nil {
		return 0, err
	}
	return len(b), nil
}

// A lineWriter writes whole lines.
type lineWriter struct {
	w    io.Writer
	rest []byte // of the last line
}

func (l *lineWriter) Write(b []byte) (int, error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	if end == 0 && len(l.rest)+len(b) <= maxLine {
		l.rest = append(l.rest, b...)
		return len(b), nil
	}
	if end == 0 {
		end = len(b)
	}
	_, err := l.w.Write(append(l.rest, b[:end]...))
	l.rest = append(l.rest[:0], b[end:]...)
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// flush writes the last line, which has no end.
func (l *lineWriter) flush() {
	if len(l.rest) > 0 {
		_, _ = l.w.Write(l.rest)
		l.rest = nil
	}
}

package console

import (
	"io"
	"sync"
	"time"
)

const (
	outputBuffer = 32 << 10
	outputDelay  = 100 * time.Millisecond
)

// Output writes the results. It gathers lines and writes whole lines only, so that
// several processes can write to one file. No line waits longer than 100 milliseconds:
// a reader sees finished lines while a large file is still being read. After the first
// error nothing more is written.
//
// Its methods are for one goroutine; the timer runs beside it.
type Output struct {
	console *Console    // shares the terminal with w
	failed  func(error) // called once, with the first error

	mu         sync.Mutex
	w          io.Writer
	isTerminal bool // w is
	buf        []byte
	timer      *time.Timer // runs while buf is not empty
	err        error       // the first one
}

// NewOutput returns an Output that writes to w, through c if w is a terminal. It calls failed with
// the first error.
func NewOutput(w io.Writer, c *Console, failed func(error)) *Output {
	o := &Output{console: c, failed: failed, buf: make([]byte, 0, outputBuffer)}
	o.Redirect(w)
	o.timer = time.AfterFunc(time.Hour, func() { _ = o.Flush() })
	o.timer.Stop()
	return o
}

// Redirect makes later lines go to w.
func (o *Output) Redirect(w io.Writer) { o.w, o.isTerminal = w, IsTerminal(w) }

// Line adds a line. It returns the first error of any write.
func (o *Output) Line(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.buf) > 0 && len(o.buf)+len(b) > outputBuffer {
		o.flushLocked()
	}
	if len(o.buf) == 0 {
		o.timer.Reset(outputDelay)
	}
	o.buf = append(o.buf, b...)
	return o.err
}

// Write adds bytes that need not be whole lines.
func (o *Output) Write(b []byte) (int, error) {
	if err := o.Line(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes the lines that have been added. It returns the first error of any write.
func (o *Output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
	return o.err
}

func (o *Output) flushLocked() {
	o.timer.Stop()
	if len(o.buf) > 0 && o.err == nil {
		write := o.w.Write
		if o.isTerminal {
			write = func(b []byte) (int, error) { return o.console.writeTo(o.w, b) }
		}
		if _, err := write(o.buf); err != nil {
			o.err = &WriteError{err}
			o.failed(o.err)
		}
	}
	o.buf = o.buf[:0]
}

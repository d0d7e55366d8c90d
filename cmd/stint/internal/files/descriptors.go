package files

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// Descriptors makes a file that finds no free file descriptor wait until another file
// of the same run is closed, instead of failing. The zero value is ready for use.
type Descriptors struct {
	mu     sync.Mutex
	held   int           // files open or being opened
	closed int           // files closed so far
	freed  chan struct{} // closed with the next file; nil: nobody waits
}

// maxLeaseTries bounds the wait for a file on which another process, such as a file
// server, has a lease. A nonblocking open fails then, and the kernel breaks the lease
// after 45 seconds by default.
const (
	maxLeaseTries = 6000
	leaseInterval = 10 * time.Millisecond
)

// Open calls open for path. If the process has no free descriptor, Open waits for one,
// unless ctx ends or d has no other file open. Close the file with d.Close.
func Open[F any](ctx context.Context, d *Descriptors, path string, open func(string) (F, error)) (F, error) {
	for tries := 0; ; tries++ {
		d.mu.Lock()
		d.held++
		closed := d.closed
		d.mu.Unlock()
		f, err := open(path)
		if err == nil {
			return f, nil
		}
		retry := d.failed(closed)
		if errors.Is(err, syscall.EAGAIN) && tries < maxLeaseTries {
			retry = after(leaseInterval)
		} else if !noDescriptor(err) || retry == nil {
			return f, err
		}
		select {
		case <-retry:
		case <-ctx.Done():
			return f, context.Cause(ctx)
		}
	}
}

// OpenAny opens a file of any type, which may block, as for the other end of a named
// pipe.
func OpenAny(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// after returns a channel that is closed after a delay.
func after(delay time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(delay, func() { close(c) })
	return c
}

// Exempt stops counting a file that stays open until others have been closed. No
// other file may wait for it. It is closed directly.
func (d *Descriptors) Exempt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held--
}

// failed stops counting a file that was not opened. It returns a channel that is closed
// when another attempt may succeed, or nil if no other file is open.
func (d *Descriptors) failed(closedBefore int) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held--
	switch {
	case d.closed != closedBefore:
		now := make(chan struct{})
		close(now)
		return now
	case d.held == 0:
		d.wake() // the files that wait for this one
		return nil
	case d.freed == nil:
		d.freed = make(chan struct{})
	}
	return d.freed
}

// wake is called with mu held.
func (d *Descriptors) wake() {
	if d.freed != nil {
		close(d.freed)
		d.freed = nil
	}
}

// Close closes a file that Open opened.
func (d *Descriptors) Close(f io.Closer) {
	f.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held--
	d.closed++
	d.wake()
}

package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"
)

// descriptors makes a file that finds no free file descriptor wait until another one
// of the same run is closed: how many there may be is not the file's fault.
type descriptors struct {
	mu     sync.Mutex
	held   int           // open, or being opened
	closed int           // so far
	freed  chan struct{} // closed with the next one; nil: nobody waits
}

// opened is what open makes of path. While there is no descriptor for it, it waits, unless
// ctx ends or nothing else is open. It is closed by d.close.
func opened[F any](ctx context.Context, d *descriptors, path string, open func(string) (F, error)) (F, error) {
	for tries := 0; ; tries++ {
		d.mu.Lock()
		d.held++
		closed := d.closed
		d.mu.Unlock()
		f, err := open(path)
		if err == nil {
			return f, nil
		}
		again := d.failed(closed)
		if errors.Is(err, syscall.EAGAIN) && tries < leaseTries {
			again = soon()
		} else if !noDescriptor(err) || again == nil {
			return f, err
		}
		select {
		case <-again:
		case <-ctx.Done():
			return f, context.Cause(ctx)
		}
	}
}

// leaseTries bounds the wait for a file on which another process has a lease, as a
// server of files may: whoever does not wait in open is told to come again, and the
// kernel takes the lease back after 45 seconds, by default.
const leaseTries = 6000

// soon is closed when it is time to come again.
func soon() <-chan struct{} {
	again := make(chan struct{})
	time.AfterFunc(10*time.Millisecond, func() { close(again) })
	return again
}

// keep stops counting a file that stays open until others have been closed, which
// nobody may wait for. It is closed directly.
func (d *descriptors) keep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held--
}

// failed takes back what opened has counted. It returns what is closed when another try
// is worth it, or nil if nothing is open that could be waited for.
func (d *descriptors) failed(before int) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held--
	switch {
	case d.closed != before:
		now := make(chan struct{})
		close(now)
		return now
	case d.held == 0:
		d.wake() // those who wait for this one
		return nil
	case d.freed == nil:
		d.freed = make(chan struct{})
	}
	return d.freed
}

// wake is called with mu held.
func (d *descriptors) wake() {
	if d.freed != nil {
		close(d.freed)
		d.freed = nil
	}
}

// close closes what was opened.
func (d *descriptors) close(f io.Closer) {
	f.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held--
	d.closed++
	d.wake()
}

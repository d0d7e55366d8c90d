package spool

import (
	"errors"
	"io"
	"os"
	"sync"
)

// A disk is what the spool needs of an [os.File].
type disk interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Close() error
}

// A file is the file of a spool. Different goroutines read and write different blocks of
// it at the same time.
type file struct {
	create func() (disk, error)

	mu     sync.Mutex // guards the fields below; not held while disk is read or written
	disk   disk       // nil: not made yet
	closed bool
}

// writeAt makes the file if there is none. Without an error it writes all of p.
func (f *file) writeAt(p []byte, at int64) (int, error) {
	d, err := f.open()
	if err != nil {
		return 0, err
	}
	return d.WriteAt(p, at)
}

// readAt reads bytes that have been written.
func (f *file) readAt(p []byte, at int64) (int, error) {
	d, err := f.open()
	if err != nil {
		return 0, err
	}
	n, err := d.ReadAt(p, at)
	if n == len(p) {
		return n, nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (f *file) open() (disk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, os.ErrClosed
	}
	if f.disk == nil {
		d, err := f.create()
		if err != nil {
			return nil, err
		}
		f.disk = d
	}
	return f.disk, nil
}

// truncate makes the file empty. On an error it stays as long as it is, which is no loss:
// its blocks will be written again.
func (f *file) truncate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.disk != nil && !f.closed {
		f.disk.Truncate(0)
	}
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.disk == nil {
		f.closed = true
		return nil
	}
	f.closed = true
	return f.disk.Close()
}

// createTemp makes a file that has no name, or loses it on Close where an open file
// cannot be removed.
func createTemp(dir string) (disk, error) {
	f, err := os.CreateTemp(dir, "stint-*")
	if err != nil {
		return nil, err
	}
	if os.Remove(f.Name()) == nil {
		return f, nil
	}
	return named{f}, nil
}

// named is a temporary file that has a name.
type named struct{ *os.File }

func (n named) Close() error { return errors.Join(n.File.Close(), os.Remove(n.Name())) }

package spool

import (
	"io"
	"os"
)

// Reader returns a reader of what is kept, from its first byte. It frees nothing, so a
// buffer can be read any number of times; Discard frees it in the end. What is in the file
// is read as it is asked for.
//
// Its Read returns [io.EOF] after the last byte that is kept at that time, and
// [os.ErrClosed] once Direct or Discard has been called. It may run at the same time as
// Write, and waits for one that is copying its bytes, but not for one that waits for room.
func (b *Buffer) Reader() io.Reader { return &reader{b: b} }

type reader struct {
	b  *Buffer
	at cursor
}

func (r *reader) Read(p []byte) (n int, err error) {
	b, s := r.b, r.b.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	for b.busy && b.state == kept {
		b.changed.Wait()
	}
	if b.state != kept {
		return 0, os.ErrClosed
	}
	if len(p) == 0 {
		return 0, nil
	}
	b.busy = true
	s.unlocked(func() { n, err = r.at.read(p, b.chunks, &s.file) })
	b.release()
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

package spool

import (
	"io"
	"os"
	"slices"
	"sync"
)

// state is what a Write does, as the package comment says.
type state uint8

const (
	kept state = iota
	draining
	direct
	discarded
)

// A Buffer is one output stream of one job, in the order of its bytes. One goroutine
// writes, and one at a time reads with Direct or Reader. The other methods may be called
// by any goroutine, and all of them at the same time.
type Buffer struct {
	spool *Spool

	// All below is guarded by spool.mu, except that while busy is true, chunks and the
	// data in them belong to the goroutine that has set it.
	changed sync.Cond // of state and busy, and of room if b is the first that waits
	state   state
	busy    bool
	chunks  []chunk // all but the last are full
	size    int64   // bytes kept
	w       io.Writer
	err     error
}

// Write writes p to the stream. It does not use p after it returns.
//
// Before a call of Direct, Write copies p, and waits while neither memory nor the file has
// room for more of it. It goes on when Direct or Discard of another buffer frees room, and
// when Direct or Discard of its own is called. If the spool is closed, it returns
// [os.ErrClosed].
//
// After a call of Direct, Write waits until what was kept is written, and then writes to
// w itself, on the caller's goroutine. It never waits for room then. It returns the error
// of w, and the first one of the buffer from then on. After Discard, it drops p and
// returns no error.
//
// With an error, Write returns how many bytes of p it has kept or written.
func (b *Buffer) Write(p []byte) (int, error) {
	s := b.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(p) {
		switch {
		case b.state == discarded:
			return len(p), nil
		case b.err != nil:
			return n, b.err
		case b.state == draining, b.state == kept && b.busy:
			b.changed.Wait()
		case b.state == direct:
			m, err := b.pass(p[n:])
			return n + m, err
		case s.closed:
			return n, os.ErrClosed
		default:
			n += b.keep(p[n:])
		}
	}
	return n, nil
}

// Direct says that it is the buffer's turn: it writes what is kept to w, in order, frees
// it, and lets Write write to w from then on. It returns when nothing is kept any more,
// so it waits for w, and for a Write that is copying its bytes, but not for room.
//
// Direct returns [Buffer.Err]. After an error of w, or of reading the file, it frees what
// is left without writing it. If Discard is called meanwhile, it does the same.
//
// Several small writes that were kept become one write to w. While Direct runs, no other
// goroutine writes to w for this buffer, and after it, only Write does. The spool never
// closes w.
//
// Of a buffer that is direct or discarded already, Direct writes nothing and does not use
// w. So a program may call Direct for each job in the end, even if its turn came earlier.
func (b *Buffer) Direct(w io.Writer) error {
	s := b.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.state != kept {
		for b.state == draining {
			b.changed.Wait()
		}
		return b.err
	}
	b.w, b.state = w, draining
	s.leave(b)
	for b.busy {
		b.changed.Wait()
	}
	b.busy = true
	b.drain()
	if b.state == draining {
		b.state = direct
	}
	b.freeAll()
	b.release()
	return b.err
}

// Discard frees what is kept and lets later Writes drop their bytes. It does not wait: a
// Write, a Direct or a Read in progress returns as soon as it is done with the bytes that
// it is copying or writing, and what is kept is freed then. A Write that waits for room
// returns at once, with no error.
func (b *Buffer) Discard() {
	s := b.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	b.state = discarded
	if s.leave(b); !b.busy {
		b.freeAll()
	}
	b.changed.Broadcast()
}

// Len returns how many bytes are kept: written to the buffer and not yet to w.
func (b *Buffer) Len() int64 {
	b.spool.mu.Lock()
	defer b.spool.mu.Unlock()
	return b.size
}

// Blocked reports whether a Write waits for room, and there is none.
func (b *Buffer) Blocked() bool {
	s := b.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.waiting, b) && !s.hasRoom()
}

// Err returns the first error of w, or of reading the file for it. Where w returned fewer
// bytes than it was given and no error, that is [io.ErrShortWrite].
func (b *Buffer) Err() error {
	b.spool.mu.Lock()
	defer b.spool.mu.Unlock()
	return b.err
}

// The methods below are called with spool.mu held.

// keep keeps the first bytes of p, or waits, and returns how many it has kept. After each
// of both the buffer may be in another state.
func (b *Buffer) keep(p []byte) int {
	s := b.spool
	c := b.room(len(p))
	if c == nil {
		b.waitForRoom()
		return 0
	}
	b.busy = true
	var n int
	var err error
	s.unlocked(func() { n, err = c.write(p, &s.file) })
	if n > 0 {
		b.size += int64(n)
		s.leave(b)
	}
	if err != nil {
		b.seal()
	}
	b.release()
	if err != nil {
		s.failed(err)
	}
	return n
}

// room returns the chunk for the next bytes, or nil. A buffer's chunks grow with it: a
// small one costs little, and a large one has few.
func (b *Buffer) room(want int) *chunk {
	if last := len(b.chunks) - 1; last >= 0 && b.chunks[last].n < b.chunks[last].size {
		return &b.chunks[last]
	}
	c, ok := b.spool.take(max(int64(want), b.size))
	if !ok {
		return nil
	}
	b.chunks = append(b.chunks, c)
	return &b.chunks[len(b.chunks)-1]
}

// seal ends the last chunk, which could not be written: the rest of its block may need a
// part of the disk that another block has.
func (b *Buffer) seal() {
	last := len(b.chunks) - 1
	c := &b.chunks[last]
	if c.size = c.n; c.n == 0 {
		b.spool.blocks.putFailed(c.block)
		b.chunks = b.chunks[:last]
	}
}

// waitForRoom waits until the spool may have room or the state may have changed. During
// the call of stuck both may happen, so it looks again after that, without a gap.
func (b *Buffer) waitForRoom() {
	s := b.spool
	s.wait(b)
	if s.stuck != nil {
		s.unlocked(func() { s.stuck(b) })
	}
	if b.state == kept && !s.closed && !s.hasRoom() {
		b.changed.Wait()
	}
}

// pass writes p to w.
func (b *Buffer) pass(p []byte) (n int, err error) {
	b.spool.unlocked(func() { n, err = b.w.Write(p) })
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	b.err = err
	return n, err
}

// drain writes what is kept to w, as far as it can, and frees the chunks that it has
// read. It goes through a copy, so that w gets one write for many small chunks.
func (b *Buffer) drain() {
	s := b.spool
	p := make([]byte, min(b.size, blockSize))
	var at cursor
	for b.state == draining && b.err == nil && b.size > 0 {
		var n int
		var err error
		s.unlocked(func() { n, err = at.read(p, b.chunks, &s.file) })
		for ; at.chunk > 0; at.chunk-- {
			s.put(b.chunks[0])
			b.chunks[0] = chunk{}
			b.chunks = b.chunks[1:]
		}
		if n > 0 {
			b.pass(p[:n])
			b.size -= int64(n)
		}
		if b.err == nil {
			b.err = err
		}
	}
}

// freeAll frees what is kept.
func (b *Buffer) freeAll() {
	for _, c := range b.chunks {
		b.spool.put(c)
	}
	b.chunks, b.size = nil, 0
}

// release ends the use of the kept bytes outside the lock.
func (b *Buffer) release() {
	b.busy = false
	if b.state == discarded {
		b.freeAll()
	}
	b.changed.Broadcast()
}

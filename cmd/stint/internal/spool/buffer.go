package spool

import (
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
)

// maxPart is the size of a part in memory, and the most that Direct writes at once.
const maxPart = 64 << 10

// state is what a Write does, as the package comment says.
type state uint8

const (
	kept state = iota
	direct
	discarded
)

// A Buffer is one output stream of one job, in the order of its bytes. One goroutine
// writes. The other methods may be called by any goroutine, and all of them at the same time.
type Buffer struct {
	spool *Spool
	stuck func()

	// The lock of the spool guards all below, as the package comment says.
	changed sync.Cond // state, busy or size; spool.freed, if b waits
	state   state
	busy    bool
	size    int64    // bytes kept
	memory  [][]byte // the first of them, in parts: all but the last are full
	file    file     // the rest; nil: no file was needed
	inFile  int64    // how many they are
	tried   int      // spool.freed when there was no room; 0: there always was
	w       io.Writer
	err     error
}

// Write writes p to the stream. It does not use p after it returns.
//
// Before a call of Direct, Write copies p, and waits while there is no room for more of it.
// It tries again when Direct or Discard of another buffer has freed room, and goes on when
// Direct or Discard of its own is called.
//
// After a call of Direct, Write waits until what was kept is written, and then writes to
// w itself, on the caller's goroutine. It returns the error of w, and the first one of the
// buffer from then on, and how many bytes of p it has kept or written. After Discard, it
// drops p and returns no error.
func (b *Buffer) Write(p []byte) (n int, err error) {
	s := b.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < len(p) {
		switch {
		case b.state == discarded:
			return len(p), nil
		case b.err != nil:
			return n, b.err
		case b.busy, b.state == direct && b.size > 0:
			b.changed.Wait()
		case b.state == direct:
			var m int
			if s.unlocked(func() { m, err = b.w.Write(p[n:]) }); err == nil && n+m < len(p) {
				err = io.ErrShortWrite
			}
			b.err = err
			return n + m, err
		default:
			n += b.keep(p[n:])
		}
	}
	return n, nil
}

// Direct says that it is the buffer's turn: it writes what is kept to w, in order, frees
// it, and lets Write write to w from then on. It returns when nothing is kept any more,
// so it waits for w, and for a Write that is writing to the file, but not for room.
//
// Direct returns the first error of w, or of reading the file. After an error it frees what
// is left without writing it. If Discard is called meanwhile, it does the same.
//
// Several small writes that were kept become one write to w. While Direct writes, no other
// goroutine writes to w for this buffer, and after that, only Write does.
//
// Of a buffer that is direct or discarded already, Direct writes nothing and does not use
// w. So a program may call Direct for each job in the end, even if its turn came earlier.
func (b *Buffer) Direct(w io.Writer) error {
	b.spool.mu.Lock()
	defer b.spool.mu.Unlock()
	if b.state != kept {
		for b.busy || b.size > 0 {
			b.changed.Wait()
		}
		return b.err
	}
	b.state, b.w = direct, w
	b.changed.Broadcast()
	for b.busy {
		b.changed.Wait()
	}
	if b.state == direct && b.size > 0 {
		var err error
		from, p := io.NewSectionReader(reader{b, direct}, 0, b.size), make([]byte, min(b.size, maxPart))
		if b.spool.unlocked(func() { _, err = io.CopyBuffer(w, from, p) }); b.state == direct {
			b.err = err
		}
	}
	b.free()
	return b.err
}

// Discard frees what is kept and lets later Writes drop their bytes. It does not wait: a
// Write, a Direct or a Read in progress returns as soon as it is done with the bytes that
// it is writing or reading, and the file is closed then. A Write that waits for room
// returns at once, with no error.
func (b *Buffer) Discard() {
	b.spool.mu.Lock()
	defer b.spool.mu.Unlock()
	b.state = discarded
	if !b.busy {
		b.free()
	}
	b.changed.Broadcast()
}

// Blocked reports whether a Write of the buffer waits for room, and none was freed since it looked.
func (b *Buffer) Blocked() bool {
	b.spool.mu.Lock()
	defer b.spool.mu.Unlock()
	return b.blocked()
}

// Reader returns a reader of what is kept now. It frees nothing, so a buffer can be read any
// number of times; Discard frees it in the end. What is in the file is read as it is asked
// for. Read returns [os.ErrClosed] once Direct or Discard has been called.
func (b *Buffer) Reader() io.Reader {
	b.spool.mu.Lock()
	defer b.spool.mu.Unlock()
	return io.NewSectionReader(reader{b, kept}, 0, b.size)
}

// A reader reads what is kept while the buffer is in a state.
type reader struct {
	b     *Buffer
	while state
}

// ReadAt reads what is kept, which must have that many bytes.
func (r reader) ReadAt(p []byte, at int64) (n int, err error) {
	b := r.b
	b.spool.mu.Lock()
	defer b.spool.mu.Unlock()
	for b.busy && b.state == r.while {
		b.changed.Wait()
	}
	if b.state != r.while {
		return 0, os.ErrClosed
	}
	for _, part := range b.memory {
		skip := min(at, int64(len(part)))
		n, at = n+copy(p[n:], part[skip:]), at-skip
	}
	if n == len(p) {
		return n, nil
	}
	m, f := 0, b.file
	b.use(func() { m, err = f.ReadAt(p[n:], at) })
	b.used()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n + m, err
}

// The methods below are called with spool.mu held.

// use calls f, which uses the file, without the lock. A call of used must follow.
func (b *Buffer) use(f func()) {
	b.busy = true
	b.spool.unlocked(f)
}

func (b *Buffer) used() {
	if b.busy = false; b.state == discarded {
		b.free()
	}
	b.changed.Broadcast()
}

// keep keeps the first bytes of p, or waits until there may be room, and returns how many it
// has kept. After both the buffer may be in another state.
func (b *Buffer) keep(p []byte) int {
	s, tried := b.spool, b.spool.freed
	n := b.keepInMemory(p)
	if n > 0 {
		return n
	}
	n, err := b.keepInFile(p)
	if n > 0 {
		return n
	}
	b.tried = tried
	if warn := s.warn; warn != nil {
		s.warn = nil
		s.unlocked(func() { warn(err) })
	}
	s.waiting = append(s.waiting, b)
	s.unlocked(b.stuck)
	for b.blocked() { // which it may be no longer after stuck, or earlier
		b.changed.Wait()
	}
	i := slices.Index(s.waiting, b)
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return 0
}

// keepInMemory keeps what there is memory for, unless bytes before are in the file.
func (b *Buffer) keepInMemory(p []byte) int {
	s, last := b.spool, len(b.memory)-1
	if b.inFile > 0 || s.used == s.memory {
		return 0
	}
	if last < 0 || len(b.memory[last]) == maxPart {
		b.memory = append(b.memory, nil)
		last++
	}
	n := min(len(p), s.memory-s.used, maxPart-len(b.memory[last]))
	b.memory[last] = append(b.memory[last], p[:n]...)
	b.size += int64(n)
	s.used += n
	return n
}

// keepInFile keeps bytes in the file. If it keeps none, it returns an error.
func (b *Buffer) keepInFile(p []byte) (n int, err error) {
	s, f := b.spool, b.file
	if f == nil && len(s.files) >= s.maxFiles {
		return 0, syscall.EMFILE
	}
	s.files[b] = true
	b.use(func() {
		if f == nil {
			f, err = s.create()
		}
		if err == nil {
			n, err = f.WriteAt(p, b.inFile)
		}
	})
	if b.file, b.inFile, b.size = f, b.inFile+int64(n), b.size+int64(n); f == nil {
		delete(s.files, b)
	}
	b.used()
	return n, err
}

// blocked reports whether there was no room, and nothing has changed since.
func (b *Buffer) blocked() bool { return b.state == kept && b.tried == b.spool.freed }

// free frees what is kept, and lets those that wait try again.
func (b *Buffer) free() {
	s, f := b.spool, b.file
	if b.size == 0 && f == nil {
		return
	}
	s.used -= int(b.size - b.inFile)
	b.size, b.memory, b.file, b.inFile = 0, nil, nil, 0
	if f != nil {
		s.unlocked(func() { f.Close() }) // which takes a while if it is large
		delete(s.files, b)
	}
	s.freed++
	for _, other := range s.waiting {
		other.changed.Broadcast()
	}
	b.changed.Broadcast()
}

package spool

import (
	"fmt"
	"slices"
	"sync"
)

// Sizes of chunks. They are powers of two, for which the allocator takes no more memory
// than it is asked for.
const (
	minChunk  = 16
	blockSize = 64 << 10 // the largest chunk in memory, and every block of the file
)

// A Spool keeps the bytes that are written to its buffers: up to a number of bytes in
// memory, and the rest in blocks of one temporary file. Blocks that are freed are used
// again, so the file is as long as the most that was in it at one time.
//
// The file has no name, except on Windows, where it has one until Close. It is made when
// it is first needed, and takes one file descriptor.
//
// A file that cannot be made or written is full. Nothing is lost then: a Write that finds
// no room waits, and the next to try, after something has been freed, tries the file again.
//
// A Spool is safe for concurrent use. It starts no goroutine.
type Spool struct {
	warn  func(error)
	stuck func(*Buffer)
	file  file

	mu      sync.Mutex // guards the fields below, and those of all buffers
	memory  memory
	blocks  blocks
	waiting []*Buffer // whose Write waits for room, in the order in which they began
	warned  bool
	closed  bool
}

// New returns a Spool that keeps up to memory bytes in memory, and makes its file in dir,
// or in [os.TempDir] if dir is "". It panics if memory is negative.
//
// The memory is that of the kept bytes, of the room for more at the end of each buffer, and
// of blocks that wait to be used again. Besides, the spool needs about 200 bytes for each
// buffer, 60 for each 64 KiB that are kept, also in the file, and up to 64 KiB for each
// Direct that is writing what was kept.
//
// The spool calls warn, if it is not nil, with the first error of making or writing the
// file, and not again.
//
// It calls stuck, if it is not nil, each time before a Write waits for room. A program in
// which nothing else frees room must then make a buffer direct, or discard one: if every
// job waits, none ends.
//
// Both functions are called by Write, on its goroutine, and may use the spool and its
// buffers: stuck may call Direct of the buffer that it is given. They must not call Write
// of that buffer.
func New(memory int64, dir string, warn func(error), stuck func(*Buffer)) *Spool {
	if memory < 0 {
		panic(fmt.Sprintf("spool: New: memory is %d, want 0 or more", memory))
	}
	s := &Spool{warn: warn, stuck: stuck}
	s.memory.limit = memory
	s.file.create = func() (disk, error) { return createTemp(dir) }
	return s
}

// NewBuffer returns an empty buffer. It needs no room until it is written to. A buffer
// needs no end either: one that is direct or discarded keeps nothing.
func (s *Spool) NewBuffer() *Buffer {
	b := &Buffer{spool: s}
	b.changed.L = &s.mu
	return b
}

// Blocked returns the buffer whose Write has waited longest for room. It returns nil if
// none waits, or if there is room now and those that wait are about to go on.
//
// A program calls it when the buffer that was direct is at its end, to learn whether
// another must be made direct. A Write that waits after that call makes a call of stuck.
func (s *Spool) Blocked() *Buffer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 || s.hasRoom() {
		return nil
	}
	return s.waiting[0]
}

// Close frees the file and returns the error of closing it. From then on a Write that
// would have to keep bytes returns [os.ErrClosed], also if it waits for room already.
// Buffers that are direct are not concerned. What was kept in the file is lost.
func (s *Spool) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, b := range s.waiting {
		b.changed.Broadcast()
	}
	s.waiting = nil
	s.mu.Unlock()
	return s.file.close()
}

// The methods below are called with mu held.

// unlocked calls f without mu.
func (s *Spool) unlocked(f func()) {
	s.mu.Unlock()
	defer s.mu.Lock()
	f()
}

// hasRoom reports whether take finds a chunk.
func (s *Spool) hasRoom() bool { return s.memory.free() >= minChunk || !s.blocks.full() }

// take returns an empty chunk that should have room for want bytes. Memory is first, the
// file next. When that is full, what memory is left is used up in smaller chunks, so that
// room of any size is room for every buffer.
func (s *Spool) take(want int64) (chunk, bool) {
	size := minChunk
	for size < blockSize && int64(size) < want {
		size *= 2
	}
	if c, ok := s.memory.take(size); ok {
		return c, true
	}
	if !s.blocks.full() {
		return s.blocks.take(), true
	}
	for size > minChunk {
		size /= 2
		if c, ok := s.memory.take(size); ok {
			return c, true
		}
	}
	return chunk{}, false
}

// put frees a chunk, and wakes the first Write that waits for room.
func (s *Spool) put(c chunk) {
	if c.block == inMemory {
		s.memory.put(c)
	} else if s.blocks.put(c.block) {
		s.file.truncate()
	}
	s.blocks.failed = false
	s.wake()
}

// wait puts b at the end of those that wait, unless it is among them.
func (s *Spool) wait(b *Buffer) {
	if !slices.Contains(s.waiting, b) {
		s.waiting = append(s.waiting, b)
	}
}

// leave removes b from those that wait, if it is among them, and wakes the first of the
// others, as there may be room for more than one.
func (s *Spool) leave(b *Buffer) {
	if i := slices.Index(s.waiting, b); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		s.wake()
	}
}

// wake lets the first of those that wait look for room. One that finds none is still the
// first, and one that finds some leaves, which wakes the next: where there is room, the
// first is awake, and a chunk that is freed wakes one Write and not all of them.
func (s *Spool) wake() {
	if len(s.waiting) > 0 {
		s.waiting[0].changed.Broadcast()
	}
}

// failed notes an error of writing the file. An error because of Close is none.
func (s *Spool) failed(err error) {
	if s.warned || s.closed {
		return
	}
	s.warned = true
	if s.warn != nil {
		s.unlocked(func() { s.warn(err) })
	}
}

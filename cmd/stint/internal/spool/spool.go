// Package spool keeps the output of jobs until it is their turn to be printed: a bounded
// number of bytes in memory, and the rest in temporary files.
//
// # A file for each stream
//
// A [Buffer] that finds the memory full goes on in a file of its own. So the system keeps the
// account of the disk: a file has what its stream has kept, and gives it back when that is
// printed. One file for all would need its own account of free blocks, and of blocks that a
// full disk had no room for. One file in segments, each freed with its last byte, would grow
// without bound while a job that lasts has some bytes in each of them.
//
// A file takes a descriptor, which jobs need for their pipes, so the number of files is
// bounded. A file that cannot be made, for whatever reason, is a full disk: nothing is lost,
// and a Write waits for room.
//
// # States of a buffer
//
//	kept       Write keeps its bytes. A new buffer is kept.
//	direct     Direct writes what is kept to w, and then Write writes to w.
//	discarded  Write drops its bytes.
//
// Direct leads from kept to direct, Discard from any state to discarded. A Write waits for
// room only while its buffer is kept; one that is direct waits for w and nothing else.
//
// The lock of the spool guards everything. While busy is true, one goroutine reads or writes
// the file without the lock; the others wait for it. Only Discard does not: it leaves to that
// goroutine what is to be freed.
package spool

import (
	"errors"
	"io"
	"os"
	"sync"
)

// A Spool keeps the bytes that are written to its buffers. It is safe for concurrent use, and
// starts no goroutine.
type Spool struct {
	memory, maxFiles int
	create           func() (file, error)

	mu      sync.Mutex       // guards the fields below, and those of all buffers
	warn    func(error)      // nil: it was called
	used    int              // bytes of memory
	files   map[*Buffer]bool // that have one, or make one
	freed   int              // how often room was freed, from 1
	waiting []*Buffer        // whose Write waits for room, or is about to go on
}

// A file is what a spool needs of an [os.File].
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// New returns a Spool that keeps up to memory bytes in memory, and the rest in up to so many
// files in dir, or in [os.TempDir] if dir is "". The files have no name, except on Windows,
// where they have one until they are closed.
//
// The memory is that of the kept bytes. Besides, the spool needs room for more at the end of each
// buffer, about 200 bytes for each, and up to 64 KiB for each Direct that is writing what was kept.
//
// The spool calls warn with the first error of making or writing a file, and not again. It is
// called by Write, and may use everything except Write of that buffer.
func New(memory, files int, dir string, warn func(error)) *Spool {
	create := func() (file, error) { return createTemp(dir) }
	return &Spool{memory: memory, maxFiles: files, create: create, warn: warn, files: make(map[*Buffer]bool), freed: 1}
}

// NewBuffer returns an empty buffer. It needs no room until it is written to. A buffer
// needs no end either: one that is direct or discarded keeps nothing.
//
// The buffer calls stuck each time before a Write waits for room. A program in which nothing
// else frees room must then make a buffer direct, or discard one: if every job waits, none
// ends. It is called by Write, and may use everything except Write of the buffer.
func (s *Spool) NewBuffer(stuck func()) *Buffer {
	b := &Buffer{spool: s, stuck: stuck}
	b.changed.L = &s.mu
	return b
}

// Close closes the files, and returns the errors of that. No other method may be running, and
// what was kept in files is lost.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for b := range s.files {
		errs = append(errs, b.file.Close())
	}
	clear(s.files)
	return errors.Join(errs...)
}

// unlocked calls f without mu, which is held before and after.
func (s *Spool) unlocked(f func()) {
	s.mu.Unlock()
	defer s.mu.Lock()
	f()
}

// createTemp makes a file that has no name, or loses it on Close where an open file
// cannot be removed.
func createTemp(dir string) (file, error) {
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

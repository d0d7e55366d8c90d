package spool

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
)

const pageSize = 4096

// A disk has some pages. As on a real one, a page is taken by the first write to it, a write
// that finds none has written what is before it, and a file that is closed gives its pages back.
type disk struct {
	free   int  // pages; -1: no file can be made
	all    bool // a write that does not fit writes nothing
	broken error
	before func() // called before a write returns an error

	mu    sync.Mutex
	files int
	taken int
}

type ram struct {
	disk  *disk
	data  []byte
	pages int
}

func (d *disk) create() (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.free < 0 {
		return nil, syscall.ENOENT
	}
	d.files++
	return &ram{disk: d}, nil
}

func (r *ram) WriteAt(p []byte, at int64) (int, error) {
	d := r.disk
	d.mu.Lock()
	fits := min(len(p), (r.pages+d.free-d.taken)*pageSize-len(r.data))
	if fits < len(p) && d.all {
		fits = 0
	}
	r.data = append(r.data[:at], p[:fits]...)
	pages := (len(r.data) + pageSize - 1) / pageSize
	d.taken += pages - r.pages
	r.pages = pages
	d.mu.Unlock()
	if fits == len(p) {
		return fits, nil
	}
	if d.before != nil {
		d.before()
	}
	return fits, syscall.ENOSPC
}

func (r *ram) ReadAt(p []byte, at int64) (int, error) {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	if err := r.disk.broken; err != nil {
		return 0, err
	}
	n := copy(p, r.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (r *ram) Close() error {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	r.disk.files--
	r.disk.taken -= r.pages
	return nil
}

// on makes a spool whose files are on d. It fails if warn is called twice.
func on(t *testing.T, d *disk, memory, files int) *Spool {
	warned := false
	s := New(memory, files, "", func(err error) {
		if warned || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.EMFILE) {
			t.Errorf("warn is called with %v, before: %t", err, warned)
		}
		warned = true
	})
	s.create = d.create
	return s
}

// audit compares the counters of a spool with all its buffers. It may run at any time.
func audit(t *testing.T, s *Spool, buffers ...*Buffer) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	used, files := 0, 0
	for _, b := range buffers {
		n := len(slices.Concat(b.memory...))
		if used += n; int64(n) != b.size-b.inFile {
			t.Errorf("%d bytes are in memory, and %d of %d in the file", n, b.inFile, b.size)
		}
		if b.file != nil {
			files++
		}
	}
	if used != s.used || used > s.memory {
		t.Errorf("%d bytes are in memory, counted are %d of %d", used, s.used, s.memory)
	}
	if files > len(s.files) || len(s.files) > s.maxFiles {
		t.Errorf("there are %d files, counted are %d of %d", files, len(s.files), s.maxFiles)
	}
}

// empty wants that nothing is kept, and nobody waits.
func empty(t *testing.T, s *Spool, d *disk) {
	t.Helper()
	audit(t, s)
	if len(s.files) > 0 || d.files != 0 || d.taken != 0 || len(s.waiting) > 0 {
		t.Errorf("in the end, %d files are counted, %d have %d pages, and %d wait", len(s.files), d.files, d.taken, len(s.waiting))
	}
}

// bytesOfTexts is what texts are parts of.
var bytesOfTexts = sync.OnceValue(func() []byte {
	p := make([]byte, 4<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(p)
	return p
})

// text returns n bytes. Texts of different seeds begin in different places.
func text(seed, n int) []byte {
	from := seed * 7919 % (2 << 20)
	return bytesOfTexts()[from : from+n : from+n]
}

// must writes all of p to b.
func must(t *testing.T, b *Buffer, p []byte) {
	t.Helper()
	if n, err := b.Write(p); n != len(p) || err != nil {
		t.Errorf("Write of %d bytes: %d, %v", len(p), n, err)
	}
}

// printed wants that b keeps p and no more. It frees b.
func printed(t *testing.T, b *Buffer, p []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := b.Direct(&out); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), p) {
		t.Fatalf("printed are %d bytes that are not the %d written", out.Len(), len(p))
	}
}

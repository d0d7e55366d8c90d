package spool

import (
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
)

const pageSize = 4096

// ram is a file on a disk of some pages. As on a real disk, a page is taken by the first
// write to it, and a write that finds none has written what is before it.
type ram struct {
	mu      sync.Mutex
	free    int  // pages
	all     bool // a write that does not fit writes nothing
	broken  bool // reading fails
	data    []byte
	taken   map[int64]bool
	longest int
	closed  int
}

func newRAM(pages int) *ram { return &ram{free: pages, taken: map[int64]bool{}} }

func (r *ram) WriteAt(p []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fits := 0
	for fits < len(p) {
		page := (at + int64(fits)) / pageSize
		if !r.taken[page] && r.free == 0 {
			break
		}
		if !r.taken[page] {
			r.taken[page] = true
			r.free--
		}
		fits = min(len(p), int((page+1)*pageSize-at))
	}
	if fits < len(p) && r.all {
		fits = 0
	}
	if end := int(at) + fits; end > len(r.data) && fits > 0 {
		r.data = append(r.data, make([]byte, end-len(r.data))...)
	}
	copy(r.data[min(int(at), len(r.data)):], p[:fits])
	r.longest = max(r.longest, len(r.data))
	if fits < len(p) {
		return fits, syscall.ENOSPC
	}
	return fits, nil
}

func (r *ram) ReadAt(p []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return 0, syscall.EIO
	}
	n := copy(p, r.data[min(int(at), len(r.data)):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (r *ram) Truncate(size int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size != 0 {
		return errors.ErrUnsupported
	}
	r.data = nil
	r.free += len(r.taken)
	clear(r.taken)
	return nil
}

func (r *ram) Close() error {
	r.closed++
	return nil
}

// on makes a spool whose file is on d. It fails if warn is called twice, or with another
// error than that of a full disk.
func on(t *testing.T, d disk, memory int64, stuck func(*Buffer)) *Spool {
	warned := false
	s := New(memory, "", func(err error) {
		if warned || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("warn is called with %v, before: %t", err, warned)
		}
		warned = true
	}, stuck)
	s.file.create = func() (disk, error) {
		if d == nil {
			return nil, syscall.ENOSPC
		}
		return d, nil
	}
	return s
}

// audit compares the counters of a spool with the chunks of all its buffers. It may run at
// any time.
func audit(t *testing.T, s *Spool, buffers ...*Buffer) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	used := int64(len(s.memory.spare)) * blockSize
	owners := make([]int, s.blocks.made)
	for _, list := range [][]int{s.blocks.free, s.blocks.unwritten} {
		for _, block := range list {
			owners[block]++
		}
	}
	for _, b := range buffers {
		var size int64
		for i := range b.chunks {
			c := &b.chunks[i]
			if c.block == inMemory {
				used += int64(c.size)
			} else {
				owners[c.block]++
			}
			if b.busy {
				continue
			}
			if size += int64(c.n); c.block == inMemory && (cap(c.data) != c.size || len(c.data) != c.n) {
				t.Errorf("a chunk of %d of %d bytes has data of %d of %d", c.n, c.size, len(c.data), cap(c.data))
			}
		}
		if !b.busy && size != b.size {
			t.Errorf("a buffer says %d, and its chunks %d", b.size, size)
		}
	}
	if used != s.memory.used || used > s.memory.limit {
		t.Errorf("the chunks take %d bytes, counted are %d of %d", used, s.memory.used, s.memory.limit)
	}
	for block, n := range owners {
		if n != 1 {
			t.Errorf("block %d has %d owners", block, n)
		}
	}
}

// empty wants that nothing is kept any more.
func empty(t *testing.T, s *Spool) {
	t.Helper()
	audit(t, s)
	if len(s.waiting) > 0 {
		t.Errorf("%d buffers are waiting", len(s.waiting))
	}
}

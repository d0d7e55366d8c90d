package spool

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
)

func TestFileHasNoName(t *testing.T) {
	dir := t.TempDir()
	s := New(0, dir, func(err error) { t.Error(err) }, nil)
	names := func() []string {
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	b := s.NewBuffer()
	if s.file.disk != nil {
		t.Error("the file is made before it is needed")
	}
	all := text(1, 3*blockSize)
	must(t, b, all)
	if left := names(); len(left) > 0 && runtime.GOOS != "windows" {
		t.Errorf("names in use: %q", left)
	}
	printed(t, b, all)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := names(); len(left) > 0 {
		t.Errorf("names in the end: %q", left)
	}
	if n, err := s.NewBuffer().Write(all); n != 0 || err != os.ErrClosed {
		t.Errorf("Write after Close: %d, %v", n, err)
	}
	must(t, b, all) // direct
}

// TestNamedFile removes the file on Close, as on Windows.
func TestNamedFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	s := New(0, "", func(err error) { t.Error(err) }, nil)
	s.file.create = func() (disk, error) { return named{f}, nil }
	must(t, s.NewBuffer(), []byte("a"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that the file is gone", err)
	}
}

// TestNoFile has a directory in which no file can be made: one warning, and output that
// waits for its turn.
func TestNoFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var warnings []error
		dir := filepath.Join(t.TempDir(), "missing")
		s := New(100, dir, func(err error) { warnings = append(warnings, err) }, nil)
		var out, want bytes.Buffer
		var buffers []*Buffer
		for i := range 20 {
			b, p := s.NewBuffer(), text(i, 1000)
			buffers = append(buffers, b)
			want.Write(p)
			go must(t, b, p)
		}
		for _, b := range buffers {
			synctest.Wait()
			audit(t, s, buffers...)
			if err := b.Direct(&out); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if !bytes.Equal(out.Bytes(), want.Bytes()) {
			t.Errorf("printed are %d bytes that are not the %d written", out.Len(), want.Len())
		}
		if len(warnings) != 1 || !errors.Is(warnings[0], fs.ErrNotExist) {
			t.Errorf("warnings: %v", warnings)
		}
		empty(t, s)
	})
}

// TestFullDisk writes more than memory and disk have room for, to disks that write a part
// of what does not fit, or nothing. Each byte is printed once.
func TestFullDisk(t *testing.T) {
	for _, all := range []bool{false, true} {
		for pages := range 20 {
			synctest.Test(t, func(t *testing.T) {
				d := newRAM(pages)
				d.all = all
				s := on(t, d, 1000, nil)
				var out, want bytes.Buffer
				var buffers []*Buffer
				for i := range 10 {
					b, p := s.NewBuffer(), text(i, 30_000)
					buffers = append(buffers, b)
					want.Write(p)
					go func() {
						must(t, b, p[:9000])
						must(t, b, p[9000:])
					}()
				}
				synctest.Wait()
				audit(t, s, buffers...)
				for _, b := range buffers {
					if err := b.Direct(&out); err != nil {
						t.Error(err)
					}
					synctest.Wait()
				}
				if !bytes.Equal(out.Bytes(), want.Bytes()) {
					t.Errorf("%d pages: printed are %d bytes that are not the %d written", pages, out.Len(), want.Len())
				}
				empty(t, s)
			})
		}
	}
}

// TestFreedDisk fills a disk and frees a part of it, which is room for the Write that waits.
func TestFreedDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newRAM(2)
		s := on(t, d, 0, nil)
		a, b := s.NewBuffer(), s.NewBuffer()
		must(t, a, text(1, pageSize))
		go must(t, b, text(2, 2*pageSize))
		synctest.Wait()
		if b.Len() != pageSize || s.Blocked() != b {
			t.Errorf("%d bytes are kept on the second page", b.Len())
		}
		a.Discard()
		synctest.Wait()
		printed(t, b, text(2, 2*pageSize))
		empty(t, s)
	})
}

// TestDiskGrows adds pages to a full disk. The spool learns of them when something, here
// in memory, has been freed.
func TestDiskGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newRAM(0)
		s := on(t, d, minChunk, nil)
		a, b := s.NewBuffer(), s.NewBuffer()
		must(t, a, text(1, minChunk))
		go must(t, b, text(2, 10*pageSize))
		synctest.Wait()
		d.free = 10
		a.Discard()
		synctest.Wait()
		printed(t, b, text(2, 10*pageSize))
		empty(t, s)
	})
}

// hooked calls a function before a write returns an error.
type hooked struct {
	*ram
	before func()
}

func (h *hooked) WriteAt(p []byte, at int64) (int, error) {
	n, err := h.ram.WriteAt(p, at)
	if err != nil {
		h.before()
	}
	return n, err
}

// TestLateRoom frees a block after a write has found the disk full and before it says so.
func TestLateRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &hooked{ram: newRAM(1)}
		s := on(t, d, 0, nil)
		a, b := s.NewBuffer(), s.NewBuffer()
		d.before = a.Discard
		must(t, a, text(1, pageSize))
		must(t, b, text(2, pageSize))
		printed(t, b, text(2, pageSize))
		empty(t, s)
	})
}

// TestLateClose closes the spool while a write fails: that is not worth a warning.
func TestLateClose(t *testing.T) {
	d := &hooked{ram: newRAM(0)}
	s := New(0, "", func(err error) { t.Errorf("warn is called with %v", err) }, nil)
	s.file.create = func() (disk, error) { return d, nil }
	d.before = func() { s.Close() }
	if n, err := s.NewBuffer().Write([]byte("a")); n != 0 || err != os.ErrClosed {
		t.Errorf("%d, %v", n, err)
	}
	if d.closed != 1 {
		t.Errorf("the file is closed %d times", d.closed)
	}
}

func TestNegativeMemory(t *testing.T) {
	defer func() {
		if got, want := recover(), "spool: New: memory is -1, want 0 or more"; got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	New(-1, "", nil, nil)
}

// TestNoFunctions has no warn and no stuck.
func TestNoFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(0, "", nil, nil)
		s.file.create = func() (disk, error) { return nil, syscall.ENOSPC }
		b := s.NewBuffer()
		go must(t, b, []byte("b"))
		synctest.Wait()
		var out bytes.Buffer
		b.Direct(&out)
		synctest.Wait()
		if out.String() != "b" {
			t.Errorf("printed is %q", out.String())
		}
	})
}

// BenchmarkSmall keeps and prints three bytes.
func BenchmarkSmall(b *testing.B) {
	s := New(1<<20, "", nil, nil)
	p := []byte("hi\n")
	b.ReportAllocs()
	for b.Loop() {
		out := s.NewBuffer()
		out.Write(p)
		out.Direct(io.Discard)
	}
}

// BenchmarkSmallParallel does so on all CPUs.
func BenchmarkSmallParallel(b *testing.B) {
	s := New(1<<20, "", nil, nil)
	p := []byte("hi\n")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			out := s.NewBuffer()
			out.Write(p)
			out.Direct(io.Discard)
		}
	})
}

// BenchmarkLines writes lines to one buffer that is kept, in memory.
func BenchmarkLines(b *testing.B) {
	s := New(1<<62, "", nil, nil)
	p := text(1, 100)
	b.SetBytes(int64(len(p)))
	out := s.NewBuffer()
	for i := 0; b.Loop(); i++ {
		if i%100_000 == 99_999 {
			out.Discard()
			out = s.NewBuffer()
		}
		out.Write(p)
	}
}

// BenchmarkFile writes a mebibyte to the file and back, in writes of 32 KiB.
func BenchmarkFile(b *testing.B) {
	s := New(0, b.TempDir(), func(err error) { b.Error(err) }, nil)
	defer s.Close()
	p := text(1, 32<<10)
	b.SetBytes(1 << 20)
	for b.Loop() {
		out := s.NewBuffer()
		for range 1 << 20 / len(p) {
			out.Write(p)
		}
		out.Direct(io.Discard)
	}
}

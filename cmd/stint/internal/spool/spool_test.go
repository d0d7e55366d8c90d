package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

func TestSmallOutputsCostLittle(t *testing.T) {
	d := &disk{}
	s := on(t, d, 1000*minPiece, 0)
	var buffers []*Buffer
	for range 1000 { // which there is room for
		b := s.NewBuffer(func() {})
		must(t, b, []byte("hi\n"))
		buffers = append(buffers, b)
	}
	audit(t, s, buffers...)
	for _, b := range buffers {
		printed(t, b, []byte("hi\n"))
	}
	empty(t, s, d)
}

// TestMemoryThenFile writes and reads with different amounts of memory.
func TestMemoryThenFile(t *testing.T) {
	const size = 2*maxPiece + 1
	for _, memory := range []int{0, 1, 1000, maxPiece, 1 << 30} {
		for _, step := range []int{7, 5000, size} {
			d := &disk{free: 1 << 20}
			s := on(t, d, memory, 1)
			b, all := s.NewBuffer(func() {}), text(1, size)
			for i := 0; i < size; i += step {
				must(t, b, all[i:min(i+step, size)])
				if s.used > 2*int(b.size)+minPiece+step {
					t.Fatalf("%d bytes take %d", b.size, s.used)
				}
			}
			if audit(t, s, b); len(b.pieces) > 16+size/maxPiece {
				t.Errorf("memory %d, parts of %d: %d pieces", memory, step, len(b.pieces))
			}
			if want := max(0, size-memory); b.inFile != int64(want) {
				t.Errorf("memory %d, parts of %d: the file has %d bytes, want %d", memory, step, b.inFile, want)
			}
			if step == 5000 {
				if err := iotest.TestReader(b.Reader(), all); err != nil {
					t.Error(err)
				}
			}
			r := b.Reader()
			printed(t, b, all)
			if n, err := r.Read(make([]byte, 1)); n != 0 || err != os.ErrClosed {
				t.Errorf("Read after Direct: %d, %v", n, err)
			}
			empty(t, s, d)
		}
	}
}

// full returns a spool in which a buffer has the only 64 bytes of room, and that buffer.
func full(t *testing.T, d *disk) (*Spool, *Buffer) {
	s := on(t, d, 64, 1)
	a := s.NewBuffer(nil)
	must(t, a, text(0, 64))
	return s, a
}

func TestBlockedWrite(t *testing.T) {
	p := text(1, 100)
	for _, test := range []struct {
		name    string
		unblock func(a, b *Buffer, out io.Writer)
		n       int
		err     error
		out     []byte
	}{
		{"Direct", func(a, b *Buffer, out io.Writer) { b.Direct(out) }, 100, nil, p},
		{"Discard", func(a, b *Buffer, out io.Writer) { b.Discard() }, 100, nil, nil},
		{"half", func(a, b *Buffer, out io.Writer) { a.Discard(); synctest.Wait(); b.Direct(out) }, 100, nil, p},
		{"half, Discard", func(a, b *Buffer, out io.Writer) { a.Direct(io.Discard); synctest.Wait(); b.Discard() }, 100, nil, nil},
		{"error", func(a, b *Buffer, out io.Writer) { a.Discard(); synctest.Wait(); b.Direct(broken{}) }, 64, errBroken, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &disk{}
				s, a := full(t, d)
				calls := 0
				b := s.NewBuffer(func() { calls++ })
				var n int
				var err error
				done := make(chan struct{})
				go func() {
					n, err = b.Write(p)
					close(done)
				}()
				synctest.Wait()
				if calls != 1 || !s.Blocked() || !b.Blocked() || a.Blocked() {
					t.Errorf("%d calls of stuck, blocked are the spool %t, b %t, a %t", calls, s.Blocked(), b.Blocked(), a.Blocked())
				}
				var out bytes.Buffer
				test.unblock(a, b, &out)
				<-done
				if s.Blocked() || b.Blocked() {
					t.Error("a buffer is blocked in the end")
				}
				if n != test.n || err != test.err || !bytes.Equal(out.Bytes(), test.out) {
					t.Errorf("%d, %v and %q, want %d, %v and %q", n, err, out.Bytes(), test.n, test.err, test.out)
				}
				a.Discard()
				b.Discard()
				empty(t, s, d)
			})
		})
	}
}

// TestRoomForAll frees room that all who wait look for, and that is enough for some: the
// others are stuck again.
func TestRoomForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		s, a := full(t, d)
		var calls atomic.Int32
		var buffers []*Buffer
		for i := range 6 {
			b := s.NewBuffer(func() { calls.Add(1) })
			buffers = append(buffers, b)
			go must(t, b, text(i, minPiece))
		}
		synctest.Wait()
		a.Discard()
		if s.Blocked() {
			t.Error("a buffer is blocked while there is room")
		}
		synctest.Wait()
		if calls.Load() != 6+2 || len(s.waiting) != 2 {
			t.Errorf("%d calls of stuck, and %d wait, want 8 and 2", calls.Load(), len(s.waiting))
		}
		audit(t, s, buffers...)
		for i, b := range buffers {
			var out bytes.Buffer
			b.Direct(&out)
			synctest.Wait()
			if !bytes.Equal(out.Bytes(), text(i, minPiece)) {
				t.Errorf("%d: printed is %q", i, out.Bytes())
			}
		}
		empty(t, s, d)
	})
}

// TestWithinCallbacks makes the buffer direct, discards it, or frees room, on the goroutine of its
// own Write: in stuck, in warn, and between a write that finds the disk full and its return.
func TestWithinCallbacks(t *testing.T) {
	for _, where := range []string{"stuck", "warn", "write"} {
		for _, what := range []string{"direct", "discard", "room"} {
			if where == "write" && what == "direct" {
				continue // which waits for the end of the write
			}
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				var a, b *Buffer
				d := &disk{free: 2}
				act := func(here string) {
					switch {
					case here == where && what == "room":
						a.Discard()
					case here == where && what == "discard":
						b.Discard()
					case here == where || here == "stuck":
						_ = b.Direct(&out)
					}
				}
				d.before = func() { act("write") }
				s := on(t, d, 64, 2)
				s.warn = func(error) { act("warn") }
				a, b = s.NewBuffer(nil), s.NewBuffer(func() { act("stuck") })
				must(t, a, text(1, 64+pageSize))
				want := text(2, 2*pageSize)
				must(t, b, want[:100])
				must(t, b, want[100:])
				_ = b.Direct(&out)
				if what == "discard" {
					want = nil
				}
				if !bytes.Equal(out.Bytes(), want) {
					t.Errorf("%s, %s: printed are %d bytes, want %d", where, what, out.Len(), len(want))
				}
				a.Discard()
				empty(t, s, d)
			})
		}
	}
}

// gate is a writer that waits.
type gate struct {
	entered, open chan struct{}
	out           bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	g.entered <- struct{}{}
	<-g.open
	return g.out.Write(p)
}

// TestSlowWriter calls everything while Direct waits for w.
func TestSlowWriter(t *testing.T) {
	for _, discard := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := &disk{free: 1000}
			s := on(t, d, maxPiece, 2)
			a, b := s.NewBuffer(func() {}), s.NewBuffer(func() {})
			all := text(1, 3*maxPiece)
			must(t, a, all[:2*maxPiece])
			g := &gate{entered: make(chan struct{}), open: make(chan struct{})}
			done := make(chan error, 3)
			for range 2 {
				go func() { done <- a.Direct(g) }()
			}
			<-g.entered
			go func() {
				_, err := a.Write(all[2*maxPiece:])
				done <- err
			}()
			synctest.Wait()
			must(t, b, []byte("b")) // another buffer does not wait
			printed(t, b, []byte("b"))
			if len(done) > 0 {
				t.Errorf("%d are done while w waits", len(done))
			}
			want := all
			if discard {
				a.Discard()
				empty(t, s, d)
				want = all[:maxPiece]
			}
			close(g.open)
			for range len(want)/maxPiece - 1 {
				<-g.entered
			}
			for range 3 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if !bytes.Equal(g.out.Bytes(), want) {
				t.Errorf("printed are %d bytes that are not the %d wanted", g.out.Len(), len(want))
			}
			empty(t, s, d)
		})
	}
}

var errBroken = errors.New("broken")

// broken is a writer that fails, and lazy one that does not say so.
type broken struct{}

func (broken) Write(p []byte) (int, error) { return 0, errBroken }

type lazy struct{}

func (lazy) Write(p []byte) (int, error) { return len(p) - 1, nil }

// TestErrors wants the first error of w or of the file, and that it stays.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		w        io.Writer
		disk     error
		want     error
		reported error
	}{{w: broken{}, want: errBroken}, {w: lazy{}, want: io.ErrShortWrite}, {io.Discard, syscall.EIO, syscall.EIO, syscall.EIO}, {io.Discard, io.EOF, io.ErrUnexpectedEOF, io.ErrUnexpectedEOF}} {
		d := &disk{free: 1000, broken: test.disk}
		s := on(t, d, maxPiece, 1)
		early, late := s.NewBuffer(func() {}), s.NewBuffer(func() {})
		must(t, early, text(1, 3*maxPiece))
		if _, err := io.Copy(io.Discard, early.Reader()); err != test.reported {
			t.Errorf("Reader: error %v, want %v", err, test.reported)
		}
		if err := early.Direct(test.w); err != test.want {
			t.Errorf("Direct: error %v, want %v", err, test.want)
		}
		if err := late.Direct(test.w); err != nil {
			t.Errorf("Direct of nothing: error %v", err)
		}
		if _, err := late.Write([]byte("late")); test.disk == nil && err != test.want {
			t.Errorf("Write: error %v, want %v", err, test.want)
		}
		if n, err := early.Write([]byte("more")); n != 0 || err != test.want || early.Direct(io.Discard) != test.want {
			t.Errorf("later: %d, %v; want %v", n, err, test.want)
		}
		early.Discard()
		must(t, early, []byte("dropped"))
		empty(t, s, d)
	}
}

// TestFileHasNoName wants no name in the directory while the file is used, or none after Close.
func TestFileHasNoName(t *testing.T) {
	dir := t.TempDir()
	s := New(0, 3, dir, func(err error) { t.Error(err) })
	for _, wantNames := range []int{0, 1} {
		b := s.NewBuffer(func() {})
		if wantNames > 0 {
			f, err := os.CreateTemp(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			s.create = func() (file, error) { return named{f}, nil } // as on Windows
		}
		must(t, b, text(1, 100_000))
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != wantNames && runtime.GOOS != "windows" {
			t.Errorf("names in use: %q, want %d", left, wantNames)
		}
		if wantNames == 0 {
			printed(t, b, text(1, 100_000))
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("names in the end: %q", left)
	}
}

// TestNoRoom writes more than there is room for in each way: one warning, and each byte is
// printed once, in order.
func TestNoRoom(t *testing.T) {
	type room struct {
		files int
		disk
		want error
	}
	rooms := map[string]*room{"no directory": {files: 10, disk: disk{free: -1}, want: fs.ErrNotExist}, "few files": {files: 3, disk: disk{free: 1000}, want: syscall.EMFILE}}
	for pages := range 20 {
		for _, all := range []bool{false, true} {
			rooms[fmt.Sprintf("%d pages, %t", pages, all)] = &room{files: 10, disk: disk{free: pages, all: all}, want: syscall.ENOSPC}
		}
	}
	for name, r := range rooms {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := on(t, &r.disk, 1000, r.files)
				var warning error
				s.warn = func(err error) { warning = err }
				var out, want bytes.Buffer
				var buffers []*Buffer
				for i := range 10 {
					b, p := s.NewBuffer(func() {}), text(i, 30_000)
					buffers = append(buffers, b)
					want.Write(p)
					go func() {
						must(t, b, p[:9000])
						must(t, b, p[9000:])
					}()
				}
				for _, b := range buffers {
					synctest.Wait()
					audit(t, s, buffers...)
					if err := b.Direct(&out); err != nil {
						t.Error(err)
					}
				}
				synctest.Wait()
				if !bytes.Equal(out.Bytes(), want.Bytes()) || !errors.Is(warning, r.want) {
					t.Errorf("printed are %d bytes that are not the %d written, warning %v, want %v", out.Len(), want.Len(), warning, r.want)
				}
				empty(t, s, &r.disk)
			})
		})
	}
}

package spool

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// TestReader reads what is in memory and what is in the file, until it is freed.
func TestReader(t *testing.T) {
	const size = 2*maxPart + 1
	for _, memory := range []int{0, 1, maxPart, 1 << 30} {
		d := &disk{free: 1 << 20}
		s := on(t, d, memory, 1)
		b, all := s.NewBuffer(func() {}), text(1, size)
		must(t, b, all[:5000])
		must(t, b, all[5000:])
		if audit(t, s, b); b.inFile != int64(max(0, size-memory)) {
			t.Errorf("memory %d: %d bytes are in the file", memory, b.inFile)
		}
		if err := iotest.TestReader(b.Reader(), all); err != nil {
			t.Error(err)
		}
		r := b.Reader()
		printed(t, b, all)
		if n, err := r.Read(make([]byte, 1)); n != 0 || err != os.ErrClosed {
			t.Errorf("Read after Direct: %d, %v", n, err)
		}
		empty(t, s, d)
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
				if calls != 1 || !b.Blocked() || a.Blocked() {
					t.Errorf("%d calls of stuck, blocked are b %t, a %t", calls, b.Blocked(), a.Blocked())
				}
				var out bytes.Buffer
				test.unblock(a, b, &out)
				<-done
				if n != test.n || err != test.err || b.Blocked() || !bytes.Equal(out.Bytes(), test.out) {
					t.Errorf("%d, %v and %q, want %d, %v and %q", n, err, out.Bytes(), test.n, test.err, test.out)
				}
				a.Discard()
				b.Discard()
				empty(t, s, d)
			})
		})
	}
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
			s := on(t, d, maxPart, 2)
			a, b := s.NewBuffer(func() {}), s.NewBuffer(func() {})
			all := text(1, 3*maxPart)
			must(t, a, all[:2*maxPart])
			g := &gate{entered: make(chan struct{}), open: make(chan struct{})}
			done := make(chan error, 3)
			for range 2 {
				go func() { done <- a.Direct(g) }()
			}
			<-g.entered
			go func() {
				_, err := a.Write(all[2*maxPart:])
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
				want = all[:maxPart]
			}
			close(g.open)
			for range len(want)/maxPart - 1 {
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
		s := on(t, d, maxPart, 1)
		early, late := s.NewBuffer(func() {}), s.NewBuffer(func() {})
		must(t, early, text(1, 3*maxPart))
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

package spool

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
)

// bytesOfTexts is what texts are parts of.
var bytesOfTexts = sync.OnceValue(func() []byte {
	p := make([]byte, 4<<20)
	rand.NewChaCha8([32]byte{1}).Read(p)
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

func TestSmallOutputsCostLittle(t *testing.T) {
	s := on(t, nil, 1<<20, nil)
	var buffers []*Buffer
	for range 1000 {
		b := s.NewBuffer()
		must(t, b, []byte("hi\n"))
		buffers = append(buffers, b)
	}
	audit(t, s, buffers...)
	if s.memory.used != 1000*minChunk {
		t.Errorf("1000 outputs of 3 bytes take %d bytes", s.memory.used)
	}
	for _, b := range buffers {
		printed(t, b, []byte("hi\n"))
	}
	empty(t, s)
	if s.memory.used != 0 {
		t.Errorf("%d bytes are used in the end", s.memory.used)
	}
}

// TestChunksGrow writes a byte at a time: half of the memory, at most, is for bytes to come.
func TestChunksGrow(t *testing.T) {
	s := on(t, nil, 1<<20, nil)
	b := s.NewBuffer()
	all := text(1, 400_000)
	for i := range all {
		must(t, b, all[i:i+1])
		if used := s.memory.used; used > minChunk && used > 2*int64(i+1) && used > int64(i+1)+blockSize {
			t.Fatalf("%d bytes take %d", i+1, used)
		}
	}
	audit(t, s, b)
	printed(t, b, all)
	empty(t, s)
}

func TestMemoryThenFile(t *testing.T) {
	for _, memory := range []int64{0, 1, minChunk, 1000, blockSize, 3 * blockSize, 1 << 30} {
		d := newRAM(1 << 20)
		s := on(t, d, memory, nil)
		b := s.NewBuffer()
		all := text(1, 10*blockSize+1)
		for rest := all; len(rest) > 0; {
			n := min(len(rest), 5000)
			must(t, b, rest[:n])
			rest = rest[n:]
			audit(t, s, b)
		}
		if b.Len() != int64(len(all)) {
			t.Errorf("Len is %d of %d", b.Len(), len(all))
		}
		if inFile := d.longest; memory == 1<<30 && inFile != 0 || memory < blockSize && inFile < 10*blockSize {
			t.Errorf("with memory %d, the file has %d bytes", memory, inFile)
		}
		printed(t, b, all)
		must(t, b, nil)
		if b.Len() != 0 {
			t.Errorf("Len is %d in the end", b.Len())
		}
		empty(t, s)
	}
}

// TestBlocksAreReused keeps one output after the other, and then two at a time.
func TestBlocksAreReused(t *testing.T) {
	d := newRAM(1 << 20)
	s := on(t, d, blockSize, nil)
	all := text(1, 5*blockSize)
	for range 100 {
		b := s.NewBuffer()
		must(t, b, all)
		printed(t, b, all)
	}
	if d.longest > 4*blockSize || s.memory.used > blockSize {
		t.Errorf("one output of five blocks at a time: the file grows to %d bytes, the memory to %d", d.longest, s.memory.used)
	}
	last := s.NewBuffer()
	must(t, last, all)
	for range 100 {
		b := s.NewBuffer()
		must(t, b, all)
		printed(t, last, all)
		last = b
	}
	last.Discard()
	if d.longest > 9*blockSize {
		t.Errorf("two outputs of five blocks at a time: the file grows to %d bytes", d.longest)
	}
	empty(t, s)
}

// TestFileIsTruncated wants the disk back when nothing is in a long file.
func TestFileIsTruncated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const blocks = keptBlocks + 1
		d := newRAM(blocks * blockSize / pageSize)
		s := on(t, d, 0, nil)
		a, b, c := s.NewBuffer(), s.NewBuffer(), s.NewBuffer()
		all := text(1, blockSize)
		for range blocks - 1 {
			must(t, a, all)
		}
		must(t, b, all)
		go must(t, c, all) // finds the disk full
		synctest.Wait()
		c.Discard()
		a.Discard()
		if len(d.data) != blocks*blockSize {
			t.Errorf("the file has %d bytes while it is in use", len(d.data))
		}
		printed(t, b, all)
		if len(d.data) != 0 || s.blocks.made != 0 {
			t.Errorf("the file has %d bytes and %d blocks while nothing is in it", len(d.data), s.blocks.made)
		}
		last := s.NewBuffer()
		must(t, last, all)
		printed(t, last, all)
		empty(t, s)
	})
}

// full returns a spool in which a buffer has the only 64 bytes of room, that buffer, and
// the calls of stuck.
func full(t *testing.T) (*Spool, *Buffer, chan *Buffer) {
	calls := make(chan *Buffer, 100)
	s := on(t, nil, 64, func(b *Buffer) { calls <- b })
	a := s.NewBuffer()
	must(t, a, text(0, 64))
	return s, a, calls
}

func TestBlockedWrite(t *testing.T) {
	p := text(1, 100)
	for _, test := range []struct {
		name    string
		unblock func(s *Spool, a, b *Buffer, out io.Writer)
		n       int
		err     error
		out     []byte // written to out and, after that, kept
	}{
		{"Direct", func(s *Spool, a, b *Buffer, out io.Writer) { b.Direct(out) }, 100, nil, p},
		{"Discard", func(s *Spool, a, b *Buffer, out io.Writer) { b.Discard() }, 100, nil, nil},
		{"Close", func(s *Spool, a, b *Buffer, out io.Writer) { s.Close() }, 0, os.ErrClosed, nil},
		{"half", func(s *Spool, a, b *Buffer, out io.Writer) { a.Discard(); synctest.Wait(); b.Direct(out) }, 100, nil, p},
		{"half, Close", func(s *Spool, a, b *Buffer, out io.Writer) { a.Discard(); synctest.Wait(); s.Close() }, 64, os.ErrClosed, p[:64]},
		{"half, Discard", func(s *Spool, a, b *Buffer, out io.Writer) { a.Direct(io.Discard); synctest.Wait(); b.Discard() }, 100, nil, nil},
		{"error", func(s *Spool, a, b *Buffer, out io.Writer) { a.Discard(); synctest.Wait(); b.Direct(broken{}) }, 64, errBroken, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, a, calls := full(t)
				b := s.NewBuffer()
				var n int
				var err error
				done := make(chan struct{})
				go func() {
					n, err = b.Write(p)
					close(done)
				}()
				synctest.Wait()
				if got := <-calls; got != b || s.Blocked() != b {
					t.Errorf("stuck is called with %p, Blocked is %p, want %p", got, s.Blocked(), b)
				}
				var out bytes.Buffer
				test.unblock(s, a, b, &out)
				synctest.Wait()
				<-done
				if s.Blocked() != nil {
					t.Error("a buffer is blocked in the end")
				}
				b.Direct(&out)
				if n != test.n || err != test.err || !bytes.Equal(out.Bytes(), test.out) {
					t.Errorf("%d, %v and %q, want %d, %v and %q", n, err, out.Bytes(), test.n, test.err, test.out)
				}
				a.Discard()
				empty(t, s)
			})
		})
	}
}

// TestRoomForAll frees one chunk that has room for all that wait, of whom the first has
// been discarded.
func TestRoomForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, _ := full(t)
		done := make(chan *Buffer, 4)
		var buffers []*Buffer
		for range 4 {
			b := s.NewBuffer()
			buffers = append(buffers, b)
			go func() {
				must(t, b, []byte("0123456789abcdef"))
				done <- b
			}()
			synctest.Wait()
		}
		buffers[0].Discard()
		a.Discard()
		if s.Blocked() != nil {
			t.Error("a buffer is blocked while there is room")
		}
		for range 4 {
			<-done
		}
		audit(t, s, buffers...)
		for _, b := range buffers[1:] {
			printed(t, b, []byte("0123456789abcdef"))
		}
		empty(t, s)
	})
}

// TestStuckAgain wants a call of stuck each time that a Write waits, also if it was woken
// for room that another has taken.
func TestStuckAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, calls := full(t)
		b := s.NewBuffer()
		go must(t, b, []byte("b"))
		synctest.Wait()
		<-calls
		s.mu.Lock()
		s.wake() // as if the room were gone
		s.mu.Unlock()
		if got := <-calls; got != b || s.Blocked() != b {
			t.Errorf("stuck is called with %p, want %p", got, b)
		}
		a.Discard()
		synctest.Wait()
		printed(t, b, []byte("b"))
		empty(t, s)
	})
}

// TestDirectInStuck makes a buffer direct on the goroutine of its own Write.
func TestDirectInStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := on(t, nil, 64, func(b *Buffer) { b.Direct(&out) })
		b := s.NewBuffer()
		all := text(1, 1000)
		must(t, b, all[:700])
		must(t, b, all[700:])
		if !bytes.Equal(out.Bytes(), all) {
			t.Errorf("printed is %q", out.Bytes())
		}
		empty(t, s)
	})
}

// TestRoomInStuck makes room while stuck is called, before the Write waits for it.
func TestRoomInStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a *Buffer
		s := on(t, nil, 64, func(b *Buffer) { a.Discard() })
		a = s.NewBuffer()
		must(t, a, text(1, 64))
		b := s.NewBuffer()
		must(t, b, text(2, 64))
		printed(t, b, text(2, 64))
		empty(t, s)
	})
}

// TestCloseInStuck closes the spool at that time.
func TestCloseInStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *Spool
		s = on(t, nil, 0, func(*Buffer) { s.Close() })
		if n, err := s.NewBuffer().Write([]byte("a")); n != 0 || err != os.ErrClosed {
			t.Errorf("%d, %v", n, err)
		}
		empty(t, s)
	})
}

// TestDirectInWarn makes a buffer direct on the goroutine of its own Write.
func TestDirectInWarn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var b *Buffer
		s := New(64, "", func(error) { b.Direct(&out) }, nil)
		s.file.create = func() (disk, error) { return newRAM(1), nil }
		b = s.NewBuffer()
		all := text(1, 10_000)
		must(t, b, all)
		if !bytes.Equal(out.Bytes(), all) {
			t.Errorf("printed are %d bytes that are not the %d written", out.Len(), len(all))
		}
		empty(t, s)
	})
}

// gate is a writer that waits.
type gate struct {
	entered, open chan struct{}
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	g.entered <- struct{}{}
	<-g.open
	return g.Buffer.Write(p)
}

// TestSlowWriter calls everything while Direct waits for w.
func TestSlowWriter(t *testing.T) {
	for _, discard := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := on(t, newRAM(1000), blockSize, nil)
			a, b := s.NewBuffer(), s.NewBuffer()
			all := text(1, 3*blockSize)
			must(t, a, all[:2*blockSize])
			g := &gate{entered: make(chan struct{}), open: make(chan struct{})}
			done := make(chan error, 3)
			for range 2 {
				go func() { done <- a.Direct(g) }()
			}
			<-g.entered
			go func() {
				_, err := a.Write(all[2*blockSize:])
				done <- err
			}()
			synctest.Wait()
			must(t, b, []byte("b")) // another buffer does not wait
			printed(t, b, []byte("b"))
			if _, err := a.Reader().Read(make([]byte, 1)); err != os.ErrClosed || a.Len() != 2*blockSize || len(done) > 0 {
				t.Errorf("error %v, Len %d, %d are done while w waits", err, a.Len(), len(done))
			}
			want := all
			if discard {
				a.Discard()
				want = all[:blockSize]
			}
			close(g.open)
			for range len(want)/blockSize - 1 {
				<-g.entered
			}
			for range 3 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if !bytes.Equal(g.Bytes(), want) {
				t.Errorf("printed are %d bytes that are not the %d wanted", g.Len(), len(want))
			}
			empty(t, s)
		})
	}
}

var errBroken = errors.New("broken")

// broken is a writer that fails, and lazy one that does not say so.
type broken struct{}

func (broken) Write(p []byte) (int, error) { return 0, errBroken }

type lazy struct{}

func (lazy) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		w    io.Writer
		want error
	}{{broken{}, errBroken}, {lazy{}, io.ErrShortWrite}} {
		s := on(t, newRAM(1000), blockSize, nil)
		early, late, after := s.NewBuffer(), s.NewBuffer(), s.NewBuffer()
		must(t, early, text(1, 3*blockSize))
		if err := early.Direct(test.w); err != test.want {
			t.Errorf("Direct: error %v, want %v", err, test.want)
		}
		if err := late.Direct(test.w); err != nil {
			t.Errorf("Direct of nothing: error %v", err)
		}
		if _, err := late.Write([]byte("late")); err != test.want {
			t.Errorf("Write: error %v, want %v", err, test.want)
		}
		for _, b := range []*Buffer{early, late} {
			n, err := b.Write([]byte("more"))
			if n != 0 || err != test.want || b.Err() != test.want || b.Direct(io.Discard) != test.want || b.Len() != 0 {
				t.Errorf("later: %d, %v, %v; want %v", n, err, b.Err(), test.want)
			}
			b.Discard()
			must(t, b, []byte("dropped"))
		}
		must(t, after, []byte("after"))
		printed(t, after, []byte("after"))
		empty(t, s)
	}
}

// TestReadingFails wants the error of a file that cannot be read, and what is before it.
func TestReadingFails(t *testing.T) {
	for _, want := range []error{syscall.EIO, io.ErrUnexpectedEOF, os.ErrClosed} {
		d := newRAM(1000)
		s := on(t, d, blockSize, nil)
		b := s.NewBuffer()
		all := text(1, 3*blockSize)
		must(t, b, all)
		switch want {
		case syscall.EIO:
			d.broken = true
		case io.ErrUnexpectedEOF:
			d.data = d.data[:0]
		default:
			s.Close()
		}
		var out bytes.Buffer
		if _, err := io.Copy(&out, b.Reader()); err != want {
			t.Errorf("Reader: error %v, want %v", err, want)
		}
		if err := b.Direct(&out); err != want || !bytes.Equal(out.Bytes(), append(all[:blockSize:blockSize], all[:blockSize]...)) {
			t.Errorf("Direct: error %v, want %v; %d bytes", err, want, out.Len())
		}
		empty(t, s)
	}
}

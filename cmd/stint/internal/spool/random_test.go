package spool

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// size returns a length of an output or of a write: many are small, few are large.
func size(r *rand.Rand) int { return r.IntN(1 << r.IntN(18)) }

// write writes p to b in parts.
func write(r *rand.Rand, b *Buffer, p []byte) error {
	for len(p) > 0 {
		n := min(size(r), len(p))
		if m, err := b.Write(p[:n]); m != n || err != nil {
			return fmt.Errorf("Write of %d bytes: %d, %w", n, m, err)
		}
		if p = p[n:]; r.IntN(3) == 0 {
			runtime.Gosched()
		}
	}
	return nil
}

// sides are the goroutines that use one buffer, and their oracle.
type sides struct {
	t    *testing.T
	b    *Buffer
	all  []byte
	ask  func() // ends the wait for the turn
	turn chan struct{}
	out  bytes.Buffer
	kind int
}

const kinds = 6

// write writes the text, and asks for the turn somewhere in it.
func (o *sides) write(r *rand.Rand) {
	defer o.ask()
	half := r.IntN(len(o.all) + 1)
	err := write(r, o.b, o.all[:half])
	o.ask()
	if err == nil {
		err = write(r, o.b, o.all[half:])
	}
	if err != nil && o.kind != 5 {
		o.t.Errorf("kind %d: %v", o.kind, err)
	}
}

// read prints or discards what is kept when it is asked to, one of these ways.
func (o *sides) read(r *rand.Rand) {
	<-o.turn
	for range r.IntN(20) {
		runtime.Gosched()
	}
	switch o.kind {
	case 0, 1:
		o.b.Direct(&o.out)
	case 2:
		o.b.Discard()
	case 3: // all at once
		var wg sync.WaitGroup
		wg.Go(func() { o.b.Direct(&o.out) })
		wg.Go(o.b.Discard)
		wg.Wait()
	case 4:
		kept, err := io.ReadAll(o.b.Reader())
		if err != nil || !bytes.HasPrefix(o.all, kept) {
			o.t.Errorf("Reader: error %v, or wrong bytes", err)
		}
		o.b.Direct(&o.out)
	case 5:
		o.b.Direct(io.MultiWriter(&o.out, broken{}))
	}
}

// check compares what was printed with the text.
func (o *sides) check() {
	whole := o.kind == 0 || o.kind == 1 || o.kind == 4
	if got := o.out.Bytes(); !bytes.HasPrefix(o.all, got) || whole && len(got) < len(o.all) {
		o.t.Errorf("kind %d: printed are %d of %d bytes, or wrong ones", o.kind, len(got), len(o.all))
	}
	if o.kind == 5 && len(o.all) > 0 && o.b.Direct(nil) != errBroken {
		o.t.Errorf("error %v, want %v", o.b.Direct(nil), errBroken)
	}
}

// TestRandom writes to many buffers, and prints or discards them, all at the same time, with memories,
// disks and numbers of files from none to plenty.
func TestRandom(t *testing.T) {
	for _, memory := range []int{0, 100, 10_000, 3 * maxPart, 1 << 30} {
		for _, pages := range []int{-1, 0, 3, 10, 50, 1 << 20} {
			for _, files := range []int{3, 1000} {
				for _, all := range []bool{false, true} {
					synctest.Test(t, func(t *testing.T) {
						seed := rand.NewPCG(uint64(memory), uint64(pages+files))
						testRandom(t, rand.New(seed), memory, files, &disk{free: pages, all: all})
					})
				}
			}
		}
	}
}

func testRandom(t *testing.T, r *rand.Rand, memory, files int, d *disk) {
	s := on(t, d, memory, files)
	var all []*sides
	var buffers []*Buffer
	for i := range 100 {
		o := &sides{t: t, all: text(i, size(r)), turn: make(chan struct{}), kind: i % kinds}
		o.ask = sync.OnceFunc(func() { close(o.turn) })
		o.b = s.NewBuffer(o.ask)
		all, buffers = append(all, o), append(buffers, o.b)
	}
	var wg sync.WaitGroup
	for _, o := range all {
		writes, reads := rand.New(rand.NewPCG(r.Uint64(), 0)), rand.New(rand.NewPCG(r.Uint64(), 1))
		wg.Go(func() { o.write(writes) })
		wg.Go(func() {
			if o.read(reads); o.kind == 0 {
				audit(t, s, buffers...)
			}
		})
	}
	wg.Wait()
	for _, o := range all {
		if o.check(); t.Failed() {
			t.Fatalf("memory %d, files %d, disk %+v", memory, files, d)
		}
	}
	empty(t, s, d)
}

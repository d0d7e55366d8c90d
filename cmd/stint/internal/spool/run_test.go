package spool

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// rooms are memories and disks, from none to plenty.
func rooms(t *testing.T, test func(t *testing.T, r *rand.Rand, memory int64, d disk)) {
	for i, memory := range []int64{0, 100, 10_000, 3 * blockSize, 1 << 30} {
		for j, pages := range []int{-1, 3, 50, 1 << 20} {
			for _, all := range []bool{false, true} {
				t.Run(fmt.Sprint(memory, pages, all), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						d := disk(nil)
						if pages >= 0 {
							r := newRAM(pages)
							r.all = all
							d = r
						}
						test(t, rand.New(rand.NewPCG(uint64(i), uint64(j))), memory, d)
					})
				})
			}
		}
	}
}

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

// source returns a source of random numbers for a goroutine of its own.
func source(r *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(r.Uint64(), r.Uint64())) }

// TestOrdered prints jobs in their order, while some run: as nothing depends on stuck, all
// ends although each room is too small for them.
func TestOrdered(t *testing.T) {
	rooms(t, func(t *testing.T, r *rand.Rand, memory int64, d disk) {
		const jobs, atOnce = 100, 8
		s := on(t, d, memory, nil)
		var want, got bytes.Buffer
		buffers, done := make([]*Buffer, jobs), make([]chan error, jobs)
		slots := make(chan struct{}, atOnce)
		var start []func()
		for i := range jobs {
			b, p, own := s.NewBuffer(), text(i, size(r)), source(r)
			want.Write(p)
			buffers[i], done[i] = b, make(chan error, 1)
			start = append(start, func() {
				done[i] <- write(own, b, p)
				<-slots
			})
		}
		go func() {
			for _, f := range start {
				slots <- struct{}{}
				go f()
			}
		}()
		for i, b := range buffers {
			audit(t, s, buffers...)
			if err := b.Direct(&got); err != nil {
				t.Error(err)
			}
			if err := <-done[i]; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("printed are %d bytes that are not the %d written", got.Len(), want.Len())
		}
		empty(t, s)
	})
}

// printer prints each job as a whole, in the order in which they end, with one exception:
// where the jobs have no room, one that runs gets the turn.
type printer struct {
	mu    sync.Mutex
	s     *Spool
	out   bytes.Buffer
	turn  *Buffer   // direct; its job runs
	ended []*Buffer // wait for the end of the turn
	order []*Buffer // as printed
}

func (p *printer) direct(b *Buffer) {
	if b.Direct(&p.out); !slices.Contains(p.order, b) {
		p.order = append(p.order, b)
	}
}

func (p *printer) stuck(b *Buffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn == nil {
		p.turn = b
		p.direct(b)
	}
}

func (p *printer) end(b *Buffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, b)
	if p.turn != nil && p.turn != b {
		return
	}
	for _, b := range p.ended {
		p.direct(b)
	}
	p.ended = nil
	if p.turn = p.s.Blocked(); p.turn != nil {
		p.direct(p.turn)
	}
}

// TestUnordered prints jobs as they end. Without stuck and Blocked all would wait for room.
func TestUnordered(t *testing.T) {
	rooms(t, func(t *testing.T, r *rand.Rand, memory int64, d disk) {
		const jobs, atOnce = 100, 8
		p := &printer{}
		p.s = on(t, d, memory, p.stuck)
		texts := map[*Buffer][]byte{}
		next := make(chan func())
		var wg sync.WaitGroup
		for range atOnce {
			wg.Go(func() {
				for job := range next {
					job()
				}
			})
		}
		for i := range jobs {
			b, all, own := p.s.NewBuffer(), text(i, size(r)), source(r)
			texts[b] = all
			next <- func() {
				if err := write(own, b, all); err != nil {
					t.Error(err)
				}
				p.end(b)
			}
		}
		close(next)
		wg.Wait()
		var want bytes.Buffer
		for _, b := range p.order {
			want.Write(texts[b])
		}
		if len(p.order) != jobs || !bytes.Equal(p.out.Bytes(), want.Bytes()) {
			t.Errorf("printed are %d jobs and %d bytes, want %d and %d", len(p.order), p.out.Len(), jobs, want.Len())
		}
		empty(t, p.s)
	})
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
	if o.kind == 5 && len(o.all) > 0 && o.b.Err() != errBroken {
		o.t.Errorf("error %v, want %v", o.b.Err(), errBroken)
	}
}

// TestRandom writes to many buffers, and prints or discards them, all at the same time.
func TestRandom(t *testing.T) {
	rooms(t, func(t *testing.T, r *rand.Rand, memory int64, d disk) {
		var mu sync.Mutex
		asks := map[*Buffer]func(){}
		s := on(t, d, memory, func(b *Buffer) {
			mu.Lock()
			ask := asks[b]
			mu.Unlock()
			ask()
		})
		var all []*sides
		var buffers []*Buffer
		for i := range 100 {
			o := &sides{t: t, b: s.NewBuffer(), all: text(i, size(r)), turn: make(chan struct{}), kind: i % kinds}
			o.ask = sync.OnceFunc(func() { close(o.turn) })
			asks[o.b] = o.ask
			all, buffers = append(all, o), append(buffers, o.b)
		}
		var wg sync.WaitGroup
		for _, o := range all {
			writes, reads, audits := source(r), source(r), o.kind == 0
			wg.Go(func() { o.write(writes) })
			wg.Go(func() {
				if o.read(reads); audits {
					audit(t, s, buffers...)
				}
			})
		}
		wg.Wait()
		for _, o := range all {
			o.check()
		}
		empty(t, s)
	})
}

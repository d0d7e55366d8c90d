package stream

import (
	"fmt"
	"time"
)

// Chunk returns the records of s in slices of size, the last one perhaps shorter. The
// receiver owns them. If linger is more than 0 a slice that is not full is handed on when
// its first record has been there for so long; what is before the Chunk runs on a
// goroutine of its own then, and a record may take a millisecond to come from there.
// Otherwise it waits until it is full, or there are no more. Chunk panics if size is less
// than 1.
func Chunk[T any](s Stream[T], size int, linger time.Duration) Stream[[]T] {
	if size < 1 {
		panic(fmt.Sprintf("stream: Chunk: size is %d, want 1 or more", size))
	}
	return Stream[[]T]{branches: s.branches, feed: func(g *segment, in *scope, to sink[[]T]) {
		c := &chunk[T]{size: size, to: to}
		if linger > 0 {
			c.receive(g, in, s, linger)
			return
		}
		before := within(in.ctx) // what follows may be called when nothing comes any more
		defer before.cancel()
		s.flow(g, before, sink[T]{one: c.one, many: each(g, c.one)})
		if c.refused {
			return
		}
		err := g.err // of what is before: what the last chunk meets is earlier
		g.err = nil
		c.end(g, err)
	}}
}

// A chunk is one that is being filled.
type chunk[T any] struct {
	size    int
	to      sink[[]T]
	items   []T
	last    int // length of the one before
	refused bool

	linger time.Duration
	timer  *time.Timer // runs while there are items; nil: they may stay for ever
}

func (c *chunk[T]) one(v T) bool {
	if c.items == nil {
		c.items = make([]T, 0, max(c.last, 1))
		if c.timer != nil {
			c.timer.Reset(c.linger)
		}
	}
	c.items = append(c.items, v)
	return len(c.items) < c.size || c.pass()
}

// pass hands the chunk on.
func (c *chunk[T]) pass() bool {
	if len(c.items) == 0 {
		return true
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	items := c.items
	c.items, c.last = nil, len(items)
	c.refused = !c.to.one(items)
	return !c.refused
}

// end hands the last chunk on, and then the error that the records ended with, if more
// is wanted then.
func (c *chunk[T]) end(g *segment, err error) {
	if !g.over() && c.pass() && err != nil {
		g.fail(err)
	}
}

// receive fills chunks with what comes over a boundary, in time.
func (c *chunk[T]) receive(g *segment, in *scope, s Stream[T], linger time.Duration) {
	c.linger, c.timer = linger, time.NewTimer(linger)
	c.timer.Stop()
	defer c.timer.Stop()
	from := newInlet[T](batchSize[T](), batches)
	up := spawn(g, in, s, from.line())
	defer up.end()
	many := each(g, c.one)
	for {
		b, ok := from.next(g, in, c.timer.C)
		switch {
		case !ok:
			return
		case b == nil:
			if !c.pass() {
				return
			}
		case b.last:
			c.end(g, b.err)
			return
		default:
			if !many(b.items[:b.n]) {
				return
			}
			b.recycle()
		}
	}
}

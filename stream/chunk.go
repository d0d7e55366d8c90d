package stream

import (
	"fmt"
	"time"
)

// Chunk returns the records of s in slices of the given size. The last slice may be shorter.
// The receiver owns the slices. If linger is positive, a slice that is not full is passed on
// when that time has passed since its first record. Then the stages before the Chunk run on a
// goroutine of their own, and a record may take a millisecond to reach the Chunk. If linger is
// zero or negative, a Chunk waits until the slice is full or there are no more records. Chunk
// panics if size is less than 1.
func Chunk[T any](s Stream[T], size int, linger time.Duration) Stream[[]T] {
	if size < 1 {
		panic(fmt.Sprintf("stream: Chunk: size is %d, want 1 or more", size))
	}
	return Stream[[]T]{feed: func(c *chain, in *lifetime, to sink[[]T]) {
		k := &chunk[T]{size: size, to: to, linger: linger}
		s := s
		if linger > 0 {
			k.timer = time.NewTimer(linger)
			k.timer.Stop()
			defer k.timer.Stop()
			s = boundary([]Stream[T]{s}, boundarySize[T](), k.timer.C, k.pass)
		}
		before := newLifetime(in.ctx) // the stages behind may still be called when it has ended
		defer before.cancel()
		s.flow(c, before, oneByOne(before, k.add))
		if k.refused {
			return
		}
		err := c.err // of the stages before: an error of the last chunk comes first
		c.err = nil
		if c.ended() || k.pass() {
			c.fail(err)
		}
	}}
}

// A chunk is a slice that is being filled.
type chunk[T any] struct {
	size     int
	to       sink[[]T]
	items    []T
	lastSize int // of the chunk before
	refused  bool

	linger time.Duration
	timer  *time.Timer // runs while there are items; nil: no linger
}

// add adds a record, and passes on a full chunk.
func (k *chunk[T]) add(v T) bool {
	if k.items == nil {
		k.items = make([]T, 0, max(k.lastSize, 1))
		if k.timer != nil {
			k.timer.Reset(k.linger)
		}
	}
	k.items = append(k.items, v)
	return len(k.items) < k.size || k.pass()
}

// pass passes the chunk on.
func (k *chunk[T]) pass() bool {
	if len(k.items) == 0 {
		return true
	}
	if k.timer != nil {
		k.timer.Stop()
	}
	items := k.items
	k.items, k.lastSize = nil, len(items)
	k.refused = !k.to.one(items)
	return !k.refused
}

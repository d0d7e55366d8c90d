package stream

import (
	"fmt"
	"time"
)

// Chunk returns the records of s in slices of the given size; the last one may be shorter.
// The receiver owns the slices. If linger is positive, a slice that is not full is passed
// on that long after its first record. Then the stages before the Chunk run on a goroutine
// of their own, and a record may take a millisecond to cross. If linger is zero or
// negative, a Chunk waits until the slice is full or there are no more records. Chunk
// panics if size is less than 1.
func Chunk[T any](s Stream[T], size int, linger time.Duration) Stream[[]T] {
	if size < 1 {
		panic(fmt.Sprintf("stream: Chunk: size is %d, want 1 or more", size))
	}
	return Stream[[]T]{feed: func(c *chain, in *lifetime, to sink[[]T]) {
		k := &chunk[T]{size: size, to: to}
		if linger > 0 {
			k.receive(c, in, s, linger)
			return
		}
		before := newLifetime(in.ctx) // the stages behind may still be called when it has ended
		defer before.cancel()
		s.flow(c, before, oneByOne(c, k.add))
		if k.refused {
			return
		}
		err := c.err // of the stages before: an error of the last chunk comes first
		c.err = nil
		k.end(c, err)
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

// end passes on the last chunk, and then the error that the records ended with.
func (k *chunk[T]) end(c *chain, err error) {
	if !c.stopped() && k.pass() && err != nil {
		c.fail(err)
	}
}

// receive fills chunks with records that cross a boundary.
func (k *chunk[T]) receive(c *chain, in *lifetime, s Stream[T], linger time.Duration) {
	k.linger, k.timer = linger, time.NewTimer(linger)
	k.timer.Stop()
	defer k.timer.Stop()
	from := newReceiver[T](batchSize[T](), queueBatches)
	up := spawn(c, in, s, from.newQueue())
	c.during(func() { k.receiveAll(c, in, from) }, up.stopAndWait)
}

// receiveAll takes the records of from.
func (k *chunk[T]) receiveAll(c *chain, in *lifetime, from *receiver[T]) {
	records := oneByOne(c, k.add)
	for {
		b, ok := from.next(c, in, k.timer.C)
		switch {
		case !ok:
			return
		case b == nil:
			if !k.pass() {
				return
			}
		case b.last:
			k.end(c, b.err)
			return
		default:
			if !records.many(b.items[:b.n]) {
				return
			}
			b.recycle()
		}
	}
}

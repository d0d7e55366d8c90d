package stream

import (
	"reflect"
	"slices"
	"sync"
	"time"
)

const (
	maxBoundary   = 1024     // records
	boundaryBytes = 64 << 10 // of records of more than 64 bytes
	minBoundary   = 64       // records, however large
	mergeTurn     = 16       // records of one stream of a Merge that pass before those of the next
)

// boundarySize returns how many records a boundary holds of each stream of a Merge, and before a
// Chunk.
func boundarySize[T any]() int {
	return max(minBoundary, min(maxBoundary, boundaryBytes/max(1, int(reflect.TypeFor[T]().Size()))))
}

// Buffer runs the earlier stages on a goroutine of their own, concurrently with the later
// stages: reading and consuming overlap. It holds at most the given number of records. While it
// is full, the source waits. The consumer is woken for many records at once, so a Buffer of
// less than some hundred records saves memory and costs time. Buffer panics if records is less
// than 1.
func Buffer[T any](s Stream[T], records int) Stream[T] {
	checkNumber("Buffer", records, 1)
	return boundary([]Stream[T]{s}, records, nil, nil)
}

// Merge runs several streams concurrently, each on a goroutine of its own, and returns their
// records as they arrive. If several streams have records, they take turns. The records of one
// stream stay in order. Merge ends when all streams have ended, or with the first error, which
// cancels the other streams. Merge() has no records.
func Merge[T any](ss ...Stream[T]) Stream[T] {
	return boundary(slices.Clone(ss), boundarySize[T](), nil, nil)
}

// boundary runs each of the streams on a goroutine of its own, and passes on their records. It
// holds at most size records of each. While it waits for records it calls expired whenever
// timeout has a value, and ends if that returns false.
func boundary[T any](ss []Stream[T], size int, timeout <-chan time.Time, expired func() bool) Stream[T] {
	return Stream[T]{feed: func(c *chain, in *lifetime, to sink[T]) {
		r := &receiver[T]{woken: make(chan struct{}, 1), timeout: timeout, expired: expired}
		ups := make([]*chain, len(ss))
		for i := range ss {
			ups[i] = c.run.chain(in.ctx)
			r.queues = append(r.queues, newQueue(ups[i], r, size))
		}
		for i, q := range slices.Clone(r.queues) {
			ups[i].start(func() { ss[i].flow(ups[i], ups[i].lifetime, sink[T]{one: q.one, many: q.many}) }, q.end)
		}
		c.during(func() { r.receive(c, in, to) }, func() {
			for _, up := range ups {
				up.cancel()
			}
			for _, up := range ups {
				<-up.done
			}
		})
	}}
}

// A receiver is the receiving end of a boundary. Waking a goroutine costs more than passing a
// hundred records, so it is woken when half of a queue is full, before a sender blocks, by a
// tick, and by a record after a silence.
type receiver[T any] struct {
	turn    int // queue that was looked at last
	woken   chan struct{}
	timeout <-chan time.Time
	expired func() bool

	queues []*queue[T] // of senders that have not ended, or have records

	mu     sync.Mutex
	asleep bool
}

// receive passes on the records of the queues, until all senders have ended or one has failed,
// or no more records are wanted.
func (r *receiver[T]) receive(c *chain, in *lifetime, to sink[T]) {
	for len(r.queues) > 0 {
		q, records := r.next(c, in)
		switch {
		case q == nil:
			return
		case len(records) > 0:
			if !pump(c, in, records, to) {
				return
			}
			q.release(len(records))
		case q.err != nil:
			c.fail(q.err)
			return
		default:
			r.queues = slices.DeleteFunc(r.queues, func(p *queue[T]) bool { return p == q })
		}
	}
}

// next waits for a queue that has records, and returns some of them, or for one that has ended.
// It returns nil when no more records are wanted.
func (r *receiver[T]) next(c *chain, in *lifetime) (*queue[T], []T) {
	for {
		if q, records := r.poll(); q != nil {
			return q, records
		}
		c.wakeReceiver()
		select {
		case <-r.woken:
		case <-r.timeout:
			if !r.expired() {
				return nil, nil
			}
		case <-in.ctx.Done():
			return nil, nil
		}
	}
}

// poll is next, but does not wait: it returns nil if the receiver should sleep.
func (r *receiver[T]) poll() (*queue[T], []T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range r.queues {
		r.turn = (r.turn + 1) % len(r.queues)
		q := r.queues[r.turn]
		if n := q.unreadLocked(); n > 0 || q.ended {
			return q, q.frontLocked(n, len(r.queues) > 1)
		}
	}
	r.asleep = true
	return nil, nil
}

// wakeLocked wakes the receiver if it sleeps.
func (r *receiver[T]) wakeLocked() {
	if !r.asleep {
		return
	}
	r.asleep = false
	select {
	case r.woken <- struct{}{}:
	default: // a value is left from a sleep that ended by itself
	}
}

package stream

import (
	"reflect"
	"sync"
	"time"
)

// The size of a boundary other than a Buffer.
const (
	batchBytes        = 32 << 10 // of the records in a batch: about a first-level cache
	minBatchRecords   = 16       // even if they are larger
	maxBatchRecords   = 1024
	maxPointerRecords = 256 // of records that keep other memory reachable, of unknown size
	queueBatches      = 4   // half of them for each end
)

// batchSize returns the number of records of type T in a batch.
func batchSize[T any]() int {
	largest := maxBatchRecords
	if hasPointers(reflect.TypeFor[T]()) {
		largest = maxPointerRecords
	}
	return min(max(batchBytes/max(1, size[T]()), minBatchRecords), largest)
}

// size returns the size of a record in bytes.
func size[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// A receiver is the receiving end of a boundary with one or more senders. It takes their
// batches in the order of arrival. The number of batches is bounded, so sending does not
// block: a sender waits for an empty batch instead.
//
// Waking a goroutine costs more than passing a hundred records. So a sleeping receiver is
// woken when half of a sender's batches have been sent, or by notify, when the sender is
// about to block or the ticker has ticked. A sender is woken when half of its batches are
// empty.
type receiver[T any] struct {
	size       int // of a batch, in records
	maxBatches int // of each sender
	half       int // of maxBatches

	// Owned by the receiving goroutine.
	taken []*batch[T]
	read  int           // of taken
	woken chan struct{} // has a value for a receiver that slept

	mu     sync.Mutex
	sent   []*batch[T]
	asleep bool
}

// newReceiver returns a receiver for senders with maxBatches batches of size records each.
func newReceiver[T any](size, maxBatches int) *receiver[T] {
	return &receiver[T]{size: size, maxBatches: maxBatches, half: max(maxBatches/2, 1), woken: make(chan struct{}, 1)}
}

// A queue is the destination of one sender of a receiver.
type queue[T any] struct {
	*receiver[T]
	vacant chan struct{} // has a value for a sender that waited

	// Guarded by mu of the receiver.
	free    []*batch[T]
	made    int
	waiting bool // the sender
}

func (r *receiver[T]) newQueue() *queue[T] {
	return &queue[T]{receiver: r, vacant: make(chan struct{}, 1)}
}

func (q *queue[T]) acquire(s *sender[T]) (*batch[T], bool) {
	for {
		q.mu.Lock()
		if n := len(q.free); n > 0 {
			b := q.free[n-1]
			q.free = q.free[:n-1]
			q.mu.Unlock()
			return b, true
		}
		if q.made < q.maxBatches {
			q.made++
			q.mu.Unlock()
			return &batch[T]{state: sealed, items: make([]T, q.size)}, true
		}
		q.waiting = true
		q.mu.Unlock()
		s.c.beforeBlocking()
		select {
		case <-q.vacant:
		case <-s.c.ctx.Done():
			return nil, false
		}
	}
}

func (q *queue[T]) send(b *batch[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = append(q.sent, b)
	if len(q.sent) >= q.half || b.last {
		q.wake()
	}
}

func (q *queue[T]) notify() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.sent) > 0 {
		q.wake()
	}
}

// wake wakes the receiver if it sleeps. It is called with mu held.
func (r *receiver[T]) wake() {
	if !r.asleep {
		return
	}
	r.asleep = false
	select {
	case r.woken <- struct{}{}:
	default: // a value is left from a sleep that ended by itself
	}
}

// recycle returns a batch to its sender.
func (b *batch[T]) recycle() {
	if b.from.pointers {
		clear(b.items[:b.n])
	}
	q := b.from.to.(*queue[T])
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free = append(q.free, b)
	if q.waiting && len(q.free) >= q.half {
		q.waiting = false
		select {
		case q.vacant <- struct{}{}:
		default: // a value is left from a wait that ended by itself
		}
	}
}

// spawn runs s on a goroutine of its own, before a boundary of c; its records go to d.
func spawn[T any](c *chain, in *lifetime, s Stream[T], d destination[T]) *chain {
	up := c.run.chain(in.ctx)
	start(up, s, d)
	return up
}

// start is the part of spawn that starts the goroutine.
func start[T any](up *chain, s Stream[T], d destination[T]) {
	from := newSender(up, d)
	up.run.start(up, func() { s.flow(up, up.lifetime, from.sink()) }, from.end)
}

// receiveAll passes the records of the only sender to a sink.
func (r *receiver[T]) receiveAll(c *chain, in *lifetime, to sink[T]) {
	for {
		b, _ := r.next(c, in, nil)
		switch {
		case b == nil:
			return
		case b.last:
			if b.err != nil {
				c.fail(b.err)
			}
			return
		case !pump(c, b.items[:b.n], to):
			return
		}
		b.recycle()
	}
}

// next waits for a batch. It returns nil when timeout has a value, and reports false when
// no more records are wanted.
func (r *receiver[T]) next(c *chain, in *lifetime, timeout <-chan time.Time) (*batch[T], bool) {
	for {
		select {
		case <-timeout:
			return nil, true
		default:
		}
		if b := r.poll(); b != nil {
			return b, true
		}
		c.beforeBlocking()
		if !r.sleep() {
			continue
		}
		select {
		case <-r.woken:
		case <-timeout:
			return nil, true
		case <-in.ctx.Done():
			return nil, false
		}
	}
}

// poll returns a batch, or nil if none has been sent.
func (r *receiver[T]) poll() *batch[T] {
	if r.read == len(r.taken) {
		r.mu.Lock()
		r.taken, r.sent, r.read = r.sent, r.taken[:0], 0
		r.mu.Unlock()
	}
	if r.read == len(r.taken) {
		return nil
	}
	r.read++
	return r.taken[r.read-1]
}

// sleep marks the receiver as asleep, and reports false if a batch has been sent.
func (r *receiver[T]) sleep() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asleep = len(r.sent) == 0
	return r.asleep
}

package stream

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// A batch is some records that cross a boundary together. Its state is the number of
// published records, and the bit sealed when no more will follow:
//
//	free    sealed; in the queue's list, or not made yet
//	open    the sender adds records and publishes them
//	sealed  by the sender, when it is full or before the sender blocks, or by the ticker
//	sent    the receiver has it, n records, and recycles it
//
// If both seal a batch, compare-and-swap lets one succeed, which sends the batch with the
// sender's lock still held. So batches arrive in the order in which they were opened.
type batch[T any] struct {
	state uint32 // atomic
	items []T    // as many as there is room for
	n     int    // published records, once it is sealed
	taken int    // of them, that Merge has passed on

	from *sender[T]
	last bool  // of its sender; it has no records
	err  error // that the records ended with
}

const sealed = 1 << 31

// A sender is the sending end of a boundary. one, many, add, publish and flush belong to
// the sending goroutine; tick to the ticker.
//
//	idle    nothing was published at the last tick: the next record is sent at once
//	active  published records are sent at the next tick, or in a full batch
//
// The sender publishes, then looks whether it is active; a tick makes it idle, then looks
// for published records. So no record is left behind.
type sender[T any] struct {
	c  *chain // whose records it sends
	to destination[T]

	none      *batch[T] // without room
	open      *batch[T] // or none
	n         int       // records in open
	published int       // of them
	pointers  bool

	active uint32 // atomic

	mu       sync.Mutex // held from sealing a batch until it is sent
	sealable *batch[T]  // open, for the ticker
	ended    bool
}

// A destination is where the batches of a sender go: a queue, or a ParMap.
type destination[T any] interface {
	// acquire returns an empty batch, and blocks until there is one. It reports false
	// when no more records are wanted.
	acquire(s *sender[T]) (*batch[T], bool)
	// send takes a sealed batch. It does not block.
	send(b *batch[T])
	// notify wakes a receiver that waits for more batches.
	notify()
}

// newSender returns a sender for c, which has not started.
func newSender[T any](c *chain, to destination[T]) *sender[T] {
	s := &sender[T]{c: c, to: to, none: &batch[T]{state: sealed}, pointers: hasPointers(reflect.TypeFor[T]())}
	s.open = s.none
	c.run.ticker.join(s)
	return s
}

// sink returns s as the sink of its chain.
func (s *sender[T]) sink() sink[T] {
	s.c.flush = s.flush
	return sink[T]{one: s.one, many: s.many}
}

// one adds a record and publishes it, because its source may block now.
func (s *sender[T]) one(v T) bool { return s.add(v) && s.publish() }

// many adds records and publishes them.
func (s *sender[T]) many(vs []T) bool {
	for len(vs) > 0 {
		if s.n == len(s.open.items) && !s.nextBatch() {
			return false
		}
		n := copy(s.open.items[s.n:], vs)
		s.n += n
		if !s.publish() {
			return false
		}
		vs = vs[n:]
	}
	if s.c.newTick() {
		s.flush()
	}
	return true
}

// add adds a record. publish must follow before the goroutine calls a function that may
// block.
func (s *sender[T]) add(v T) bool {
	if s.n == len(s.open.items) && !s.nextBatch() {
		return false
	}
	s.open.items[s.n] = v
	s.n++
	return true
}

// nextBatch opens a batch after a full or sealed one.
func (s *sender[T]) nextBatch() bool {
	if s.n > s.published && !s.publish() {
		return false
	}
	if s.n < len(s.open.items) {
		return true // of one that publish has opened
	}
	b, ok := s.to.acquire(s)
	if !ok {
		return false
	}
	b.from = s
	s.mu.Lock()
	s.open, s.n, s.published = b, 0, 0
	s.sealable = b
	atomic.StoreUint32(&b.state, 0)
	s.mu.Unlock()
	return true
}

// publish makes the added records available to the receiver. It sends a full batch, and the
// first records of an idle sender.
func (s *sender[T]) publish() bool {
	n, p := s.n, s.published
	if n == p {
		return true
	}
	if !atomic.CompareAndSwapUint32(&s.open.state, uint32(p), uint32(n)) {
		return s.moveLate()
	}
	s.published = n
	switch {
	case p == 0 && !s.needsTick():
		atomic.StoreUint32(&s.active, 1)
		s.flush()
		s.c.run.ticker.wake()
	case n == len(s.open.items):
		s.send()
	}
	return true
}

// moveLate moves records that were added after the ticker sealed the batch into the next.
func (s *sender[T]) moveLate() bool {
	late := s.open.items[s.published:s.n]
	records := slices.Clone(late) // the batch may be used again before they are sent
	clear(late)                   // the receiver clears the published records only
	s.leave()
	return s.many(records)
}

// leave leaves the open batch, which is sealed.
func (s *sender[T]) leave() { s.open, s.n, s.published = s.none, 0, 0 }

// flush sends the added records.
func (s *sender[T]) flush() {
	if s.n > s.published {
		s.publish()
	}
	if s.published > 0 {
		s.send()
	}
	s.to.notify()
}

// send sends the published records.
func (s *sender[T]) send() {
	s.mu.Lock()
	s.seal()
	s.mu.Unlock()
	s.leave()
}

// seal seals and sends the open batch if it has published records, and reports whether it
// did. It is called with mu held.
func (s *sender[T]) seal() bool {
	b := s.sealable
	if b == nil {
		return false
	}
	for {
		n := atomic.LoadUint32(&b.state)
		if n == 0 || n&sealed != 0 {
			return false
		}
		if atomic.CompareAndSwapUint32(&b.state, n, n|sealed) {
			b.n = int(n)
			s.sealable = nil
			s.to.send(b)
			return true
		}
	}
}

// end sends the added records, and then the last batch.
func (s *sender[T]) end(err error) {
	if s.n > s.published {
		s.publish()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seal()
	s.ended = true
	atomic.StoreUint32(&s.active, 0)
	s.to.send(&batch[T]{from: s, last: true, err: err})
}

// tick sends the published records.
func (s *sender[T]) tick() bool {
	if !s.needsTick() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	if !s.seal() {
		atomic.StoreUint32(&s.active, 0)
		if s.seal() { // published meanwhile, when the sender was active
			atomic.StoreUint32(&s.active, 1)
		}
	}
	s.to.notify()
	return s.needsTick()
}

func (s *sender[T]) needsTick() bool { return atomic.LoadUint32(&s.active) != 0 }

// hasPointers reports whether records of a type keep other memory reachable.
func hasPointers(t reflect.Type) bool {
	switch k := t.Kind(); {
	case reflect.Bool <= k && k <= reflect.Complex128: // all numbers
		return false
	case k == reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return true
}

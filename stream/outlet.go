package stream

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// A batch is how records cross a boundary. Its state is how many records have been
// published; sealed is set in it when there will be no more:
//
//	free     sealed; in the boundary's list, or not made yet
//	open     the sender puts records in and publishes them
//	sealed   by the sender, when it is full or before the sender blocks, or by the clock
//	sent     the receiver has it, n records, and gives it back
//
// Of two that seal it, compare-and-swap lets one; both send only what they have sealed,
// with the outlet's lock held from one to the other, so that batches arrive in the order
// in which they were opened.
type batch[T any] struct {
	state uint32 // atomic
	items []T    // its room
	n     int    // records, when it is sealed
	given int    // of them, that Merge has handed on

	from *outlet[T]
	last bool  // of its outlet; it has no records
	err  error // that they ended with
}

const sealed = 1 << 31

// An outlet is the sending end of a boundary. one, many, add, publish and flush belong to
// the sender's goroutine; the clock calls tick.
//
//	cold  there was nothing to send at the last tick: the next record is sent at once
//	hot   what is published is sent at the next tick, if the batch does not become full
//
// The sender publishes, then looks whether the outlet is hot; a tick makes it cold, then
// looks whether something is published. So no record is left behind.
type outlet[T any] struct {
	g  *segment // of the sender
	to receiver[T]

	none      *batch[T] // has no room
	open      *batch[T] // or none
	n         int       // records in open
	published int       // of them
	between   uint      // places in open that are neither the first nor the last
	pointers  bool

	hotness uint32 // atomic

	mu    sync.Mutex // taken by the sender and the clock to seal and send
	clock *batch[T]  // open, for the clock
	ended bool
}

// A receiver is the other end.
type receiver[T any] interface {
	// acquire returns a batch to fill, and waits until there is room for one. It reports
	// false when nobody wants more.
	acquire(o *outlet[T]) (*batch[T], bool)
	// send takes a sealed batch. It does not block.
	send(b *batch[T])
	// urge makes it take what was sent, which may have waited for more.
	urge()
}

// newOutlet returns an outlet for the segment g, whose goroutine does not run yet.
func newOutlet[T any](g *segment, to receiver[T]) *outlet[T] {
	o := &outlet[T]{g: g, to: to, none: &batch[T]{state: sealed}, pointers: hasPointers(reflect.TypeFor[T]())}
	o.open = o.none
	g.run.clock.join(o)
	return o
}

// sink returns o as the sink of its segment.
func (o *outlet[T]) sink() sink[T] {
	o.g.flush = o.flush
	return sink[T]{one: func(v T) bool { // not a method, which would be one call more
		n, b := o.n, o.open
		if uint(n-1) >= o.between {
			return o.one(v)
		}
		b.items[n] = v
		o.n = n + 1
		if !atomic.CompareAndSwapUint32(&b.state, uint32(n), uint32(n+1)) {
			return o.move()
		}
		o.published = n + 1
		return true
	}, many: o.many}
}

// one puts a record in and publishes it: its source may block now.
func (o *outlet[T]) one(v T) bool { return o.add(v) && o.publish() }

// many puts records in and publishes them.
func (o *outlet[T]) many(vs []T) bool {
	for len(vs) > 0 {
		if o.n == len(o.open.items) && !o.renew() {
			return false
		}
		n := copy(o.open.items[o.n:], vs)
		o.n += n
		if !o.publish() {
			return false
		}
		vs = vs[n:]
	}
	if o.g.hurry() {
		o.flush()
	}
	return true
}

// add puts a record in. publish must follow before the goroutine calls a function that
// may block.
func (o *outlet[T]) add(v T) bool {
	if o.n == len(o.open.items) && !o.renew() {
		return false
	}
	o.open.items[o.n] = v
	o.n++
	return true
}

// renew opens a batch in place of one that is full or sealed.
func (o *outlet[T]) renew() bool {
	if o.n > o.published && !o.publish() {
		return false
	}
	if o.n < len(o.open.items) {
		return true // of one that publish has opened
	}
	b, ok := o.to.acquire(o)
	if !ok {
		return false
	}
	b.from = o
	o.between = uint(max(len(b.items), 2) - 2)
	o.mu.Lock()
	o.open, o.n, o.published = b, 0, 0
	o.clock = b
	atomic.StoreUint32(&b.state, 0)
	o.mu.Unlock()
	return true
}

// publish lets the receiver have what was put in. A full batch is sent, and so are the
// first records after a silence.
func (o *outlet[T]) publish() bool {
	n, p := o.n, o.published
	if n == p {
		return true
	}
	if !atomic.CompareAndSwapUint32(&o.open.state, uint32(p), uint32(n)) {
		return o.move()
	}
	o.published = n
	switch {
	case p == 0 && !o.hot():
		atomic.StoreUint32(&o.hotness, 1)
		o.flush()
		o.g.run.clock.wake()
	case n == len(o.open.items):
		o.send()
	}
	return true
}

// move takes what was put in after the clock has sealed the batch into the next one.
func (o *outlet[T]) move() bool {
	late := o.open.items[o.published:o.n]
	rest := slices.Clone(late) // the batch may come back before they have gone
	clear(late)                // the receiver clears those that it was sent
	o.shut()
	return o.many(rest)
}

// shut leaves the open batch to who has sealed it.
func (o *outlet[T]) shut() { o.open, o.n, o.published, o.between = o.none, 0, 0, 0 }

// flush sends what was put in.
func (o *outlet[T]) flush() {
	if o.n > o.published {
		o.publish()
	}
	if o.published > 0 {
		o.send()
	}
	o.to.urge()
}

// send sends what is published.
func (o *outlet[T]) send() {
	o.mu.Lock()
	o.seal()
	o.mu.Unlock()
	o.shut()
}

// seal seals and sends the open batch if something is published, and reports whether it
// did. It is called with mu held.
func (o *outlet[T]) seal() bool {
	b := o.clock
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
			o.clock = nil
			o.to.send(b)
			return true
		}
	}
}

// end sends what is left, and that it was the last.
func (o *outlet[T]) end(err error) {
	if o.n > o.published {
		o.publish()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seal()
	o.ended = true
	atomic.StoreUint32(&o.hotness, 0)
	o.to.send(&batch[T]{from: o, last: true, err: err})
}

// tick sends what is published.
func (o *outlet[T]) tick() bool {
	if !o.hot() {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return false
	}
	if !o.seal() {
		atomic.StoreUint32(&o.hotness, 0)
		if o.seal() { // published meanwhile, by a sender that found it hot
			atomic.StoreUint32(&o.hotness, 1)
		}
	}
	o.to.urge()
	return o.hot()
}

func (o *outlet[T]) hot() bool { return atomic.LoadUint32(&o.hotness) != 0 }

// hasPointers reports whether records of a type keep others reachable.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return false
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return true
}

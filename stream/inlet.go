package stream

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The room of a boundary that nobody has chosen the size of.
const (
	batchBytes   = 32 << 10 // of records in a batch, about a cache of the first level
	leastRecords = 16       // but so many
	mostRecords  = 1024
	mostPointers = 256 // of records that keep something else in memory, of unknown size
	batches      = 4   // half of them for each end
)

// A receiver that has waited less than soon for the last batch stays awake for a while
// when it waits for the next: to be woken takes its sender some microseconds, and itself
// 50 and more.
const (
	soon  = 200 * time.Microsecond
	awake = 256 // times that others may run first; about 50 µs if there are none. Not a time: that may stand still in a test
)

// batchSize returns how many records of type T go into a batch.
func batchSize[T any]() int {
	most := mostRecords
	if hasPointers(reflect.TypeFor[T]()) {
		most = mostPointers
	}
	return min(max(batchBytes/max(1, size[T]()), leastRecords), most)
}

// size returns the size of a record in bytes.
func size[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// An inlet is the receiving end of a boundary with senders whose batches it takes in
// the order in which they come. There are never more batches than it has made, so
// sending does not block: who wants to send waits for an empty one.
//
// Waking a goroutine costs more than a hundred records. So a receiver that sleeps
// is not woken for each batch: when half of a sender's batches are there, or urge
// is called, since the sender is about to block or the clock has ticked. A sender
// is woken when half of its batches are empty.
type inlet[T any] struct {
	size   int
	most   int           // batches for each sender
	taken  []*batch[T]   // belongs to the receiver, and so does given
	given  int           // of taken
	soon   bool          // the last batch came soon after it was waited for
	woken  chan struct{} // has one for a receiver that was asleep
	enough int

	mu     sync.Mutex
	sent   atomic.Bool // full is not empty; written with mu held
	full   []*batch[T]
	asleep bool // the receiver waits
}

// newInlet returns an inlet for senders with so many batches each.
func newInlet[T any](size, most int) *inlet[T] {
	return &inlet[T]{size: size, most: most, enough: max(most/2, 1), woken: make(chan struct{}, 1)}
}

// line is the way of the batches of one outlet.
type line[T any] struct {
	*inlet[T]
	vacant chan struct{} // has one for a sender that has waited
	gone   chan struct{} // closed when nobody reads any more, but the sender goes on; or nil

	// guarded by mu of the inlet
	free  []*batch[T]
	made  int
	waits bool // the sender
}

func (in *inlet[T]) line() *line[T] {
	return &line[T]{inlet: in, vacant: make(chan struct{}, 1)}
}

func (l *line[T]) acquire(o *outlet[T]) (*batch[T], bool) {
	for {
		l.mu.Lock()
		if n := len(l.free); n > 0 {
			b := l.free[n-1]
			l.free = l.free[:n-1]
			l.mu.Unlock()
			return b, true
		}
		if l.made < l.most {
			l.made++
			l.mu.Unlock()
			return &batch[T]{state: sealed, items: make([]T, l.size)}, true
		}
		l.waits = true
		l.mu.Unlock()
		o.g.pause()
		select {
		case <-l.vacant:
		case <-l.gone:
			return &batch[T]{state: sealed, items: make([]T, l.size)}, true // for what send drops
		case <-o.g.ctx.Done():
			return nil, false
		}
	}
}

func (l *line[T]) send(b *batch[T]) {
	select {
	case <-l.gone:
		if !b.last {
			b.recycle()
		}
		return
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = append(l.full, b)
	l.sent.Store(true)
	if len(l.full) >= l.enough || b.last {
		l.wake()
	}
}

func (l *line[T]) urge() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.full) > 0 {
		l.wake()
	}
}

// wake wakes the receiver if it sleeps. It is called with mu held.
func (in *inlet[T]) wake() {
	if !in.asleep {
		return
	}
	in.asleep = false
	select {
	case in.woken <- struct{}{}:
	default: // it has left its sleep by itself before
	}
}

// recycle gives a batch back to its sender.
func (b *batch[T]) recycle() {
	if b.from.pointers {
		clear(b.items[:b.n])
	}
	l := b.from.to.(*line[T])
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, b)
	if l.waits && len(l.free) >= l.enough {
		l.waits = false
		select {
		case l.vacant <- struct{}{}:
		default: // the sender has left its wait by itself
		}
	}
}

// spawn runs s on a goroutine of its own, for the boundary that g is behind; what it has
// goes to r.
func spawn[T any](g *segment, in *scope, s Stream[T], r receiver[T]) *segment {
	up := g.run.segment(g, in.ctx)
	o := newOutlet(up, r)
	g.run.begin(up, func() { s.flow(up, up.scope, o.sink()) }, o.end)
	return up
}

// receive hands what comes to a sink, until a sender has ended, which it returns. It
// returns nil when no more is wanted.
func (in *inlet[T]) receive(g *segment, within *scope, to sink[T]) (last *batch[T]) {
	for {
		b, _ := in.next(g, within, nil)
		if b == nil || b.last {
			return b
		}
		if !pump(g, b.items[:b.n], to) {
			return nil
		}
		b.recycle()
	}
}

// receiveAll hands all that comes from the only sender to a sink.
func (in *inlet[T]) receiveAll(g *segment, within *scope, to sink[T]) {
	if last := in.receive(g, within, to); last != nil && last.err != nil {
		g.fail(last.err)
	}
}

// next waits for a batch. It returns nil when there is a value in timeout, and reports
// false when nobody wants more.
func (in *inlet[T]) next(g *segment, within *scope, timeout <-chan time.Time) (*batch[T], bool) {
	for {
		select {
		case <-timeout:
			return nil, true
		default:
		}
		if b := in.poll(); b != nil {
			return b, true
		}
		g.pause()
		if in.stay() || in.sleep() {
			continue
		}
		began := time.Now()
		select {
		case <-in.woken:
		case <-timeout:
			return nil, true
		case <-within.ctx.Done():
			return nil, false
		}
		in.soon = time.Since(began) < soon
	}
}

// poll returns a batch, or nil if there is none.
func (in *inlet[T]) poll() *batch[T] {
	if in.given == len(in.taken) && !in.take() {
		return nil
	}
	in.given++
	return in.taken[in.given-1]
}

// stay waits for a batch without sleeping, for not too long, if the last one came soon.
// It reports whether one has come. Other goroutines go first.
func (in *inlet[T]) stay() bool {
	if !in.soon {
		return false
	}
	for range awake {
		if in.sent.Load() {
			return true
		}
		runtime.Gosched()
	}
	in.soon = false
	return false
}

// take takes all that was sent. It reports whether that is something.
func (in *inlet[T]) take() bool {
	if !in.sent.Load() {
		return false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.taken, in.full, in.given = in.full, in.taken[:0], 0
	in.sent.Store(false)
	return len(in.taken) > 0
}

// sleep makes it known that the receiver waits, unless something was sent.
func (in *inlet[T]) sleep() (awake bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.asleep = len(in.full) == 0
	return !in.asleep
}

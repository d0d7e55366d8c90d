package stream

import (
	"context"
	"math"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

const parMapOptions = option.Limiter | option.Pool | option.Queue | option.Unordered | option.Name | option.Burst | option.Overload

// ParMap calls f for the records of s, for several at once, and returns the results in the
// order of the records, or as they come under Unordered. How many calls run at once is
// for a Limiter or a Pool to say, as everywhere in package stint; without one the limit
// finds itself.
//
// Where a call takes less than 50 µs a worker gets a piece of several records, as many as
// take so long, so that a call that does nothing costs some nanoseconds. Pieces are begun
// in the order of the records; under a limit of 1 so are the records. When a piece lasts
// longer than a millisecond, what has not begun of it is given to others, behind the
// pieces that wait already. After the limit was lowered a worker ends the piece that it
// has begun. Of records that take less than a microsecond a few may have
// to wait behind one that blocks, as in stint.Each; under a Limit above GOMAXPROCS none.
//
// f is begun for at most twice the limit of records whose results have not been
// handed on; where calls are short, for a piece for each worker and 4 ms of work,
// or 256 KiB, or 16 pieces; under Queue(n) for the limit and n records. As many
// have been taken from s. A slow record holds those behind it up once they are that
// many, and under Unordered the results of its own piece.
//
// The first error, in the order of the records, ends the stream at its position: the
// results of all records before it are handed on, whose calls are not cancelled. Of those
// behind it none is begun any more, but some of less than a microsecond that a worker has
// taken already; the context of those that run ends when the error is handed on. Under
// Unordered the first error to come ends the stream. A call of runtime.Goexit is
// stint.ErrGoexit; a pool that is closed, stint.ErrClosed. There is no KeepGoing: make the
// error a part of the result instead.
//
// Options: a Limiter or a Pool, Burst, Overload, Queue, Unordered, Name. ParMap panics if f
// is nil.
func ParMap[T, R any](s Stream[T], f func(context.Context, T) (R, error), opts ...stint.Option) Stream[R] {
	check("ParMap", "function", f == nil)
	o := option.Collect("stream", "ParMap", parMapOptions, opts)
	return Stream[R]{branches: s.branches, feed: func(g *segment, in *scope, to sink[R]) {
		m := newParMap[T](g, in, f, &o)
		from := newOutlet(m.up, m)
		g.run.begin(m.up, func() { s.flow(m.up, m.up.scope, from.sink()) }, from.end)
		defer m.end()
		m.receive(to)
	}}
}

// parMap is one run of a ParMap: the receiver of what is before it, and the job of its
// source of tasks. The tasks are pieces.
//
//	cut     by send, from a batch; queued, and in input order at the end of the list
//	done    by a worker; under Unordered it joins the list only now
//	split   one that takes too long: what is finished becomes one before it that is done,
//	        what was not begun new ones behind it
//	taken   by the consumer, from the head of the list
//	spare   handed on
type parMap[T, R any] struct {
	f         func(context.Context, T) (R, error)
	g, up     *segment // of the consumer, and before
	calls     *scope
	place     option.Place
	unordered bool
	queue     int // -1: the default
	overload  func(error) bool
	pointers  bool
	most      int   // records in a piece, and in a batch
	reserve   int64 // records that may wait to be handed on, at most, however short the calls are
	alone     bool  // records are claimed one by one

	next   uint64         // number of the next record; belongs to send, and so does pieces
	pieces []*piece[T, R] // room for those of one batch
	taken  *piece[T, R]   // belongs to the consumer, and so does cause
	cause  error          // why there are no more after taken

	cost     atomic.Int64  // of a record, in picoseconds; 0: not known
	last     atomic.Uint64 // no piece behind it begins
	shut     atomic.Bool   // the pool has dropped what was queued
	asleep   atomic.Bool   // the consumer
	waiting  atomic.Bool   // the sender; written with mu held
	watching atomic.Bool   // some are running; written with mu held

	mu      sync.Mutex
	ahead   int           // records that have been let in, and not handed on
	vacant  chan struct{} // has one when the sender may look again
	raised  limit.Alarm
	spare   []*piece[T, R]
	blocks  []*batch[T]
	running []*piece[T, R] // of several records

	// guarded by the lock of the engine, which may be taken while mu is held
	head, tail *piece[T, R]
	open       int  // pieces that were cut and not taken
	fed        bool // there will be no more
	err        error
}

func newParMap[T, R any](g *segment, in *scope, f func(context.Context, T) (R, error), o *option.Options) *parMap[T, R] {
	m := &parMap[T, R]{
		f: f, g: g, calls: within(in.ctx),
		unordered: o.Unordered, queue: o.Room(-1), overload: o.Overload,
		pointers: hasPointers(reflect.TypeFor[T]()) || hasPointers(reflect.TypeFor[R]()),
		most:     min(batchSize[T](), batchSize[R]()),
		reserve:  reserveBytes / int64(max(1, size[T]()+size[R]())),
		vacant:   make(chan struct{}, 1),
	}
	m.last.Store(math.MaxUint64)
	m.up = g.run.segment(g, m.calls.ctx)                                  // may end by an error, which cancels no calls
	m.place.Open(m.calls.ctx, o.Labelled(m.calls.ctx), o, m, math.MaxInt) // the window is the bound
	limiter := m.place.Engine.Limiter()
	m.alone = m.place.Engine.Tuner() == nil && limiter.Bound() > runtime.GOMAXPROCS(0)
	m.raised.Wake = m.vacant
	limiter.Watch(&m.raised)
	g.run.clock.join(m)
	return m
}

// receive hands the results on.
func (m *parMap[T, R]) receive(to sink[R]) {
	for p := m.take(); p != nil; p = m.take() {
		more, err := pump(m.g, p.out[p.given:p.n], to), p.err
		if !more {
			return
		}
		m.handed(p)
		if err != nil {
			m.g.fail(err)
			return
		}
	}
}

// take waits for the next piece that is done. It returns nil when there is none, or
// nobody wants it.
func (m *parMap[T, R]) take() *piece[T, R] {
	if m.taken == nil {
		m.place.Source.Update(m.detach)
	}
	if m.taken == nil {
		m.g.pause()
		m.asleep.Store(true)
		m.place.Source.WaitUntil(func() bool {
			return m.head != nil && m.head.done || m.fed && m.open == 0 || m.calls.ctx.Err() != nil || m.shut.Load()
		}, m.detach)
		m.asleep.Store(false)
	}
	p := m.taken
	switch {
	case p != nil:
		m.taken = p.next
	case m.shut.Load():
		m.g.fail(stint.ErrClosed)
	case m.cause != nil:
		m.g.fail(m.cause)
	}
	return p
}

// detach takes all that is done from the head of the list. It is called with the lock of
// the engine held.
func (m *parMap[T, R]) detach() {
	var tail *piece[T, R]
	for p := m.head; p != nil && p.done; p = p.next {
		tail = p
		m.open--
	}
	if m.fed && m.open == 0 {
		m.cause = m.err
	}
	if tail == nil {
		return
	}
	m.taken, m.head, tail.next = m.head, tail.next, nil
	if m.head == nil {
		m.tail = nil
	}
}

// link counts pieces, and puts them into the list behind the piece after, or at its
// beginning if that is nil. It is called with the lock of the engine held.
func (m *parMap[T, R]) link(after *piece[T, R], pieces ...*piece[T, R]) {
	m.open += len(pieces)
	if !m.unordered {
		for _, p := range pieces {
			m.insert(after, p)
			after = p
		}
	}
}

// insert puts p behind the piece after.
func (m *parMap[T, R]) insert(after, p *piece[T, R]) {
	if after == nil {
		p.next, m.head = m.head, p
	} else {
		p.next, after.next = after.next, p
	}
	if p.next == nil {
		m.tail = p
	}
}

// before returns the piece before p in the list, or nil, or the last if p is in none.
func (m *parMap[T, R]) before(p *piece[T, R]) *piece[T, R] {
	if m.unordered {
		return m.tail
	}
	var before *piece[T, R]
	for q := m.head; q != p; q = q.next {
		before = q
	}
	return before
}

// end ends what is before, and the tasks.
func (m *parMap[T, R]) end() {
	m.place.Engine.Limiter().Unwatch(&m.raised)
	m.calls.cancel()
	m.up.end()
	m.place.Source.Stop()
	m.place.Wait()
	m.place.Close()
}

// handed makes room for what comes after p.
func (m *parMap[T, R]) handed(p *piece[T, R]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead -= len(p.in) - p.given
	if m.pointers {
		clear(p.in)
		clear(p.out[:p.n])
	}
	p.err, p.next = nil, nil
	m.spare = append(m.spare, p)
	m.vacate()
}

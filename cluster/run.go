package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
)

// A run is one run as its submitter has it.
//
// A task goes through these states, in this order:
//
//	pulled     by the feeder, which has got one of the credits for it, has waited until not too
//	           many bytes are under way, and made its cell
//	submitted  the server has acknowledged it; until then it is published again
//	arrived    its first result is in its cell
//	consumed   by the consumer, who removes the cell and gives the credit back
//
// What the server refuses since it is full, an item, a result, of which a worker tells, or a
// consumer of results, puts the run short of room, until a result arrives or an item is submitted. When
// it has been short of room for long, it fails with ErrFull.
//
// A hearing, a consumer of the results, ends when it is lost or results of it may be: one was, the
// connection was made again, or a result stays in the stream while nothing arrives. The next
// begins after the last that arrived.
//
// The consumer is the caller's goroutine. The feeder, the one who tends the record and
// the one who hears the results are tasks of a group, which may be dropped before they begin when
// the run ends. The one who waits for acknowledgements belongs to the feeder, and
// the results come on a goroutine of the NATS client. They share what is below mu. Whoever
// changes something that the consumer waits for wakes it.
type run struct {
	e   *Engine
	k   *kind
	rec *record
	ctx context.Context // ends with the run
	end context.CancelCauseFunc

	credits  chan struct{}    // one for each task that is pulled and not consumed
	freed    chan struct{}    // less may be under way: see WindowBytes
	unsure   chan publication // published once, and not acknowledged
	complete chan int         // how many tasks there are, once all are acknowledged
	sweep    chan struct{}    // many results are in the stream that have arrived
	room     chan struct{}    // a result has arrived: there may be room in the queue
	again    chan struct{}    // a result is in the stream and does not arrive: another consumer is to be heard
	woken    chan struct{}    // the consumer is to look again
	foreign  atomic.Bool      // it is not ours to remove
	over     *nats.Subscription
	heard    atomic.Uint64 // the last result, by its sequence in the stream
	heardAt  atomic.Int64  // when the server stored it, in nanoseconds since 1970
	unswept  atomic.Int64  // results that arrived since the last sweep
	bytes    atomic.Int64  // of these

	departing sync.Once
	atEnd     end // as depart has found
	erasing   sync.Once

	ears      context.Context // ends when the removal of listeners is not waited for any more
	cover     context.CancelFunc
	listeners sync.WaitGroup

	mu        sync.Mutex
	cells     map[int]cell
	bytesHeld int64 // of all cells
	largest   int64 // result that has arrived, or may
	order     []int // of those that arrived and were not consumed, if Unordered
	next      int   // the first that was not consumed, in input order
	consumed  int
	total     int // of all tasks; -1 until all are pulled
	resumed   bool
	arrived   int
	err       error     // the first failure
	full      time.Time // the server refused something of it, and nothing moved on since; zero: not so
	refused   time.Time // the last time
	told      time.Time // Log was told of that
	deaf      bool      // there are no more listeners
}

// A cell has the outcome of a task that was pulled, from its arrival on.
type cell struct {
	outcome   outcome
	bytes     int  // of the item; of the result when that has arrived
	confirmed bool // the server has the task
	arrived   bool
}

// begin makes a run in the engine.
func (e *Engine) begin(ctx context.Context, k *kind, rec *record) (*run, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := e.createConsumer(ctx, k); err != nil {
		return nil, e.unmade(ctx, k, err)
	}
	return e.attend(ctx, k, rec, -1)
}

// found writes the record of a new run.
func (r *run) found() error {
	err := r.e.write(r.ctx, r.rec)
	if err == errGone { // the one that was in the way
		err = r.e.write(r.ctx, r.rec)
	}
	if err == errMoved {
		r.foreign.Store(true)
		return fmt.Errorf("%w: %s", ErrRunExists, runOf(r.rec.Key))
	}
	return err
}

// unmade returns why there is no run: the end of the context or of the engine, or err.
func (e *Engine) unmade(ctx context.Context, k *kind, err error) error {
	return e.instead(ctx, fmt.Errorf("cluster: %s: %w", k.name, err))
}

// newRun returns a run as this submitter has it. If it is in the engine and is resumed,
// total is how many tasks there are; otherwise it is -1.
func (e *Engine) newRun(ctx context.Context, k *kind, rec *record, total int) *run {
	r := &run{
		e: e, k: k, rec: rec,
		credits: make(chan struct{}, rec.Window), freed: make(chan struct{}, 1), unsure: make(chan publication, inFlight),
		complete: make(chan int, 1), sweep: make(chan struct{}, 1), room: make(chan struct{}, 1), again: make(chan struct{}, 1), woken: make(chan struct{}, 1),
		cells: map[int]cell{}, largest: e.nc.MaxPayload(), total: total, resumed: total >= 0,
	}
	r.ctx, r.end = context.WithCancelCause(ctx)
	r.ears, r.cover = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// attend makes this submitter ready for the results of a run; total is as in newRun.
func (e *Engine) attend(ctx context.Context, k *kind, rec *record, total int) (*run, error) {
	r := e.newRun(ctx, k, rec, total)
	err := e.enter(r)
	if err != nil {
		r.end(err)
		return nil, err
	}
	r.over, err = e.nc.Subscribe(e.names.subject("over", rec.Key), r.overheard) // before anybody can find it
	if err == nil && !r.resumed {
		err = r.found()
	}
	if err == nil {
		err = e.balance(r.ctx, k)
	}
	if err == nil {
		return r, nil
	}
	lost := r.failure(context.Background())
	r.end(err) // what is heard from here on may be our own word
	if !r.resumed || ctx.Err() != nil {
		r.erase() // perhaps it was written; a run that is resumed stays unless it is cancelled
	}
	e.leave(r)
	switch {
	case lost != nil:
		return nil, lost
	case errors.Is(err, ErrRunExists):
		return nil, err
	}
	return nil, e.unmade(ctx, k, err)
}

// arrive puts an outcome into its cell. Another outcome of the same task is not for
// anybody: one that came late, when the first had been removed from the stream.
func (r *run) arrive(i int, o outcome) {
	r.mu.Lock()
	c, pulled := r.cells[i]
	fresh := pulled && !c.arrived || r.resumed && !pulled && r.next <= i && i < r.total
	if fresh {
		r.weigh(c.bytes, len(o.value))
		r.cells[i] = cell{o, len(o.value), c.confirmed, true}
		r.arrived++
		r.full = time.Time{}
		if r.rec.Unordered {
			r.order = append(r.order, i)
		}
	}
	r.mu.Unlock()
	if !fresh {
		return
	}
	post(r.room, struct{}{})
	post(r.freed, struct{}{})
	if o.err != nil && !r.rec.KeepGoing {
		r.fail(o.err)
	}
	post(r.woken, struct{}{})
}

// post leaves v in a channel with one place, instead of what is there.
func post[T any](c chan T, v T) {
	for {
		select {
		case c <- v:
			return
		default:
		}
		select {
		case <-c:
		default:
		}
	}
}

// fail ends the run with err, unless it has ended already.
func (r *run) fail(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.end(ErrCanceled)
}

// failure returns why there are no more results.
func (r *run) failure(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	return context.Cause(ctx) // also when all are consumed: a sequence may have been cut short by it
}

// take waits for the next outcome. It returns false when there is none: all are
// consumed, or the run has failed and the next is not there.
func (r *run) take() (i int, o outcome, ok bool) {
	for {
		ended := r.ctx.Err() != nil // looked at first: what arrived before is consumed
		r.mu.Lock()
		i, ok = r.ready()
		if ok {
			o = r.cells[i].outcome
			r.bytesHeld -= int64(r.cells[i].bytes)
			delete(r.cells, i)
			r.consumed++
		}
		ended = ended || r.consumed == r.total
		r.mu.Unlock()
		if ok {
			select {
			case <-r.credits:
			default: // resumed: nobody took one
			}
			post(r.freed, struct{}{})
			return i, o, true
		}
		if ended {
			return 0, outcome{}, false
		}
		select {
		case <-r.woken:
		case <-r.ctx.Done():
		}
	}
}

// ready returns the index of the outcome that is to be consumed next, if it has
// arrived and is not the failure that ended the run. mu is held.
func (r *run) ready() (i int, ok bool) {
	if r.rec.Unordered {
		if len(r.order) == 0 {
			return 0, false
		}
		i = r.order[0]
	} else {
		i = r.next
	}
	c := r.cells[i]
	if !c.arrived || c.outcome.err != nil && !r.rec.KeepGoing {
		return 0, false
	}
	if r.rec.Unordered {
		r.order = r.order[1:]
	} else {
		r.next++
	}
	return i, true
}

// submit is a run from its beginning. It returns when the last result was consumed,
// the consumer wants no more, or the run has failed.
func (t *Task[In, Out]) submit(ctx context.Context, e *Engine, rec *record, seq iter.Seq[In], consume func(int, Out, error) bool) error {
	r, err := e.begin(ctx, &t.kind, rec)
	if err != nil {
		return err
	}
	return t.drive(ctx, r, consume, func(ctx context.Context) error { return t.feed(ctx, r, seq) }, r.tend, r.hear)
}

// drive runs what is in the background of a run beside its consumer, waits for it, and
// removes the run.
func (t *Task[In, Out]) drive(ctx context.Context, r *run, consume func(int, Out, error) bool, background ...func(context.Context) error) (err error) {
	g := stint.NewGroup(r.ctx, stint.Limit(len(background)))
	for _, f := range background {
		g.Go(func(ctx context.Context) error {
			returned := false
			defer func() {
				if !returned { // Wait raises a panic, but the consumer has to be told
					r.fail(stint.ErrGoexit)
				}
			}()
			if err := f(ctx); err != nil {
				r.fail(err)
			}
			returned = true
			return nil
		})
	}
	closed := context.AfterFunc(r.e.life, func() {
		r.foreign.Store(r.rec.Named)
		r.fail(context.Cause(r.e.life))
	})
	defer func() {
		defer r.e.leave(r)
		r.end(ErrCanceled)
		closed()
		defer func() {
			r.erase()
			if err == nil {
				err = r.taken()
			}
		}()
		g.Wait()
	}()
	return t.consume(ctx, r, consume)
}

// consume hands the results on.
func (t *Task[In, Out]) consume(ctx context.Context, r *run, consume func(int, Out, error) bool) error {
	for {
		i, o, ok := r.take()
		if !ok {
			return r.failure(ctx)
		}
		v, err := t.decoded(o)
		if err != nil {
			if !r.rec.KeepGoing {
				return err
			}
			err = &stint.ItemError{Index: i, Err: err}
		}
		if !consume(i, v, err) {
			return nil
		}
	}
}

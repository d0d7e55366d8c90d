package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
)

// A run is the submitter's side of a run. A task goes through these states:
//
//	pulled     by the feeder, with a credit, when few enough bytes are in progress; it has a cell
//	submitted  the server has acknowledged it; until then it is published again
//	arrived    its first result is in its cell
//	delivered  to the caller, who removes the cell and returns the credit
//
// Results are delivered on the caller's goroutine. The feeder, the heartbeat and the
// consumer of results are tasks of a group, which may be dropped before they start when the
// run ends. Acknowledgements are awaited on a goroutine of the feeder, and results arrive
// on a goroutine of the NATS client. They share the fields below mu. Changes wake take if
// it waits for them.
//
// A run is full when the server has refused an item, a consumer or a result, which a worker
// reports, for lack of room, until a result arrives or an item is submitted. When it has
// been full for FullTimeout, it ends with ErrFull.
type run struct {
	client *Client
	k      *kind
	rec    *record
	ctx    context.Context // ends with the run
	end    context.CancelCauseFunc

	credits   chan struct{}    // one for each task that is pulled and not delivered
	freed     chan struct{}    // fewer bytes are in progress
	unacked   chan publication // published once, and not acknowledged
	submitted chan int         // the number of tasks, when all are acknowledged
	purgeNow  chan struct{}    // many results on the server have arrived
	progress  chan struct{}    // a result has arrived: the queue may have room
	reconsume chan struct{}    // a result on the server does not arrive: make another consumer
	woken     chan struct{}    // take has to look again
	foreign   atomic.Bool      // not this submitter's to remove
	over      *nats.Subscription
	lastSeq   atomic.Uint64 // of the last result, in the stream
	lastTime  atomic.Int64  // when the server stored that, in Unix nanoseconds
	unpurged  atomic.Int64  // results that arrived since the last purge
	bytes     atomic.Int64  // of these

	finishing  sync.Once
	atEnd      end // as finish has found
	cleaningUp sync.Once

	consumersCtx  context.Context // ends when the run no longer waits for the deletion of consumers
	stopConsumers context.CancelFunc
	consumers     sync.WaitGroup

	mu          sync.Mutex
	cells       map[int]cell
	bytesHeld   int64 // of all cells
	largest     int64 // result that has arrived, or may
	order       []int // of the tasks that arrived and were not delivered, if Unordered
	next        int   // the first that was not delivered, in input order
	delivered   int
	total       int // of all tasks; -1 until all are pulled
	resumed     bool
	arrived     int
	err         error     // the first failure
	full        time.Time // since when the run is full; zero: it is not
	refused     time.Time // the last time, for lack of room
	warned      time.Time // the last time Log reported that
	noConsumers bool      // no more consumers are made

	receiving sync.Mutex // held while a message of a consumer is taken: one that was lost may still take its latest
	received  bool       // no more are taken, as the run ends
}

// A cell holds the outcome of a task, from when the task is pulled until it is delivered.
type cell struct {
	outcome   outcome
	bytes     int  // of the item; after arrival, of the result
	confirmed bool // the server has the task
	arrived   bool
	parts     map[string]int // how many of each call have arrived, before the result
}

// submit starts a run and drives it to its end.
func (t *Task[In, Out]) submit(ctx context.Context, c *Client, rec *record, source func(context.Context, func(In) bool) error, yield func(int, Out, error) bool) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := c.createConsumer(ctx, &t.kind); err != nil {
		return c.notStarted(ctx, &t.kind, err)
	}
	r, err := c.start(ctx, &t.kind, rec, -1)
	if err != nil {
		return err
	}
	return t.drive(ctx, r, yield, func(ctx context.Context) error { return t.feed(ctx, r, source) }, r.heartbeat, r.consume)
}

// newRun returns a run. If it is resumed total is the number of its tasks, otherwise -1.
func (c *Client) newRun(ctx context.Context, k *kind, rec *record, total int) *run {
	r := &run{
		client: c, k: k, rec: rec,
		credits: make(chan struct{}, rec.Window), freed: make(chan struct{}, 1), unacked: make(chan publication, maxUnacked),
		submitted: make(chan int, 1), purgeNow: make(chan struct{}, 1), progress: make(chan struct{}, 1), reconsume: make(chan struct{}, 1), woken: make(chan struct{}, 1),
		cells: map[int]cell{}, largest: c.maxData("results"), total: total, resumed: total >= 0,
	}
	r.ctx, r.end = context.WithCancelCause(ctx)
	r.consumersCtx, r.stopConsumers = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// start makes this submitter ready for the results of a run, and writes the record of a new
// run. total is as in newRun.
func (c *Client) start(ctx context.Context, k *kind, rec *record, total int) (*run, error) {
	r := c.newRun(ctx, k, rec, total)
	err := c.enter(r)
	if err != nil {
		r.end(err)
		return nil, err
	}
	r.over, err = c.nc.Subscribe(c.names.subject("over", rec.Key), r.onOver) // before anybody can find the run
	if err == nil && !r.resumed {
		err = r.create()
	}
	if err == nil {
		err = c.updateLimit(r.ctx, k, rec.Limit)
	}
	if err == nil {
		return r, nil
	}
	failure := r.failure(context.Background())
	r.end(err) // onOver ignores what this submitter publishes itself
	if !r.resumed || ctx.Err() != nil {
		r.cleanup() // the record may be there; a run that was to be resumed stays unless cancelled
	}
	c.leave(r)
	switch {
	case failure != nil:
		return nil, failure
	case errors.Is(err, ErrRunExists):
		return nil, err
	}
	return nil, c.notStarted(ctx, k, err)
}

// create writes the record of a new run.
func (r *run) create() error {
	err := r.client.write(r.ctx, r.rec, r.client.conf.fullTimeout)
	if err == errGone { // the record that was in its place
		err = r.client.write(r.ctx, r.rec, r.client.conf.fullTimeout)
	}
	if err == errMoved {
		r.foreign.Store(true)
		return fmt.Errorf("%w: %s", ErrRunExists, runOf(r.rec.Key))
	}
	return err
}

// notStarted returns the error of a run that was not started because of err.
func (c *Client) notStarted(ctx context.Context, k *kind, err error) error {
	return c.orCause(ctx, fmt.Errorf("cluster: %s: %w", k.name, err))
}

// drive runs background functions while it delivers results, waits for them, and cleans up.
func (t *Task[In, Out]) drive(ctx context.Context, r *run, yield func(int, Out, error) bool, background ...func(context.Context) error) (err error) {
	g := stint.NewGroup(r.ctx, stint.Limit(len(background)))
	for _, f := range background {
		g.Go(func(ctx context.Context) error {
			returned := false
			defer func() {
				if !returned { // Wait raises the panic; take has to return before that
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
	closed := context.AfterFunc(r.client.life, func() {
		r.foreign.Store(r.rec.Named)
		r.fail(context.Cause(r.client.life))
	})
	defer func() {
		defer r.client.leave(r)
		r.end(ErrCanceled)
		closed()
		defer func() {
			r.cleanup()
			if err == nil {
				err = r.lost()
			}
		}()
		g.Wait()
	}()
	return t.deliver(ctx, r, yield)
}

// deliver yields the results.
func (t *Task[In, Out]) deliver(ctx context.Context, r *run, yield func(int, Out, error) bool) error {
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
		if !yield(i, v, err) {
			return nil
		}
	}
}

// take waits for the next outcome. It returns false if all are delivered, or the run has
// ended and the next outcome has not arrived.
func (r *run) take() (i int, o outcome, ok bool) {
	for {
		ended := r.ctx.Err() != nil // read first: what arrived before is delivered
		r.mu.Lock()
		i, ok = r.ready()
		if ok {
			o = r.cells[i].outcome
			r.bytesHeld -= int64(r.cells[i].bytes)
			delete(r.cells, i)
			r.delivered++
		}
		ended = ended || r.delivered == r.total
		r.mu.Unlock()
		if ok {
			select {
			case <-r.credits:
			default: // of a resumed run
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

// ready returns the index of the outcome that is delivered next, if it has arrived and is not
// the failure that ended the run. mu is held.
func (r *run) ready() (i int, ok bool) {
	i = r.next
	if r.rec.Unordered {
		if len(r.order) == 0 {
			return 0, false
		}
		i = r.order[0]
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

// arrive puts an outcome into its cell. It drops a second outcome of the same task, which
// may be stored after the first was removed from the stream.
func (r *run) arrive(i int, o outcome) {
	r.mu.Lock()
	c, pulled := r.cells[i]
	first := pulled && !c.arrived || r.resumed && !pulled && r.next <= i && i < r.total
	if first {
		r.bytesHeld += int64(len(o.value) - c.bytes)
		if r.arrived == 0 {
			r.largest = 0
		}
		r.largest = max(r.largest, int64(len(o.value)))
		r.cells[i] = cell{outcome: o, bytes: len(o.value), confirmed: c.confirmed, arrived: true}
		r.arrived++
		r.full = time.Time{}
		if r.rec.Unordered {
			r.order = append(r.order, i)
		}
	}
	r.mu.Unlock()
	if !first {
		return
	}
	post(r.progress, struct{}{})
	post(r.freed, struct{}{})
	if o.err != nil && !r.rec.KeepGoing {
		r.fail(o.err)
	}
	post(r.woken, struct{}{})
}

// fail ends the run with err, unless it has ended already.
func (r *run) fail(err error) {
	r.note(err)
	r.end(ErrCanceled)
}

// note makes err the first failure, unless there is one.
func (r *run) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// failure returns why there are no more results.
func (r *run) failure(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	return context.Cause(ctx) // also when all are delivered: the end of ctx may have cut seq short
}

func (r *run) warn(what string, err error) {
	r.client.conf.log.Warn("cluster: a run: "+what, "run", runOf(r.rec.Key), "error", err)
}

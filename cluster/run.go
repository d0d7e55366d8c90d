package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
)

// A run is one run as its submitter has it.
//
// A task goes through these states, in this order:
//
//	pulled     by the feeder, which has got one of the credits for it, and made its cell
//	submitted  the server has acknowledged it; until then it is published again
//	arrived    its first result is in its cell
//	consumed   by the consumer, who removes the cell and gives the credit back
//
// The consumer is the caller's goroutine. The feeder, the one who waits for
// acknowledgements and the one who tends the record are tasks of a group, and the
// results come on a goroutine of the NATS client. They share what is below mu. Whoever
// changes something that the consumer waits for wakes it.
type run struct {
	e   *Engine
	k   *kind
	rec *record
	ctx context.Context // ends with the run
	end context.CancelCauseFunc

	credits  chan struct{}    // one for each task that is pulled and not consumed
	unsure   chan publication // published once, and not acknowledged
	complete chan int         // how many tasks there are, once all are acknowledged
	sweep    chan struct{}    // many results are in the stream that have arrived
	room     chan struct{}    // a result has arrived: there may be room in the queue
	woken    chan struct{}    // the consumer is to look again
	results  jetstream.ConsumeContext
	foreign  atomic.Bool                   // it is not ours to remove
	last     atomic.Pointer[jetstream.Msg] // result that came
	unswept  atomic.Int64                  // results that arrived since the last sweep
	bytes    atomic.Int64                  // of these

	mu       sync.Mutex
	cells    map[int]cell
	order    []int // of those that arrived and were not consumed, if Unordered
	next     int   // the first that was not consumed, in input order
	consumed int
	total    int // of all tasks; -1 until all are pulled
	resumed  bool
	arrived  int
	err      error // the first failure
}

// A cell has the outcome of a task that was pulled, from its arrival on.
type cell struct {
	outcome   outcome
	confirmed bool // the server has the task
	arrived   bool
}

// A publication is a task that was published once; future is nil if not even that
// was possible.
type publication struct {
	index  int
	data   []byte
	future jetstream.PubAckFuture
}

const (
	inFlight   = 256     // publications that wait for their acknowledgements
	sweepAfter = 1024    // results
	sweepBytes = 4 << 20 // of results
	glance     = 5 * time.Second
	vouchAfter = 15 * time.Second
)

// begin makes a run in the engine.
func (e *Engine) begin(ctx context.Context, k *kind, rec *record) (*run, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := e.createConsumer(ctx, k); err != nil {
		return nil, e.unmade(ctx, k, err)
	}
	switch err := e.write(ctx, rec); {
	case err == errMoved:
		return nil, fmt.Errorf("%w: %s", ErrRunExists, runOf(rec.Key))
	case err != nil:
		(&run{e: e, k: k, rec: rec, ctx: ctx}).erase() // perhaps it was written
		return nil, e.unmade(ctx, k, err)
	}
	return e.attend(ctx, k, rec, -1)
}

// unmade returns why there is no run: the end of the context or of the engine, or err.
func (e *Engine) unmade(ctx context.Context, k *kind, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return e.gone(fmt.Errorf("cluster: %s: %w", k.name, err))
}

// attend makes this submitter ready for the results of a run that is in the engine.
// If the run is resumed, total is how many there are; otherwise it is -1.
func (e *Engine) attend(ctx context.Context, k *kind, rec *record, total int) (*run, error) {
	r := &run{
		e: e, k: k, rec: rec,
		credits: make(chan struct{}, rec.Window), unsure: make(chan publication, inFlight),
		complete: make(chan int, 1), sweep: make(chan struct{}, 1), room: make(chan struct{}, 1), woken: make(chan struct{}, 1),
		cells: map[int]cell{}, total: total, resumed: total >= 0,
	}
	r.ctx, r.end = context.WithCancelCause(ctx)
	err := e.balance(r.ctx, k)
	if err == nil {
		err = r.listen()
	}
	if err != nil {
		r.end(err)
		if total < 0 {
			r.erase()
		}
		return nil, e.unmade(ctx, k, err)
	}
	return r, nil
}

// listen begins to receive results.
func (r *run) listen() (err error) {
	var source jetstream.Consumer
	err = r.e.ask(r.ctx, func(ctx context.Context) (err error) {
		source, err = r.e.stream["results"].OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
			FilterSubjects:    []string{r.e.names.subject("result", r.rec.Key, "*")},
			NamePrefix:        r.e.names.stream("") + r.rec.Owner,
			InactiveThreshold: time.Minute,
		})
		return err
	})
	if err != nil {
		return err
	}
	r.results, err = source.Consume(r.receive)
	return err
}

// deaf ends what listen began. The consumer would go by itself, after some time. Its
// name is that of the last one that a result came from: the client makes another one,
// and is not to be asked for its name, while the server is away.
func (r *run) deaf() {
	r.results.Stop()
	name := r.e.names.stream("") + r.rec.Owner + "_1"
	if last := r.last.Load(); last != nil {
		if meta, err := (*last).Metadata(); err == nil {
			name = meta.Consumer
		}
	}
	ctx, stop := r.parting()
	defer stop()
	err := r.e.ask(ctx, func(ctx context.Context) error { return r.e.stream["results"].DeleteConsumer(ctx, name) })
	if err != nil && r.e.life.Err() == nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		r.e.conf.Log.Warn("cluster: the consumer of results could not be removed", "run", runOf(r.rec.Key), "error", err)
	}
}

// receive takes a result from the stream.
func (r *run) receive(m jetstream.Msg) {
	subject := m.Subject()
	i, err := strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:])
	if err != nil {
		return // not ours
	}
	r.last.Store(&m)
	r.arrive(i, r.k.outcome(m.Headers(), m.Data()))
	if r.rec.Named {
		return
	}
	if n, b := r.unswept.Add(1), r.bytes.Add(int64(len(m.Data()))); n >= sweepAfter || b >= sweepBytes {
		post(r.sweep, struct{}{})
	}
}

// arrive puts an outcome into its cell. Another outcome of the same task is not for
// anybody: one that came late, when the first had been removed from the stream.
func (r *run) arrive(i int, o outcome) {
	r.mu.Lock()
	c, pulled := r.cells[i]
	fresh := pulled && !c.arrived || r.resumed && !pulled && r.next <= i && i < r.total
	if fresh {
		r.cells[i] = cell{o, c.confirmed, true}
		r.arrived++
		if r.rec.Unordered {
			r.order = append(r.order, i)
		}
	}
	r.mu.Unlock()
	if !fresh {
		return
	}
	post(r.room, struct{}{})
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

// feed pulls the sequence and publishes its values.
func (t *Task[In, Out]) feed(r *run, seq iter.Seq[In]) error {
	defer close(r.unsure)
	n := 0
	if !r.credit() {
		return nil
	}
	for v := range seq {
		r.pulled(n)
		data, err := t.kind.marshal(v)
		if err == nil {
			err = r.e.checkSize(&t.kind, "item", data)
		}
		if err != nil {
			r.unsent(n, err)
		} else {
			r.publish(n, data)
		}
		n++
		if !r.credit() {
			return nil
		}
	}
	r.mu.Lock()
	r.total = n
	r.mu.Unlock()
	post(r.woken, struct{}{})
	return nil
}

// unsent is the outcome of an item that cannot be sent. If the run can be resumed it is
// stored like one of a worker, and comes from there.
func (r *run) unsent(i int, err error) {
	o := outcome{err: err}
	if r.rec.Named && r.rec.KeepGoing {
		m := r.e.message(r.k, r.e.names.of("result", r.rec.Key, i), o)
		if r.e.ask(r.ctx, func(context.Context) error { return r.e.store(m) }) == nil {
			return
		}
	}
	r.arrive(i, o)
}

// credit waits until one more task may be pulled.
func (r *run) credit() bool {
	select {
	case r.credits <- struct{}{}:
		return r.ctx.Err() == nil
	case <-r.ctx.Done():
		return false
	}
}

// pulled makes the cell of a task.
func (r *run) pulled(i int) {
	r.mu.Lock()
	r.cells[i] = cell{}
	r.mu.Unlock()
}

// subject returns the one on which a task of the run is published.
func (r *run) subject(i int) string {
	return r.e.names.subject("task", r.k.token, r.rec.Key, strconv.Itoa(i))
}

// publish sends a task to the queue, and leaves it to acknowledge, who is there until
// the feeder ends, to see that it arrives.
func (r *run) publish(i int, data []byte) {
	future, err := r.e.js.PublishAsync(r.subject(i), data)
	if err != nil {
		future = nil
	}
	r.unsure <- publication{i, data, future}
}

// acknowledge waits for the acknowledgements of what was published, and publishes
// again what got none. It also waits when the run has ended: what the server takes
// later could not be removed from the queue.
func (r *run) acknowledge(context.Context) error {
	for p := range r.unsure {
		err := r.outcomeOf(p.future)
		if err == nil || r.insist(p, err) {
			r.confirm(p.index)
		}
	}
	r.mu.Lock()
	total := r.total
	r.mu.Unlock()
	if total >= 0 {
		r.complete <- total
	}
	return nil
}

// confirm notes that the server has a task.
func (r *run) confirm(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.cells[i]; ok {
		c.confirmed = true
		r.cells[i] = c
	}
}

// outcomeOf waits for the answer to a publication.
func (r *run) outcomeOf(f jetstream.PubAckFuture) error {
	if f == nil {
		return jetstream.ErrNoStreamResponse
	}
	select {
	case <-f.Ok():
		return nil
	case err := <-f.Err():
		return err
	case <-r.e.life.Done():
		return stint.ErrClosed
	}
}

// insist publishes a task until the server has it, which it reports, or will not take it,
// or the run has ended.
func (r *run) insist(p publication, err error) bool {
	for n := 0; err != nil && r.ctx.Err() == nil; n++ {
		switch refused(err) {
		case taken:
			return true
		case never:
			r.arrive(p.index, outcome{err: fmt.Errorf("%w: item of %s: %w", ErrTooLarge, r.k.name, err)})
			return false
		case unsure:
			if n == patience {
				r.warn("the server does not take an item; it is sent until it does", err)
			}
		}
		select {
		case <-time.After(min(backoff(time.Millisecond, n), time.Second)):
		case <-r.room:
		case <-r.ctx.Done():
			return false
		}
		m := nats.NewMsg(r.subject(p.index))
		m.Data = p.data
		err = r.e.store(m)
	}
	return err == nil
}

// patience is after how many refusals in a row the log says so.
const patience = 8

// tend keeps the record of the run, looks whether it is still there when nothing
// arrives, and removes results that are not needed any more.
func (r *run) tend(ctx context.Context) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	written, arrived, missed := time.Now(), 0, 0
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-r.sweep:
			err = r.clean(ctx)
		case r.rec.Submitted = <-r.complete:
			if r.rec.Named {
				err = r.e.write(ctx, r.rec)
			}
		case <-tick.C:
			if err := r.clean(ctx); err != nil && ctx.Err() == nil {
				r.warn("its results that have arrived stay in the stream", err)
			}
			now := r.count()
			switch {
			case time.Since(written) > vouchAfter:
				written = time.Now()
				missed, err = r.vouch(ctx, missed)
			case now == arrived:
				missed, err = r.look(ctx, missed)
			default:
				missed = 0
			}
			arrived = now
		}
		if err == errMoved {
			r.foreign.Store(true)
			return fmt.Errorf("%w: another submitter has resumed %s", ErrRunLost, runOf(r.rec.Key))
		}
		if err != nil && ctx.Err() == nil {
			r.warn("its record", err)
		}
		if missed == 2 {
			return fmt.Errorf("%w: %s, or what it has of it is not whole", ErrRunLost, runOf(r.rec.Key))
		}
	}
}

// vouch writes the record again, so that it does not expire, and lets a limit go whose
// run has not done that.
func (r *run) vouch(ctx context.Context, missed int) (int, error) {
	missed, err := r.look(ctx, missed)
	if err == nil && missed == 0 {
		err = r.e.write(ctx, r.rec)
	}
	if err == nil {
		err = r.e.balance(ctx, r.k)
	}
	return missed, err
}

// clean removes the results that have arrived from the stream, unless they are kept.
func (r *run) clean(ctx context.Context) error {
	last := r.last.Load()
	if r.rec.Named || last == nil || r.unswept.Swap(0) == 0 {
		return nil
	}
	r.bytes.Store(0)
	meta, err := (*last).Metadata()
	if err != nil {
		return err
	}
	return r.e.purge(ctx, "results", r.e.names.subject("result", r.rec.Key, "*"), jetstream.WithPurgeSequence(meta.Sequence.Stream+1))
}

func (r *run) warn(what string, err error) {
	r.e.conf.Log.Warn("cluster: a run: "+what, "run", runOf(r.rec.Key), "error", err)
}

// count returns how many results have arrived.
func (r *run) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.arrived
}

// look reads the record, and looks whether the task that is waited for is there. It
// returns how many times in a row one of them was not: one time is not enough to
// believe it, while servers come and go.
func (r *run) look(ctx context.Context, missed int) (int, error) {
	rec, err := r.e.read(ctx, r.rec.Run)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound), rec == nil && err == nil && r.rec.Named:
		return missed + 1, nil
	case rec == nil && err == nil: // it has expired while the server was not reached
		r.rec.seq = 0
		return 0, r.e.write(ctx, r.rec)
	case err != nil:
		return missed, err
	case rec.Owner != r.rec.Owner:
		return 0, errMoved
	}
	whole, err := r.whole(ctx)
	if err != nil {
		return missed, err
	}
	if !whole {
		return missed + 1, nil
	}
	return 0, nil
}

// whole reports whether the task that was confirmed and not heard of for longest is
// queued or has a result. The queue is asked first, since a task leaves it after its result is
// there.
func (r *run) whole(ctx context.Context) (bool, error) {
	r.mu.Lock()
	i := r.oldest()
	r.mu.Unlock()
	if i < 0 {
		return true, nil
	}
	m, err := r.e.last(ctx, "tasks", r.subject(i))
	if m == nil && err == nil {
		m, err = r.e.last(ctx, "results", r.e.names.of("result", r.rec.Key, i))
	}
	if m == nil && err == nil { // unless it arrived meanwhile
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.oldest() != i, nil
	}
	return true, err
}

// oldest returns the first task that was confirmed and has not arrived; -1 if there is
// none. mu is held.
func (r *run) oldest() int {
	if r.resumed {
		if r.next < r.total && !r.cells[r.next].arrived {
			return r.next
		}
		return -1
	}
	first := -1
	for i, c := range r.cells {
		if c.confirmed && !c.arrived && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// submit is a run from its beginning. It returns when the last result was consumed,
// the consumer wants no more, or the run has failed.
func (t *Task[In, Out]) submit(ctx context.Context, e *Engine, rec *record, seq iter.Seq[In], consume func(int, Out, error) bool) error {
	r, err := e.begin(ctx, &t.kind, rec)
	if err != nil {
		return err
	}
	return t.drive(ctx, r, consume, func(context.Context) error { return t.feed(r, seq) }, r.acknowledge, r.tend)
}

// drive runs what is in the background of a run beside its consumer, waits for it, and
// removes the run.
func (t *Task[In, Out]) drive(ctx context.Context, r *run, consume func(int, Out, error) bool, background ...func(context.Context) error) error {
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
	r.e.enter(r)
	closed := context.AfterFunc(r.e.life, func() {
		r.foreign.Store(r.rec.Named)
		r.fail(context.Cause(r.e.life))
	})
	defer func() {
		defer r.e.leave(r)
		r.end(ErrCanceled)
		closed()
		r.deaf()
		defer r.erase()
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

// What is said of a run that is over.
const (
	completed = "completed" // all its results were there
	cancelled = "cancelled"
)

// state returns which of the two it is.
func (r *run) state() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.consumed == r.total {
		return completed
	}
	return cancelled
}

// parting bounds what is done when a run has ended: servers that elect a leader need
// some time, and one that is away is not waited for that long.
func (r *run) parting() (context.Context, context.CancelFunc) {
	most := 30 * time.Second
	if !r.e.nc.IsConnected() {
		most = 5 * time.Second
	}
	return context.WithTimeout(context.WithoutCancel(r.ctx), most)
}

// erase removes the run from the engine: its record, so that workers that come later
// know; what workers have, by a message; what is queued; and its results. A run that
// belongs to another submitter now stays, and one with a Name whose engine was closed.
func (r *run) erase() {
	if r.foreign.Load() {
		return
	}
	ctx, stop := r.parting()
	defer stop()
	if ours, err := r.e.drop(ctx, r.rec); err != nil || !ours {
		if err != nil {
			r.warn("it could not be removed", err)
		}
		return
	}
	key := r.rec.Key
	for _, err := range []error{
		r.e.nc.Publish(r.e.names.subject("over", key), []byte(r.state())),
		r.e.remove(ctx, "tasks", r.e.names.subject("task", r.k.token, key, "*")),
		r.e.purge(ctx, "results", r.e.names.subject("result", key, "*")),
		r.e.purge(ctx, "runs", r.e.names.subject("alone", key, "*")),
		r.e.balance(ctx, r.k),
	} {
		if err != nil {
			r.warn("something of it could not be removed", err)
		}
	}
}

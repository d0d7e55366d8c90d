package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/option"
)

const serveOptions = option.Limiter | option.Burst | option.Name

// Serve is a worker: it runs tasks that were given to Handle, from all runs, until ctx
// ends. It then takes no more, and returns nil when the last one that it has
// has ended; their contexts do not end with ctx. It returns stint.ErrClosed
// when the engine is closed, and an error if the server refuses it at the beginning.
// While the server cannot be reached it waits.
//
// It has as many slots as its limit says, and asks the server for as many tasks as slots
// are free, so that no task waits here while another worker is free. Without a limiter
// the limit finds itself, as in stint.NewPool; it rises only while there is more in
// the queue.
//
// Each minute one of the workers of a cluster removes what runs have left whose submitters
// died, as Purge does.
//
// Give it a limiter of its own: a slot has its place also while it waits for a task. When
// ctx ends while the server cannot be reached, the results of what has ended are sent
// until the lease is over.
//
// Options: a Limiter, Burst, Name. Serve panics if ctx or e is nil, or nothing was given
// to Handle.
func Serve(ctx context.Context, e *Engine, opts ...stint.Option) error {
	switch {
	case ctx == nil:
		panic("cluster: Serve: nil Context")
	case e == nil:
		panic("cluster: Serve: nil Engine")
	}
	option.Collect("cluster", "Serve", serveOptions, opts)
	w := newWorker(e, opts)
	defer w.pool.Close()
	if err := w.open(ctx); err != nil {
		w.close()
		if ctx.Err() != nil {
			return context.Cause(e.life)
		}
		return e.gone(fmt.Errorf("cluster: Serve: %w", err))
	}
	w.offerSlots(ctx)
	w.close()
	return context.Cause(e.life)
}

// sending is how many results a worker sends at once, beside what its slots do. A slot
// waits when there are more.
const sending = 1024

// A worker is one call of Serve.
type worker struct {
	e      *Engine
	id     string
	pool   *stint.Pool // of slots: a task of the pool is one slot, for one task of the cluster
	sender *stint.Pool // of results, so that a slot is free when the function has returned
	kinds  map[string]Handler
	puller *puller
	leases *leases
	runs   *liveRuns
	alone  sync.RWMutex // held for reading by those who run a task, for writing by who runs one alone
	asked  *nats.Subscription
	done   atomic.Int64

	abandoned atomic.Int64 // calls that were left behind and have not returned
}

func newWorker(e *Engine, opts []stint.Option) *worker {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.handlers) == 0 {
		panic("cluster: Serve: no task was given to Handle")
	}
	e.served = true
	w := &worker{e: e, id: nuid.Next(), kinds: e.handlers}
	// One slot waits for its place, so that its worker goes on with it at once.
	w.pool = stint.NewPool(append(opts[:len(opts):len(opts)], stint.Queue(1))...)
	w.sender = stint.NewPool(stint.Limit(sending), stint.Queue(0))
	w.leases = newLeases(e)
	w.runs = newLiveRuns(e, w.leases)
	w.puller = newPuller(e, w.kinds)
	e.workers[w] = true
	return w
}

// open connects the worker to the queue.
func (w *worker) open(ctx context.Context) error {
	for _, h := range w.kinds {
		if err := w.e.createConsumer(ctx, h.about()); err != nil {
			return fmt.Errorf("%s: %w", h.Name(), err)
		}
	}
	err := w.runs.open()
	if err == nil {
		err = w.leases.open()
	}
	if err == nil {
		err = w.puller.open()
	}
	if err == nil {
		w.asked, err = w.e.nc.Subscribe(w.e.names.subject("workers"), w.answer)
	}
	if err != nil {
		return err
	}
	_ = w.e.ask(ctx, w.e.nc.FlushWithContext) // what was subscribed to is not answered, but refused
	if denied := w.e.nc.LastError(); errors.Is(denied, nats.ErrPermissionViolation) && strings.Contains(denied.Error(), "Subscription") {
		return denied
	}
	return nil
}

// offerSlots opens slots as the puller wants them and the limit allows, until ctx ends.
func (w *worker) offerSlots(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(w.e.life, stop)()
	for w.puller.wanted(ctx) && w.pool.GoContext(ctx, w.slot) == nil {
	}
}

// close ends the worker: no more tasks are taken, and those that are here end.
func (w *worker) close() {
	w.puller.close()
	w.pool.Close()
	close(w.runs.leaving)
	w.sender.Close()
	w.leases.close()
	w.runs.close()
	if w.asked != nil {
		_ = w.asked.Unsubscribe()
	}
	w.e.mu.Lock()
	delete(w.e.workers, w)
	w.e.mu.Unlock()
}

// slot waits for a task and runs it.
func (w *worker) slot(ctx context.Context) {
	d := w.puller.next()
	if d == nil {
		return // the worker ends
	}
	l := w.leases.hold(ctx, d)
	send := func() {}
	defer func() { // also after a Goexit of the function
		if w.sender.GoContext(w.e.life, func(context.Context) {
			defer w.leases.release(l)
			send()
		}) != nil {
			w.leases.release(l) // the engine was closed
		}
	}()
	if d.key == "" {
		send = func() { w.reject(l) }
		return
	}
	found, err := w.runs.look(l.ctx, d.key)
	switch {
	case err != nil:
		send = l.giveBack
	case found == live:
		defer w.done.Add(1)
		w.perform(l, &send)
	default:
		send = func() {
			if w.runs.dead(l.ctx, d.key) {
				w.settle(l, nil)
			} else {
				l.giveBack()
			}
		}
	}
}

// perform runs the task, and says how to send what comes of it, unless it has done that.
func (w *worker) perform(l *lease, send *func()) {
	if l.deliveries > 1 {
		if known, _ := w.e.last(l.ctx, "results", l.result()); known != nil && isOwn(known.Header) {
			*send = func() { w.settle(l, nil) } // only the end of the task was lost
			return
		}
	}
	if l.deliveries >= suspectFrom {
		w.suspect(l)
		return
	}
	w.alone.RLock()
	defer w.alone.RUnlock()
	o := outcome{err: stint.ErrGoexit}
	*send = func() { w.conclude(l, o) }
	o = w.execute(l)
}

// execute calls the function.
func (w *worker) execute(l *lease) outcome {
	if w.e.conf.Strict {
		return w.strictly(l)
	}
	return w.call(l, 0)
}

// conclude sends an outcome, unless the function was interrupted: then the outcome may be
// of that, and not of the task.
func (w *worker) conclude(l *lease, o outcome) {
	switch context.Cause(l.ctx) {
	case nil:
	case ErrCanceled, ErrLeaseLost:
		return // nobody wants it, or somebody else does it
	default:
		l.giveBack()
		return
	}
	w.settle(l, w.e.message(l.kind(), l.result(), o))
}

// call calls the function, again after errors if the task says so. before is how many
// calls there were in this delivery.
func (w *worker) call(l *lease, before int) outcome {
	k := l.kind()
	for n := 0; ; n++ {
		o := w.callOnce(l, before+n)
		if o.err == nil || o.final || n == k.retries || l.ctx.Err() != nil {
			return o
		}
		select {
		case <-time.After(backoff(k.wait, n)):
		case <-l.ctx.Done():
			return o
		}
	}
}

// callOnce calls the function, for as long as the task says.
func (w *worker) callOnce(l *lease, before int) outcome {
	ctx := context.WithValue(l.ctx, infoKey{}, Info{
		ID: l.id(), Run: runOf(l.key), Index: l.index, Attempt: l.deliveries + before,
	})
	if l.kind().timeout > 0 {
		return w.within(ctx, l)
	}
	return w.invoke(ctx, l)
}

// invoke calls the function.
func (w *worker) invoke(ctx context.Context, l *lease) (o outcome) {
	defer func() {
		if v := recover(); v != nil {
			o = panicked(v)
		}
	}()
	o.value, o.err = l.handler.run(ctx, l.msg.Data)
	return o
}

// settle sends a result, and when the server has it, or another one of the same task,
// tells it that the task is done. It gives up when the lease is lost: then the task is
// done by another worker.
func (w *worker) settle(l *lease, result *nats.Msg) {
	if result != nil {
		if !w.persist(l, "result", func() error { return w.e.store(result) }) {
			return
		}
		w.runs.verify(l.key) // or the results of the run were removed before, and this one stays
	}
	w.persist(l, "end", func() error {
		_, err := w.e.nc.Request(l.msg.Reply, nil, answerIn)
		return err
	})
}

// persist does f until it succeeds, or there is no point any more.
func (w *worker) persist(l *lease, what string, f func() error) bool {
	for n := 0; ; n++ {
		began := time.Now()
		err := f()
		if err == nil {
			return true
		}
		denied := n >= insisted && w.e.forbidden(began, err) != nil
		if why := refused(err); what == "result" && (why == full || why == queued) {
			w.e.tellFull(l.key, err)
		}
		if n == patience {
			w.e.conf.Log.Warn("cluster: the server does not take the "+what+" of a task; it is sent until it does", "task", l.id(), "error", err)
		}
		if denied || l.lost.Load() || w.e.life.Err() != nil || refused(err) == never {
			w.e.conf.Log.Warn("cluster: the "+what+" of a task was not sent", "task", l.id(), "error", err)
			return false
		}
		select {
		case <-time.After(min(backoff(10*time.Millisecond, n), time.Second)):
		case <-w.e.life.Done():
		}
	}
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"github.com/stint-go/stint"
)

// Serve is a worker: it runs the tasks that Handle was given, of all runs, until ctx ends. Then
// it takes no more tasks, and returns nil when the running tasks have finished. The contexts of
// the running tasks do not end with ctx. Serve returns stint.ErrClosed when the client is
// closed, and an error if the server refuses the worker at the start. While the server is out
// of reach, Serve waits.
//
// A worker has as many slots as its limit, each for one task at a time. It requests exactly as
// many tasks as slots are free, so no task waits at this worker while another worker is idle.
// Without a limit, stint finds one by measuring throughput, as for stint.NewPool. The limit
// rises only while more tasks are queued. When its Limiter is lowered or paused, the worker
// takes no task beyond the new limit. If ctx ends while the server is out of reach, Serve tries
// to send the results until their leases end. Each minute one worker of the cluster removes the
// data of dead submitters, as Purge does.
//
// Options: Limit, Limiter, Name. Serve panics if ctx or c is nil, or if Handle was not called.
func Serve(ctx context.Context, c *Client, opts ...Option) error {
	switch {
	case ctx == nil:
		panic("cluster: Serve: nil Context")
	case c == nil:
		panic("cluster: Serve: nil Client")
	}
	w := newWorker(c, collect("Serve", opts, "Limit", "Limiter", "Name"))
	defer w.pool.Close()
	if err := w.open(ctx); err != nil {
		w.close()
		if ctx.Err() != nil {
			return context.Cause(c.life)
		}
		return c.orCause(context.Background(), fmt.Errorf("cluster: Serve: %w", err))
	}
	w.openSlots(ctx)
	w.close()
	return context.Cause(c.life)
}

// maxSending is how many results a worker sends concurrently. Slots wait when there are more.
const maxSending = 1024

// A worker is one call of Serve.
type worker struct {
	client    *Client
	id        string
	pool      *stint.Pool // of slots: a task of the pool is a slot, for one task of the cluster
	sender    *stint.Pool // of results, so that a slot is free when the function has returned
	handlers  map[string]Handler
	puller    *puller
	leases    *leases
	runs      *runStates
	alone     sync.RWMutex // held for reading by running tasks, for writing by a task that runs alone
	statusSub *nats.Subscription
	answer    time.Time // when answerStatus sends its latest, which may be to come
	done      atomic.Int64
	abandoned atomic.Int64 // calls that have not returned
}

func newWorker(c *Client, o *options) *worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.handlers) == 0 {
		panic("cluster: Serve: no task was given to Handle")
	}
	c.served = true
	w := &worker{client: c, id: nuid.Next(), handlers: c.handlers}
	pool := []stint.Option{stint.Queue(1)} // a slot waits for its permit, so that a worker goroutine continues with it
	var limit func() int
	switch {
	case o.limiter != nil:
		pool, limit = append(pool, o.limiter), o.limiter.Current
	case o.limit > 0:
		pool = append(pool, stint.Limit(o.limit))
	}
	if o.name != "" {
		pool = append(pool, stint.Name(o.name))
	}
	w.pool = stint.NewPool(pool...)
	w.sender = stint.NewPool(stint.Limit(maxSending), stint.Queue(0))
	w.leases = newLeases(c)
	w.runs = newRunStates(c, w.leases)
	w.puller = newPuller(c, w.handlers, limit)
	c.workers[w] = true
	return w
}

// open connects the worker to the queue.
func (w *worker) open(ctx context.Context) error {
	for _, h := range w.handlers {
		if err := w.client.createConsumer(ctx, h.about()); err != nil {
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
		w.statusSub, err = w.client.nc.Subscribe(w.client.names.subject("workers"), w.answerStatus)
	}
	if err != nil {
		return err
	}
	_ = w.client.request(ctx, w.client.nc.FlushWithContext) // after it, refused subscriptions are known
	if denied := w.client.nc.LastError(); errors.Is(denied, nats.ErrPermissionViolation) && strings.Contains(denied.Error(), "Subscription") {
		return denied
	}
	return nil
}

// openSlots opens slots as the puller wants them and the limit allows, until ctx ends.
func (w *worker) openSlots(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(w.client.life, stop)()
	for w.puller.wantsSlot(ctx) && w.pool.GoContext(ctx, w.slot) == nil {
	}
}

// close takes no more tasks, and waits for the running ones.
func (w *worker) close() {
	w.puller.close()
	w.puller.awaitFinished()
	ended, end := context.WithCancel(context.Background())
	end()
	_, _ = w.pool.Shutdown(ended) // in a pause, a slot waits for a permit
	close(w.runs.leaving)
	w.sender.Close()
	w.leases.close()
	w.runs.close()
	if w.statusSub != nil {
		_ = w.statusSub.Unsubscribe()
	}
	w.client.mu.Lock()
	delete(w.client.workers, w)
	w.client.mu.Unlock()
}

// slot waits for a task and runs it.
func (w *worker) slot(ctx context.Context) {
	d := w.puller.next()
	if d == nil {
		return // the worker ends
	}
	defer w.puller.finished()
	l := w.leases.hold(ctx, d)
	send := func() {}
	defer func() { // also after a Goexit of the function
		if w.sender.GoContext(w.client.life, func(context.Context) {
			defer w.leases.release(l)
			send()
		}) != nil {
			w.leases.release(l) // the client was closed
		}
	}()
	if d.key == "" {
		send = func() { w.reject(l) }
		return
	}
	found, err := w.runs.lookup(l.ctx, d.key)
	switch {
	case err != nil:
		send = l.requeue
	case found == live:
		defer w.done.Add(1)
		w.perform(l, &send)
	default:
		send = func() {
			if w.runs.awaitOver(l.ctx, d.key) {
				w.settle(l, nil)
			} else {
				l.requeue()
			}
		}
	}
}

// perform runs the task, and sets send to the function that sends its result, unless the
// result was sent already.
func (w *worker) perform(l *lease, send *func()) {
	if l.deliveries > 1 {
		if known, _ := w.client.last(l.ctx, "results", l.resultSubject()); known != nil && isOwn(known.Header) {
			*send = func() { w.settle(l, nil) } // only the acknowledgement was lost
			return
		}
	}
	if l.deliveries >= quarantineFrom {
		w.quarantine(l, send)
		return
	}
	w.alone.RLock()
	defer w.alone.RUnlock()
	o := outcome{err: stint.ErrGoexit}
	*send = func() { w.conclude(l, o) }
	o = w.execute(l)
}

// execute runs a task: it calls the function, again after errors if the task says so.
func (w *worker) execute(l *lease) outcome {
	k := l.kind()
	for n := 0; ; n++ {
		o := w.call(l, n)
		if o.err == nil || o.final || n == k.retries || l.ctx.Err() != nil || !sleep(l.ctx, backoff(k.wait, n)) {
			return o
		}
	}
}

// call calls the function once, after others in this delivery.
func (w *worker) call(l *lease, before int) outcome {
	c := &call{worker: w, lease: l, slot: rand.IntN(maxParts), Info: Info{
		ID: l.id(), Run: runOf(l.key), Index: l.index, Attempt: l.deliveries + before, Call: nuid.Next(),
	}}
	ctx := context.WithValue(l.ctx, callKey{}, c)
	o := outcome{}
	if l.kind().timeout > 0 {
		o = w.invokeWithTimeout(ctx, l)
	} else {
		o = w.invoke(ctx, l)
	}
	if o.err == nil {
		o.parts = c.parts()
	}
	return o
}

func (w *worker) invoke(ctx context.Context, l *lease) (o outcome) {
	defer func() {
		if v := recover(); v != nil {
			o = panicked(v)
		}
	}()
	o.value, o.err = l.handler.run(ctx, l.msg.Data)
	return o
}

// conclude sends an outcome. If the function was interrupted, the outcome may be a
// consequence, and is dropped.
func (w *worker) conclude(l *lease, o outcome) {
	switch context.Cause(l.ctx) {
	case nil:
		w.settle(l, w.client.message(l.kind(), l.resultSubject(), o))
	case ErrCanceled: // the run is over, perhaps for longer than the latest part is there
		if l.parted.Load() {
			w.runs.removeResults(l.key)
		}
	case ErrLeaseLost: // another worker has the task
	default:
		l.requeue()
	}
}

// settle stores a result, and acknowledges the task when the server has this or another
// result of it. It gives up when the lease is lost: then another worker settles the task.
func (w *worker) settle(l *lease, result *nats.Msg) {
	if result != nil {
		if !w.persist(l, "result", func() error { return w.client.store(result) }) {
			return
		}
		w.runs.verify(l.key) // the results of the run may have been removed before this one was stored
	}
	w.persist(l, "end", func() error {
		_, err := w.client.nc.Request(l.msg.Reply, nil, requestTimeout)
		return err
	})
}

// persist calls f until it succeeds, and returns true, or until retries have become
// useless.
func (w *worker) persist(l *lease, what string, f func() error) bool {
	log := w.client.conf.log
	for n := 0; ; n++ {
		start := time.Now()
		err := f()
		if err == nil {
			return true
		}
		why := refusalOf(err)
		if (what == "result" || what == "part") && (why == serverFull || why == queueFull) { // tell the submitter, again with each refusal
			_ = w.client.nc.PublishMsg(owned(w.client.names.subject("full", l.key), []byte(err.Error())))
		}
		if n == retriesUntilWarning {
			log.Warn("cluster: the server does not store the "+what+" of a task: it is sent until it does", "task", l.id(), "error", err)
		}
		denied := n >= retriesUntilDenial && w.client.deniedSince(start, err) != nil
		if denied || l.lost.Load() || w.client.life.Err() != nil || why == tooLarge {
			log.Warn("cluster: the "+what+" of a task was not sent", "task", l.id(), "error", err)
			return false
		}
		sleep(w.client.life, min(backoff(10*time.Millisecond, n), time.Second))
	}
}

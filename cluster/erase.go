package cluster

import (
	"context"
	"time"
)

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
		most = time.Second
	}
	return context.WithTimeout(context.WithoutCancel(r.ctx), most)
}

// erase removes the run from the engine: its record, so that workers that come later
// know; what workers have, by a message; what is queued; and its results. A run that
// belongs to another submitter now stays, and one with a Name whose engine was closed.
//
// The engine may be being closed meanwhile, while its caller has not returned yet: then who
// closes it does this, or who is first.
func (r *run) erase() { r.erasing.Do(r.eraseOnce) }

func (r *run) eraseOnce() {
	if r.foreign.Load() {
		return
	}
	ctx, stop := r.parting()
	defer stop()
	if r.e.life.Err() != nil {
		r.e.settle(ctx)
	}
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

// send publishes something for a run, unless the engine is closed.
func (e *Engine) send(publish func() error) error {
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.life.Err() != nil {
		return context.Cause(e.life)
	}
	return publish()
}

// settle waits until what was sent is answered, when the engine is closed: what the server
// takes later could not be removed.
func (e *Engine) settle(ctx context.Context) {
	e.gate.Lock() // nobody is in send
	defer e.gate.Unlock()
	select {
	case <-e.js.PublishAsyncComplete():
	case <-ctx.Done():
	}
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
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

// depart makes known that the run is over: its record is removed, so that workers that come
// later know, and those that are there are told. It is done as soon as the run has ended,
// while the sequence and the caller may not have returned yet. It returns what there was of
// the record. It does nothing if the run is not ours: another submitter has it, or it has a Name and its
// engine was closed.
func (r *run) depart() end {
	r.departing.Do(func() {
		if r.foreign.Load() {
			return
		}
		ctx, stop := r.parting()
		defer stop()
		var err error
		if r.atEnd, err = r.e.drop(ctx, r.rec); r.atEnd >= endAbsent {
			err = r.e.proclaim(r.rec.Key, r.state())
		}
		if err != nil {
			r.warn("its end could not be told", err)
		}
	})
	return r.atEnd
}

// taken returns the error for a run with a Name that is completed, and that another submitter
// has completed too, or will: whoever has removed the record has it.
func (r *run) taken() error {
	if found := r.depart(); r.rec.Named && r.state() == completed && (found == endTaken || found == endAbsent) {
		return r.elsewhere()
	}
	return nil
}

// elsewhere returns the error for a run that somebody else has.
func (r *run) elsewhere() error {
	return fmt.Errorf("%w: another submitter has resumed %s, or it was cancelled", ErrRunLost, runOf(r.rec.Key))
}

// proclaim tells the workers, and the submitter if it was not asked, that a run is over.
func (e *Engine) proclaim(key, state string) error {
	return e.nc.Publish(e.names.subject("over", key), []byte(state))
}

// erase removes the run from the engine: after its record what is queued, its results and
// its marks, and what it heard them through. It is done by who ends the run or who closes the engine, whoever is first, and the
// other waits.
func (r *run) erase() {
	r.erasing.Do(func() {
		if r.depart() >= endAbsent {
			r.clear()
		}
		r.deafen()
	})
}

// clear removes what erase says.
func (r *run) clear() {
	ctx, stop := r.parting()
	defer stop()
	if err := r.e.clear(ctx, r.k, r.rec.Key); err != nil {
		r.warn("something of it could not be removed", err)
	}
}

// clear removes what is left of the run with that key, of the task k, when its record is gone.
func (e *Engine) clear(ctx context.Context, k *kind, key string) error {
	return errors.Join(
		e.fence(ctx, e.names.of("task."+k.token, key, 0)),
		e.remove(ctx, "tasks", e.names.subject("task", k.token, key, "*")),
		e.purge(ctx, "results", e.names.subject("result", key, "*")),
		e.purge(ctx, "runs", e.names.subject("alone", key, "*")),
		e.balance(ctx, k),
	)
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

// seal closes the engine for send: when it returns nobody is in it.
func (e *Engine) seal() {
	e.close(stint.ErrClosed)
	e.gate.Lock()
	defer e.gate.Unlock()
}

// fence returns when the server has stored or refused all tasks of a run that this submitter
// has sent to it: what it takes later could not be removed. Some may not have been answered,
// since it was silent for too long or the engine was closed. But it does one after the
// other, so it is sent one more, on the subject of one of them, which it has to refuse.
func (e *Engine) fence(ctx context.Context, subject string) error {
	return e.ask(ctx, func(ctx context.Context) error {
		_, err := e.js.Publish(ctx, subject, nil, jetstream.WithExpectLastSequence(math.MaxInt64))
		if _, answered := errors.AsType[*jetstream.APIError](err); answered && !unanswered(err) {
			return nil // also if it is full
		}
		return err
	})
}

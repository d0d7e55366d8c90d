package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	glance     = 5 * time.Second  // between two looks at a run
	vouchAfter = 15 * time.Second // its record is written again
)

// doubts are how many times in a row something was amiss at a glance. One time is not enough
// to believe it, while servers come and go.
type doubts struct {
	missed  int // the record, or the task that is waited for, was not there
	unheard int // the result that is waited for was there, and nothing has arrived since
}

// tend keeps the record of the run, looks whether it is still there when nothing
// arrives, and removes results that are not needed any more. When the run has ended it makes
// that known, unless it was dropped before it began: then erase does.
func (r *run) tend(ctx context.Context) error {
	if full, err := r.e.nc.Subscribe(r.e.names.subject("full", r.rec.Key), r.toldFull); err == nil { // or the engine is closed
		defer full.Unsubscribe()
	}
	tick := time.NewTicker(or(r.e.conf.Glance, glance))
	defer tick.Stop()
	written, arrived := time.Now(), 0
	var d doubts
	for {
		var err error
		select {
		case <-ctx.Done():
			r.depart()
			return nil
		case <-r.sweep:
			err = r.clean(ctx)
		case r.rec.Submitted = <-r.complete:
			if r.rec.Named {
				err = r.write(ctx)
			}
		case <-tick.C:
			if err := r.clean(ctx); err != nil && ctx.Err() == nil {
				r.warn("its results that have arrived stay in the stream", err)
			}
			now := r.count()
			if now != arrived {
				d.unheard = 0
			}
			switch {
			case time.Since(written) > vouchAfter:
				if d, err = r.vouch(ctx, d); err == nil {
					written = time.Now()
				}
			case now == arrived:
				d, err = r.look(ctx, d)
			default:
				d = doubts{}
			}
			arrived = now
		}
		if err = r.judge(ctx, &d, err, time.Since(written)); err != nil {
			return err
		}
	}
}

// judge returns the error that the run ends with, after a glance that has met err, if any.
// The record was written that long ago.
func (r *run) judge(ctx context.Context, d *doubts, err error, written time.Duration) error {
	lost := errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, nats.ErrPermissionViolation)
	if lost {
		d.missed++
	}
	switch {
	case lost && d.missed >= 2:
		return fmt.Errorf("%w: %s: %w", ErrRunLost, runOf(r.rec.Key), err)
	case err == errMoved:
		return r.elsewhere()
	case errors.Is(err, ErrFull) && written > vouchAfter+r.e.fullFor():
		return err // before it expires
	case err != nil && ctx.Err() == nil:
		r.warn("its record", err)
	case d.missed >= 2:
		return fmt.Errorf("%w: %s, or what it has of it is not whole", ErrRunLost, runOf(r.rec.Key))
	case d.unheard == 2:
		d.unheard = 0
		r.warn("it listens again", errors.New("a result is there and does not come"))
		post(r.again, struct{}{})
	}
	return nil
}

// write stores the record. A server that is full is not waited for: there are results to be
// removed meanwhile.
func (r *run) write(ctx context.Context) error { return r.e.writeFor(ctx, r.rec, 0) }

// vouch writes the record again, so that it does not expire, and lets a limit go whose
// run has not done that.
func (r *run) vouch(ctx context.Context, d doubts) (doubts, error) {
	d, err := r.look(ctx, d)
	if err == nil && d.missed == 0 {
		err = r.write(ctx)
	}
	if err == nil {
		err = r.e.balance(ctx, r.k)
	}
	return d, err
}

// clean removes the results that have arrived from the stream, unless they are kept.
func (r *run) clean(ctx context.Context) error {
	if r.rec.Named || r.unswept.Swap(0) == 0 {
		return nil
	}
	r.bytes.Store(0)
	return r.e.purge(ctx, "results", r.e.names.subject("result", r.rec.Key, "*"), jetstream.WithPurgeSequence(r.heard.Load()+1))
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

// look reads the record, and looks where the task is that is waited for.
func (r *run) look(ctx context.Context, d doubts) (doubts, error) {
	rec, err := r.e.read(ctx, r.rec.Run)
	switch {
	case rec == nil && err == nil && r.rec.Named:
		d.missed++
		return d, nil
	case rec == nil && err == nil: // it has expired while the server was not reached
		r.rec.seq = 0
		return doubts{}, r.write(ctx)
	case err != nil:
		return d, err
	case rec.Owner != r.rec.Owner:
		return doubts{}, errMoved
	}
	switch where, err := r.whereabouts(ctx); {
	case err != nil:
		return d, err
	case where == nowhere:
		d.missed++
		return d, nil
	case where == stored:
		return doubts{unheard: d.unheard + 1}, nil
	}
	return doubts{}, nil
}

// A location is where the task is that was confirmed and not heard of for longest.
type location int

const (
	fine    location = iota // it is queued or running, or has arrived meanwhile, or there is none
	stored                  // its result is in the stream
	nowhere                 // on the server
)

// whereabouts looks for that task. The queue is asked first, since a task leaves it after its
// result is there.
func (r *run) whereabouts(ctx context.Context) (location, error) {
	r.mu.Lock()
	i := r.oldest()
	r.mu.Unlock()
	if i < 0 {
		return fine, nil
	}
	m, err := r.e.last(ctx, "tasks", r.subject(i))
	if m != nil || err != nil {
		return fine, err
	}
	m, err = r.e.last(ctx, "results", r.e.names.of("result", r.rec.Key, i))
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		return fine, err
	case r.oldest() != i: // it has arrived meanwhile
		return fine, nil
	case m != nil && isOwn(m.Header):
		return stored, nil
	}
	return nowhere, nil
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

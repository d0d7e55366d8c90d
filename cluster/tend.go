package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	glance     = 5 * time.Second  // between two looks at a run
	vouchAfter = 15 * time.Second // its record is written again
)

// tend keeps the record of the run, looks whether it is still there when nothing
// arrives, and removes results that are not needed any more. When the run has ended it makes
// that known, unless it was dropped before it began: then erase does.
func (r *run) tend(ctx context.Context) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	written, arrived, missed := time.Now(), 0, 0
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
			return fmt.Errorf("%w: another submitter has resumed %s, or it was cancelled", ErrRunLost, runOf(r.rec.Key))
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

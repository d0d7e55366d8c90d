package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// checkEvery is the time between two checks of a run.
func (c *config) checkEvery() time.Duration { return c.heartbeat / 3 }

// strikes count failures of consecutive checks. While servers start and stop, a single
// check may be wrong.
type strikes struct {
	missing int // the record, or the task that is waited for, was not there
	stalled int // the result that is waited for was there, and nothing has arrived since
}

// heartbeat renews the record of the run, checks that the run is still there when nothing
// arrives, and removes results that have arrived. When the run ends, heartbeat announces
// the end, unless heartbeat was dropped before it started; then cleanup does.
func (r *run) heartbeat(ctx context.Context) error {
	if full, err := r.client.nc.Subscribe(r.client.names.subject("full", r.rec.Key), r.onFull); err == nil { // or the client is closed
		defer full.Unsubscribe()
	}
	tick := time.NewTicker(r.client.conf.checkEvery())
	defer tick.Stop()
	written, arrived := time.Now(), 0
	var s strikes
	for {
		var err error
		select {
		case <-ctx.Done():
			r.finish()
			return nil
		case <-r.purgeNow:
			err = r.purgeArrived(ctx)
		case r.rec.Submitted = <-r.submitted:
			if r.rec.Named {
				err = r.write(ctx)
			}
		case <-tick.C:
			if err := r.purgeArrived(ctx); err != nil && ctx.Err() == nil {
				r.warn("results that have arrived stay in the stream", err)
			}
			now := r.arrivals()
			if now != arrived {
				s.stalled = 0
			}
			switch {
			case time.Since(written) >= r.client.conf.heartbeat:
				if s, err = r.renew(ctx, s); err == nil {
					written = time.Now()
				}
			case now == arrived:
				s, err = r.check(ctx, s)
			default:
				s = strikes{}
			}
			arrived = now
		}
		if err = r.judge(ctx, &s, err, time.Since(written)); err != nil {
			return err
		}
	}
}

// judge returns the error that ends the run, if any, after a check that returned err.
// written is the time since the record was written.
func (r *run) judge(ctx context.Context, s *strikes, err error, written time.Duration) error {
	conf := &r.client.conf
	lost := errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, nats.ErrPermissionViolation)
	if lost {
		s.missing++
	}
	switch {
	case lost && s.missing >= 2:
		return fmt.Errorf("%w: %s: %w", ErrRunLost, runOf(r.rec.Key), err)
	case err == errMoved:
		return r.resumedElsewhere()
	case errors.Is(err, ErrFull) && written > conf.heartbeat+min(conf.fullTimeout, 2*conf.heartbeat):
		return err // before the record expires
	case err != nil && ctx.Err() == nil:
		r.warn("its record", err)
	case s.missing >= 2:
		return fmt.Errorf("%w: %s, or only a part of it", ErrRunLost, runOf(r.rec.Key))
	case s.stalled == 2:
		s.stalled = 0
		r.warn("it makes another consumer", errors.New("a result is there and does not arrive"))
		post(r.reconsume, struct{}{})
	}
	return nil
}

// write writes the record. It does not wait for a full server, since the removal of results
// may make room.
func (r *run) write(ctx context.Context) error { return r.client.write(ctx, r.rec, 0) }

// renew writes the record again, so that it does not expire, and lifts the Limit of runs whose
// records have expired.
func (r *run) renew(ctx context.Context, s strikes) (strikes, error) {
	s, err := r.check(ctx, s)
	if err == nil && s.missing == 0 {
		err = r.write(ctx)
	}
	if err == nil {
		err = r.client.updateLimit(ctx, r.k, r.rec.Limit)
	}
	return s, err
}

// purgeArrived removes results and parts that have arrived from the stream; the results of a run
// with a Name are kept.
func (r *run) purgeArrived(ctx context.Context) error {
	if r.unpurged.Swap(0) == 0 {
		return nil
	}
	r.bytes.Store(0)
	filter := r.client.names.resultsOf(r.rec.Key)
	if r.rec.Named {
		filter = r.client.partSubject(r.rec.Key, "*")
	}
	return r.client.purge(ctx, "results", filter, jetstream.WithPurgeSequence(r.lastSeq.Load()+1))
}

// arrivals returns how many results have arrived.
func (r *run) arrivals() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.arrived
}

// check reads the record, and locates the task that is waited for.
func (r *run) check(ctx context.Context, s strikes) (strikes, error) {
	rec, err := r.client.read(ctx, r.rec.Run)
	switch {
	case rec == nil && err == nil && r.rec.Named:
		s.missing++
		return s, nil
	case rec == nil && err == nil: // it has expired while the server was out of reach or a stream was missing
		r.rec.seq = 0
		if err := r.write(ctx); err != nil {
			return s, err
		}
	case err != nil:
		return s, err
	case rec.Owner != r.rec.Owner:
		return strikes{}, errMoved
	}
	switch where, err := r.locate(ctx); {
	case err != nil:
		return s, err
	case where == nowhere:
		s.missing++
		return s, nil
	case where == inResults:
		return strikes{stalled: s.stalled + 1}, nil
	}
	return strikes{}, nil
}

// A location says where the first submitted task without an arrived result is.
type location int

const (
	inQueue   location = iota // or it is running, has arrived meanwhile, or there is none
	inResults                 // its result is in the stream
	nowhere                   // on the server
)

// locate looks for that task. It asks the queue first, since a task leaves the queue after its
// result is stored.
func (r *run) locate(ctx context.Context) (location, error) {
	r.mu.Lock()
	i := r.firstMissing()
	r.mu.Unlock()
	if i < 0 {
		return inQueue, nil
	}
	m, err := r.client.last(ctx, "tasks", r.subject(i))
	if m != nil || err != nil {
		return inQueue, err
	}
	m, err = r.client.last(ctx, "results", r.client.names.of("result", r.rec.Key, i))
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		return inQueue, err
	case r.firstMissing() != i: // it has arrived meanwhile
		return inQueue, nil
	case m != nil && isOwn(m.Header):
		return inResults, nil
	}
	return nowhere, nil
}

// firstMissing returns the first task that was submitted and has not arrived; -1 if there is
// none. mu is held.
func (r *run) firstMissing() int {
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

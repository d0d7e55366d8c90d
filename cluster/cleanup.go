package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// The message on the subject over of a run.
const (
	completed = "completed" // all its results were delivered
	cancelled = "cancelled"
)

// state returns the message that applies to the run.
func (r *run) state() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.delivered == r.total {
		return completed
	}
	return cancelled
}

// cleanupContext bounds the cleanup of a run. Servers that elect a leader need some time;
// cleanup does not wait for a lost connection.
func (r *run) cleanupContext() (context.Context, context.CancelFunc) {
	timeout := 30 * time.Second
	if !r.client.nc.IsConnected() {
		timeout = time.Second
	}
	return context.WithTimeout(context.WithoutCancel(r.ctx), timeout)
}

// finish announces that the run is over: it removes the record, for workers that look
// later, and tells the others. It is called as soon as the run has ended, before the
// sequence and the caller have returned. It returns the state in which it found the record.
// It does nothing if the run is foreign: it belongs to another submitter, or it has a Name
// and the client was closed.
func (r *run) finish() end {
	r.finishing.Do(func() {
		if r.foreign.Load() {
			return
		}
		ctx, stop := r.cleanupContext()
		defer stop()
		var err error
		if r.atEnd, err = r.client.dropRecord(ctx, r.rec); r.atEnd >= endAbsent {
			err = r.client.announceEnd(r.rec.Key, r.state())
		}
		if err != nil {
			r.warn("its end could not be announced", err)
		}
	})
	return r.atEnd
}

// announceEnd tells the workers, and the submitter if another client ends the run.
func (c *Client) announceEnd(key, state string) error {
	return c.nc.Publish(c.names.subject("over", key), []byte(state))
}

// onOver ends a run that another client has ended. This submitter cleans up too: it may have
// published tasks after the other client's cleanup.
func (r *run) onOver(m *nats.Msg) {
	if r.ctx.Err() != nil || r.client.life.Err() != nil { // it may be this submitter's own message
		return
	}
	switch string(m.Data) {
	case cancelled:
		r.fail(fmt.Errorf("%w: %s was cancelled elsewhere", ErrRunLost, runOf(r.rec.Key)))
	case completed:
		r.fail(r.resumedElsewhere())
	}
}

// lost returns the error of a run with a Name that was completed here and by another
// submitter: the run belongs to the submitter that has removed the record.
func (r *run) lost() error {
	if found := r.finish(); r.rec.Named && r.state() == completed && (found == endTaken || found == endAbsent) {
		return r.resumedElsewhere()
	}
	return nil
}

func (r *run) resumedElsewhere() error {
	return fmt.Errorf("%w: another submitter has resumed %s, or it was cancelled", ErrRunLost, runOf(r.rec.Key))
}

// cleanup removes the run from the server: its record, tasks, results, marks and consumers.
// The end of the run and Close call it; the second caller waits for the first.
func (r *run) cleanup() {
	r.cleaningUp.Do(func() {
		if r.finish() >= endAbsent {
			ctx, stop := r.cleanupContext()
			defer stop()
			if err := r.client.removeRun(ctx, r.k, r.rec); err != nil {
				r.warn("a part of it could not be removed", err)
			}
		}
		r.closeConsumers()
	})
}

// removeRun removes the tasks, results and marks of a run whose record is gone, and its limit.
func (c *Client) removeRun(ctx context.Context, k *kind, r *record) error {
	err := errors.Join(
		c.fence(ctx, c.names.of("task."+k.token, r.Key, 0)),
		c.deleteTasks(ctx, c.names.subject("task", k.token, r.Key, "*")),
		c.purge(ctx, "results", c.names.resultsOf(r.Key)),
		c.purge(ctx, "runs", c.names.subject("alone", r.Key, ">")),
	)
	if r.Limit > 0 {
		err = errors.Join(err, c.updateLimit(ctx, k, 0))
	}
	return err
}

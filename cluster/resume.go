package cluster

import (
	"context"
	"fmt"

	"github.com/nats-io/nuid"
)

// resume takes over a run and drives it to its end.
func (t *Task[In, Out]) resume(ctx context.Context, c *Client, name string, yield func(int, Out, error) bool) error {
	rec, err := c.takeOver(ctx, &t.kind, name)
	total := 0
	if err == nil {
		total, err = c.countSubmitted(ctx, &t.kind, rec)
	}
	if err != nil {
		if rec != nil && ctx.Err() != nil {
			c.abandon(ctx, &t.kind, rec)
		}
		return c.orCause(ctx, fmt.Errorf("cluster: resume %s: %w", untoken(name), err))
	}
	incomplete := rec.Submitted < 0
	rec.Submitted, rec.Unordered = total, false
	r, err := c.start(ctx, &t.kind, rec, total)
	if err != nil {
		return err
	}
	err = t.drive(ctx, r, yield, r.heartbeat, r.consume)
	if err == nil && incomplete {
		err = fmt.Errorf("%w: of run %s the first %d", ErrIncomplete, untoken(name), total)
	}
	return err
}

// takeOver makes this submitter the owner of a run. If it returns a record with an error, this
// submitter may be the owner.
func (c *Client) takeOver(ctx context.Context, k *kind, name string) (*record, error) {
	for {
		rec, err := c.read(ctx, name)
		switch {
		case err != nil:
			return nil, err
		case rec == nil:
			return nil, ErrRunLost
		case !rec.Named:
			return nil, fmt.Errorf("%w: its results are not kept, since it was not given a Name", ErrRunLost)
		case rec.Task != k.name:
			return nil, fmt.Errorf("it is a run of %s, not of %s", rec.Task, k.name)
		}
		rec.Owner = nuid.Next()
		if err = c.write(ctx, rec, c.conf.fullTimeout); err == nil || err != errMoved && err != errGone {
			return rec, err
		}
	}
}

// abandon removes a run whose resumption was cancelled, if this submitter already owns it:
// the previous submitter has given it up.
func (c *Client) abandon(ctx context.Context, k *kind, rec *record) {
	r := c.newRun(ctx, k, rec, 0)
	if c.enter(r) == nil { // or the client is closed, and the run stays for another submitter
		defer c.leave(r)
		r.cleanup()
	}
}

// countSubmitted returns how many tasks of a run are on the server without a gap, queued or
// with a result. It reads the queue first, since a task leaves the queue after its result is
// stored.
func (c *Client) countSubmitted(ctx context.Context, k *kind, rec *record) (int, error) {
	if rec.Submitted >= 0 {
		return rec.Submitted, nil
	}
	queued, err := c.subjects(ctx, "tasks", c.names.subject("task", k.token, rec.Key, "*"))
	if err != nil {
		return 0, err
	}
	done, err := c.subjects(ctx, "results", c.names.subject("result", rec.Key, "*"))
	if err != nil {
		return 0, err
	}
	for n := 0; ; n++ {
		if queued[c.names.of("task."+k.token, rec.Key, n)] == 0 && done[c.names.of("result", rec.Key, n)] == 0 {
			return n, nil
		}
	}
}

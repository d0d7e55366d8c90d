package cluster

import (
	"context"
	"errors"
	"fmt"
)

// Cancel ends the run with the name that Status shows, also a run of another client. It removes
// the record, the queued tasks and the results of the run. The contexts of its functions end
// with ErrCanceled. Its submitter returns ErrRunLost, at once or when it is connected again,
// unless it already has all results.
//
// Cancel returns ErrRunLost if there is no run of that name. If Resume runs concurrently,
// either Cancel or Resume ends the run. If Cancel ends it, Resume returns ErrRunLost. If ctx
// ends early, the run, or a part of it, may remain until the end of Retention. Cancel panics if
// ctx is nil.
func (c *Client) Cancel(ctx context.Context, run string) error {
	if ctx == nil {
		panic("cluster: Cancel: nil Context")
	}
	for {
		over, err := c.cancelOnce(ctx, run)
		if err != nil {
			return c.orCause(ctx, fmt.Errorf("cluster: cancel %q: %w", run, err))
		}
		if over {
			return nil
		}
	}
}

// cancelOnce ends the run, unless another submitter has resumed it meanwhile. It calls fence
// before it removes the record, so that a user without permission changes nothing.
func (c *Client) cancelOnce(ctx context.Context, run string) (over bool, err error) {
	if !isName(run) {
		return false, ErrRunLost
	}
	rec, err := c.read(ctx, tokenOf(run))
	if err == nil && rec == nil {
		err = ErrRunLost
	}
	if err != nil {
		return false, err
	}
	k := &kind{name: rec.Task, token: tokenOf(rec.Task)}
	if err := c.fence(ctx, c.names.of("task."+k.token, rec.Key, 0)); err != nil {
		return false, err
	}
	found, err := c.dropRecord(ctx, rec)
	if err != nil || found < endAbsent {
		return false, err
	}
	err = c.request(ctx, func(context.Context) error { return c.announceEnd(rec.Key, cancelled) })
	return true, errors.Join(err, c.removeRun(ctx, k, rec))
}

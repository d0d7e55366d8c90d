package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Cancel ends the run with that name, as Status shows it, whoever submitted it and whether its
// submitter lives: its record is removed, then what is queued, its results and its
// marks, and the smallest Limit of the other runs counts again. The contexts of its functions
// end with ErrCanceled, and its submitter returns ErrRunLost: at once if it is connected,
// otherwise when it is again. One that had all its results at that moment may return these.
//
// Cancel returns nil when the run is over and nothing of it is left, and an error in which
// errors.Is finds ErrRunLost if there is no run of that name. If Resume runs concurrently, one
// of the two ends the run; if that is Cancel, Resume returns ErrRunLost. If ctx ends early the
// run may be there still, or be over and leave something for Keep to remove. Cancel panics if
// ctx is nil.
func (e *Engine) Cancel(ctx context.Context, run string) error {
	if ctx == nil {
		panic("cluster: Cancel: nil Context")
	}
	for {
		over, err := e.cancelOnce(ctx, run)
		if err != nil {
			return e.instead(ctx, fmt.Errorf("cluster: cancel %q: %w", run, err))
		}
		if over {
			return nil
		}
	}
}

// cancelOnce ends the run, unless another submitter has resumed it meanwhile. What clear does
// first is tried before the record is removed: who may not do that is to end nothing.
func (e *Engine) cancelOnce(ctx context.Context, run string) (over bool, err error) {
	if !isName(run) {
		return false, ErrRunLost
	}
	rec, err := e.read(ctx, tokenOf(run))
	if err == nil && rec == nil {
		err = ErrRunLost
	}
	if err != nil {
		return false, err
	}
	k := &kind{name: rec.Task, token: tokenOf(rec.Task)}
	if err := e.fence(ctx, e.names.of("task."+k.token, rec.Key, 0)); err != nil {
		return false, err
	}
	found, err := e.drop(ctx, rec)
	if err != nil || found < endAbsent {
		return false, err
	}
	return true, errors.Join(e.proclaim(rec.Key, cancelled), e.clear(ctx, k, rec.Key))
}

// overheard ends a run of which somebody says that it is over. Its submitter then removes
// it too: what it sends until then comes after what the other one has removed.
func (r *run) overheard(m *nats.Msg) {
	if r.ctx.Err() != nil || r.e.life.Err() != nil { // it may be our own word
		return
	}
	switch string(m.Data) {
	case cancelled:
		r.fail(fmt.Errorf("%w: %s was cancelled elsewhere", ErrRunLost, runOf(r.rec.Key)))
	case completed:
		r.fail(r.elsewhere())
	}
}

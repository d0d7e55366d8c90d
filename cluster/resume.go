package cluster

import (
	"context"
	"fmt"

	"github.com/nats-io/nuid"
)

// resume is a run from where its record says.
func (t *Task[In, Out]) resume(ctx context.Context, e *Engine, name string, consume func(int, Out, error) bool) error {
	rec, err := e.takeOver(ctx, &t.kind, name)
	total := 0
	if err == nil {
		total, err = e.submitted(ctx, &t.kind, rec)
	}
	if err != nil {
		if rec != nil && ctx.Err() != nil {
			e.cancel(ctx, &t.kind, rec)
		}
		return e.instead(ctx, fmt.Errorf("cluster: resume %s: %w", untoken(name), err))
	}
	incomplete := rec.Submitted < 0
	rec.Submitted, rec.Unordered = total, false
	r, err := e.attend(ctx, &t.kind, rec, total)
	if err != nil {
		return err
	}
	err = t.drive(ctx, r, consume, r.tend, r.hear)
	if err == nil && incomplete {
		err = fmt.Errorf("%w: of run %s the first %d", ErrIncomplete, untoken(name), total)
	}
	return err
}

// takeOver makes this submitter the owner of a run. If it fails and there is a record, perhaps
// it is the owner.
func (e *Engine) takeOver(ctx context.Context, k *kind, name string) (*record, error) {
	for {
		rec, err := e.read(ctx, name)
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
		if err = e.write(ctx, rec); err == nil || err != errMoved && err != errGone {
			return rec, err
		}
	}
}

// cancel removes a run that this submitter was about to resume, if its name is in the
// record already: then the submitter before has given the run up.
func (e *Engine) cancel(ctx context.Context, k *kind, rec *record) {
	r := e.newRun(ctx, k, rec, 0)
	if e.enter(r) == nil { // or it stays, for another one
		defer e.leave(r)
		r.erase()
	}
}

// submitted returns how many tasks of a run are in the engine without a gap: each is
// queued or has a result. The queue is asked first, since a task leaves it after its
// result is there.
func (e *Engine) submitted(ctx context.Context, k *kind, rec *record) (int, error) {
	if rec.Submitted >= 0 {
		return rec.Submitted, nil
	}
	queued, err := e.subjects(ctx, "tasks", e.names.subject("task", k.token, rec.Key, "*"))
	if err != nil {
		return 0, err
	}
	done, err := e.subjects(ctx, "results", e.names.subject("result", rec.Key, "*"))
	if err != nil {
		return 0, err
	}
	for n := 0; ; n++ {
		if queued[e.names.of("task."+k.token, rec.Key, n)] == 0 && done[e.names.of("result", rec.Key, n)] == 0 {
			return n, nil
		}
	}
}

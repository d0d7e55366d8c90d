package cluster

import (
	"context"
	"fmt"

	"github.com/nats-io/nuid"
)

// resume is a run from where its record says.
func (t *Task[In, Out]) resume(ctx context.Context, e *Engine, name string, consume func(int, Out, error) bool) error {
	rec, err := e.takeOver(ctx, &t.kind, name)
	if err != nil {
		return e.instead(ctx, err)
	}
	total, err := e.submitted(ctx, &t.kind, rec)
	if err != nil {
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

// takeOver makes this submitter the owner of a run.
func (e *Engine) takeOver(ctx context.Context, k *kind, name string) (*record, error) {
	for {
		rec, err := e.read(ctx, name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("cluster: resume %s: %w", untoken(name), err)
		case rec == nil:
			return nil, fmt.Errorf("%w: %s", ErrRunLost, untoken(name))
		case !rec.Named:
			return nil, fmt.Errorf("%w: %s: its results are not kept, since it was not given a Name", ErrRunLost, untoken(name))
		case rec.Task != k.name:
			return nil, fmt.Errorf("cluster: resume %s: it is a run of %s, not of %s", untoken(name), rec.Task, k.name)
		}
		rec.Owner = nuid.Next()
		if err = e.write(ctx, rec); err == nil {
			return rec, nil
		}
		if err != errMoved && err != errGone {
			return nil, fmt.Errorf("cluster: resume %s: %w", untoken(name), err)
		}
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

package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Purge removes what runs have left that are over: queued tasks, results, and marks of
// tasks that ran alone, whose run has no record any more. A submitter that is killed leaves
// them. What was put aside stays. Workers do this each minute, so it is for an engine that has
// none.
//
// Purge returns how many messages it has removed. If it finds something it looks again after
// 15 s, since a submitter that was cut off writes its record again when it is back; so it
// takes that long, and removes only what it has found twice. It returns the cause of ctx when
// that ends, stint.ErrClosed when the engine is closed, and an error if the server does not
// take the removal.
func (e *Engine) Purge(ctx context.Context) (removed int, err error) {
	found, _, err := e.orphans(ctx)
	if err == nil && len(found) > 0 {
		removed, err = e.removeOrphans(ctx, found)
	}
	if err != nil {
		return removed, e.instead(ctx, fmt.Errorf("cluster: purge: %w", err))
	}
	return removed, nil
}

// removeOrphans removes those of the runs with these keys that have no record after a while
// either.
func (e *Engine) removeOrphans(ctx context.Context, found map[string]bool) (removed int, err error) {
	select {
	case <-time.After(deadAfter):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-e.life.Done():
		return 0, context.Cause(e.life)
	}
	if err := e.leaveOut(ctx, found); err != nil {
		return 0, err
	}
	for key := range found {
		n, err := e.removeOrphan(ctx, key)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// removeOrphan removes what there is of one run.
func (e *Engine) removeOrphan(ctx context.Context, key string) (removed int, err error) {
	for _, where := range e.places(key) {
		subjects, err := e.subjects(ctx, where.stream, where.filter)
		switch {
		case err != nil:
		case where.stream == "tasks":
			err = e.remove(ctx, where.stream, where.filter)
		case len(subjects) > 0:
			err = e.purge(ctx, where.stream, where.filter)
		}
		if err != nil {
			return removed, err
		}
		removed += len(subjects)
	}
	if removed > 0 {
		e.conf.Log.Info("cluster: what a run without a record has left was removed", "run", runOf(key), "messages", removed)
	}
	return removed, nil
}

// A place is where messages of runs are: the key is in one token of their subjects.
type place struct {
	stream, filter string
	token          int
}

// places returns those of a run; of all runs if key is "*".
func (e *Engine) places(key string) []place {
	return []place{
		{"tasks", e.names.subject("task", "*", key, "*"), 3},
		{"results", e.names.subject("result", key, "*"), 2},
		{"runs", e.names.subject("alone", key, "*"), 2},
	}
}

// orphans returns the keys of the runs that there is something of, but no record. The
// records are read after the rest: that of a run is there before anything else is. looked is
// how many subjects the server has looked through.
func (e *Engine) orphans(ctx context.Context) (keys map[string]bool, looked int, err error) {
	keys = map[string]bool{}
	for _, where := range e.places("*") {
		subjects, err := e.subjects(ctx, where.stream, where.filter)
		if err != nil {
			return nil, looked, err
		}
		looked += len(subjects)
		for subject := range subjects {
			if key := strings.Split(subject, ".")[where.token]; isKey(key) {
				keys[key] = true
			}
		}
	}
	return keys, looked, e.leaveOut(ctx, keys)
}

// leaveOut takes the runs out that have a record.
func (e *Engine) leaveOut(ctx context.Context, keys map[string]bool) error {
	for key := range keys {
		switch rec, err := e.read(ctx, nameOf(key)); {
		case err != nil:
			return err
		case rec != nil && rec.Key == key:
			delete(keys, key)
		}
	}
	return nil
}

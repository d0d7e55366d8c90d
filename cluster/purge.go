package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Purge removes queued tasks, results and quarantine marks of runs that have no record, such as
// runs of killed submitters. Dead letters stay. Workers do this each minute. Call Purge if
// there are no workers.
//
// Purge returns the number of removed messages. If it finds such runs, it checks them again
// after a Heartbeat, by default 15 s: a submitter that was cut off writes the record of its run
// again when it is connected again. Purge returns the cause of ctx when ctx ends,
// stint.ErrClosed when the client is closed, and an error if the server refuses.
func (c *Client) Purge(ctx context.Context) (removed int, err error) {
	found, _, err := c.orphans(ctx)
	if err == nil && len(found) > 0 {
		removed, err = c.removeOrphans(ctx, found)
	}
	if err != nil {
		return removed, c.orCause(ctx, fmt.Errorf("cluster: purge: %w", err))
	}
	return removed, nil
}

// A record is the one sign that a run is alive: its submitter writes it before anything else,
// replaces it in one step, renews it each Heartbeat, writes it again after it was cut off, and
// removes it last. What belongs to a run is removed by others only if the record was absent twice,
// a Heartbeat apart: see also runStates. Consumers and connections are no signs: they are absent
// for a moment whenever a submitter connects again.

// orphans returns the keys of runs that have messages but no record, and how many subjects
// the server has searched. It reads the records last, since the record of a run is
// written before anything else.
func (c *Client) orphans(ctx context.Context) (keys map[string]bool, searched int, err error) {
	keys = map[string]bool{}
	for _, f := range c.runFilters("*") {
		subjects, err := c.subjects(ctx, f.stream, f.filter)
		if err != nil {
			return nil, searched, err
		}
		searched += len(subjects)
		for subject := range subjects {
			if key := strings.Split(subject, ".")[f.keyToken]; isKey(key) {
				keys[key] = true
			}
		}
	}
	return keys, searched, c.excludeRecorded(ctx, keys)
}

// excludeRecorded removes the keys of runs that have a record.
func (c *Client) excludeRecorded(ctx context.Context, keys map[string]bool) error {
	for key := range keys {
		switch rec, err := c.read(ctx, nameOf(key)); {
		case err != nil:
			return err
		case rec != nil && rec.Key == key:
			delete(keys, key)
		}
	}
	return nil
}

// removeOrphans removes the runs with these keys that have no record after a heartbeat either.
func (c *Client) removeOrphans(ctx context.Context, keys map[string]bool) (removed int, err error) {
	select {
	case <-time.After(c.conf.heartbeat):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-c.life.Done():
		return 0, context.Cause(c.life)
	}
	if err := c.excludeRecorded(ctx, keys); err != nil {
		return 0, err
	}
	for key := range keys {
		n, err := c.removeOrphan(ctx, key)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// removeOrphan removes the messages of one run.
func (c *Client) removeOrphan(ctx context.Context, key string) (removed int, err error) {
	for _, f := range c.runFilters(key) {
		subjects, err := c.subjects(ctx, f.stream, f.filter)
		switch {
		case err != nil:
		case f.stream == "tasks":
			err = c.deleteTasks(ctx, f.filter)
		case len(subjects) > 0:
			err = c.purge(ctx, f.stream, f.filter)
		}
		if err != nil {
			return removed, err
		}
		for _, n := range subjects {
			removed += int(n)
		}
	}
	if removed > 0 {
		c.conf.log.Info("cluster: messages of a run without a record were removed", "run", runOf(key), "messages", removed)
	}
	return removed, nil
}

// A runFilter selects messages of runs in a stream, whose subjects have the key in one token.
type runFilter struct {
	stream, filter string
	keyToken       int
}

// runFilters returns the filters of a run; of all runs if key is "*".
func (c *Client) runFilters(key string) []runFilter {
	return []runFilter{
		{"tasks", c.names.subject("task", "*", key, "*"), 3},
		{"results", c.names.resultsOf(key), 2},
		{"runs", c.names.subject("alone", key, ">"), 2},
	}
}

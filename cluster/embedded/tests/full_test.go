package tests

import (
	"context"
	"errors"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// A submitter waits while the queue is full, and continues when there is room.
func TestFullQueueMakesWait(t *testing.T) {
	t.Parallel()
	const n, limit = 60, 8
	where, j := newServer(t), newJournal(t)
	client := connect(t, where, cluster.QueueLimit(limit))
	c := begin(bounded(t), client, newTask(j), items(n, item{}))
	counter := look(t, where)
	counter.queued(t, limit)
	serve(t, client, 1, newTask(j))
	c.succeed(t, n)
	runsOf(t, j.events(t), n)
	equal(t, "number of runs", count(j.events(t), is("begin")), n)
	counter.nothingLeft(t)
}

// Two submitters share a queue that is full, and both end.
func TestFullQueueIsShared(t *testing.T) {
	t.Parallel()
	const n, limit = 40, 8
	where, j := newServer(t), newJournal(t)
	client, other := connect(t, where, cluster.QueueLimit(limit)), connect(t, where, cluster.QueueLimit(limit))
	a := begin(bounded(t), client, newTask(j), items(n, item{}))
	b := begin(bounded(t), other, newTask(j), items(n, item{}))
	serve(t, connect(t, where, cluster.QueueLimit(limit)), 2, newTask(j))
	a.succeed(t, n)
	b.succeed(t, n)
	look(t, where).nothingLeft(t)
}

// A submitter that waits for room gives up when its context ends, and removes its tasks.
func TestFullQueueIsGivenUp(t *testing.T) {
	t.Parallel()
	const limit = 8
	where, j := newServer(t), newJournal(t)
	client := connect(t, where, cluster.QueueLimit(limit))
	enough := errors.New("waited long enough")
	ctx, cancel := context.WithCancelCause(bounded(t))
	c := begin(ctx, client, newTask(j), items(10*limit, item{}), cluster.Queue(5*limit))
	counter := look(t, where)
	counter.queued(t, limit)
	cancel(enough)
	c.fails(t, enough)
	equal(t, "number of results", len(c.outs), 10*limit)
	counter.nothingLeft(t)

	serve(t, client, 4, newTask(j))
	begin(bounded(t), client, newTask(j), items(3*limit, item{})).succeed(t, 3*limit)
	equal(t, "number of runs", count(j.events(t), is("begin")), 3*limit)
}

package tests

import (
	"context"
	"errors"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A submitter waits while the queue is full, and goes on when there is room.
func TestFullQueueMakesWait(t *testing.T) {
	t.Parallel()
	const n, limit = 60, 8
	where, j := newServer(t), newJournal(t)
	e := connect(t, where, cluster.QueueLimit(limit))
	c := begin(bounded(t), e, newTask(j), items(n, item{}))
	counter := look(t, where)
	counter.queued(t, limit)
	serve(t, e, 1, newTask(j))
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
	e, other := connect(t, where, cluster.QueueLimit(limit)), connect(t, where, cluster.QueueLimit(limit))
	a := begin(bounded(t), e, newTask(j), items(n, item{}))
	b := begin(bounded(t), other, newTask(j), items(n, item{}))
	serve(t, connect(t, where, cluster.QueueLimit(limit)), 2, newTask(j))
	a.succeed(t, n)
	b.succeed(t, n)
	look(t, where).nothingLeft(t)
}

// A submitter that waits for room gives up when its context ends, and takes back what it
// has submitted.
func TestFullQueueIsGivenUp(t *testing.T) {
	t.Parallel()
	const limit = 8
	where, j := newServer(t), newJournal(t)
	e := connect(t, where, cluster.QueueLimit(limit))
	enough := errors.New("waited long enough")
	ctx, cancel := context.WithCancelCause(bounded(t))
	c := begin(ctx, e, newTask(j), items(10*limit, item{}), stint.Queue(5*limit))
	counter := look(t, where)
	counter.queued(t, limit)
	cancel(enough)
	c.fails(t, enough)
	equal(t, "number of results", len(c.outs), 10*limit)
	counter.nothingLeft(t)

	serve(t, e, 4, newTask(j))
	begin(bounded(t), e, newTask(j), items(3*limit, item{})).succeed(t, 3*limit)
	equal(t, "number of runs", count(j.events(t), is("begin")), 3*limit)
}

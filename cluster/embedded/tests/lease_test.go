package tests

import (
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// Submitters and workers of another version may know a shorter lease than the worker that
// runs a task. The task is not taken away from that.
func TestLeasesDiffer(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	task := func(d time.Duration) *work { return newTask(j, cluster.Lease(d)) }
	serve(t, connect(t, where), 2, task(patience))
	counter := look(t, where)
	counter.workers(t)
	c := begin(bounded(t), connect(t, where), task(moment/10), items(1, item{Do: "wait", Gate: "end"}))
	j.seen(t, 1, "begun", is("begin"))
	serve(t, connect(t, where), 2, task(moment/10))
	begin(bounded(t), connect(t, where), task(moment/10), items(4, item{})).succeed(t, 4)
	j.never(t, "a task runs twice", func(all []event) bool { return count(all, of("begin", 0)) > 2 })
	j.open(t, "end")
	c.succeed(t, 1)
	equal(t, "the attempt", c.outs[0].Attempt, 1)
	equal(t, "runs", count(j.events(t), is("begin")), 5)
	counter.nothingLeft(t)
}

// A run without a Name goes with the engine of its submitter, and so does its Limit.
func TestClosedRunLimitsNobody(t *testing.T) {
	t.Parallel()
	const slots = 8
	where, j := newServer(t), newJournal(t)
	task, counter := newTask(j), look(t, where)
	submitter := connect(t, where)
	c := begin(bounded(t), submitter, task, items(20, item{Do: "wait", Gate: "never"}), stint.Limit(1))
	counter.queued(t, 20)
	if err := submitter.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	c.fails(t, stint.ErrClosed)
	counter.nothingLeft(t)
	serve(t, connect(t, where), slots, task)
	after := begin(bounded(t), connect(t, where), task, items(slots, item{Do: "wait", Gate: "all"}))
	j.seen(t, slots, "begun", is("begin"))
	j.open(t, "all")
	after.succeed(t, slots)
	counter.nothingLeft(t)
}

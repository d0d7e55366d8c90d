package tests

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// Submitters and workers of another version may have a shorter lease than the worker that runs a
// task. It keeps the task.
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

// A task arrives at a worker when its lease is over and another worker has had it. The
// worker does not run it, even after it has dropped that request and made another: its slot
// takes the next task.
func TestTaskComesLate(t *testing.T) {
	t.Parallel()
	for name, forgotten := range map[string]bool{"request remembered": false, "request forgotten": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			p, asked := newAsked(t, where)
			task := func(worker string) *work { return newTask(j.as(worker), cluster.Lease(short)) }
			serve(t, connect(t, p.url()), 1, task("late"))
			client, counter := connect(t, where), look(t, where)
			counter.workers(t)
			there := make(chan struct{})
			p.delay(there)

			next := ahead(t, cluster.MapSeq(bounded(t), client, task("test"), func(yield func(item) bool) {
				if yield(item{Do: "wait at first"}) {
					<-there
					slices.Values([]item{{N: 1, Do: "wait", Gate: "end"}, {N: 2, Do: "wait", Gate: "end"}})(yield)
				}
			}))
			eventually(t, "a task is on its way", func() bool {
				return counter.consumer(t, "work=v1").CachedInfo().NumAckPending > 0
			})
			serve(t, connect(t, where), 1, task("in time"))
			out, err, _ := next()
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "the worker whose result counts", out.Worker, "in time")
			before := asked.Load()
			eventually(t, "it asks again", func() bool { return !forgotten || asked.Load() > before })
			close(there)
			j.until(t, "both workers have a task", func(all []event) bool { return begun(all, 1) != "" && begun(all, 2) != "" })
			j.open(t, "end")
			for range 2 {
				if _, err, _ := next(); err != nil {
					t.Error(err)
				}
			}
			counter.nothingLeft(t)
		})
	}
}

// newAsked returns a proxy to the server at that URL, and how many requests for tasks went
// through it.
func newAsked(t *testing.T, where string) (*proxy, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	return newProxy(t, where, func(subject, _ string) <-chan struct{} {
		if strings.HasPrefix(subject, "$JS.API.CONSUMER.MSG.NEXT.") {
			asked.Add(1)
		}
		return nil
	}), asked
}

// A run without a Name ends with the client of its submitter, and so does its Limit.
func TestClosedRunLimitsNobody(t *testing.T) {
	t.Parallel()
	const slots = 8
	where, j := newServer(t), newJournal(t)
	task, counter := newTask(j), look(t, where)
	submitter := connect(t, where)
	c := begin(bounded(t), submitter, task, items(20, item{Do: "wait", Gate: "never"}), cluster.Limit(1))
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

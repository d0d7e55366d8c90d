package tests

import (
	"testing"

	"github.com/stint-go/stint/cluster"
)

// A limit holds for all workers together.
func TestLimitHoldsForTheCluster(t *testing.T) {
	t.Parallel()
	const n, limit = 60, 3
	where, j := newServer(t), newJournal(t)
	startWorkers(t, 3, part{URL: where, Journal: j.Path, Slots: 4})
	all := items(n, item{For: tick / 2})
	for i := range limit {
		all[i] = item{N: i, Do: "wait", Gate: "first"}
	}
	c := begin(bounded(t), connect(t, where), newTask(j), all, cluster.Limit(limit))
	j.seen(t, limit, "begun", is("begin"))
	j.seen(t, 3, "ready", is("ready"))
	j.open(t, "first")
	c.succeed(t, n)
	events := j.events(t)
	equal(t, "at once, at most", most(events), limit)
	equal(t, "number of runs", count(events, is("begin")), n)
	look(t, where).nothingLeft(t)
}

// Of the limits of several runs of one task the smallest holds, while its run is in progress.
func TestSmallestLimitHolds(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	c := connect(t, where)
	task := newTask(j)
	serve(t, connect(t, where), 8, task)
	small := begin(bounded(t), c, task, items(2, item{Do: "wait", Gate: "small"}), cluster.Limit(2))
	j.seen(t, 2, "begun", is("begin"))
	large := begin(bounded(t), c, task, items(20, item{For: tick}), cluster.Limit(5))
	status, err := c.Status(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Tasks) != 1 || status.Tasks[0].Limit != 2 || status.Tasks[0].InFlight != 2 {
		t.Errorf("tasks: got %+v, want a limit of 2, and 2 in flight", status.Tasks)
	}
	j.open(t, "small")
	small.succeed(t, 2)
	large.succeed(t, 20)
	if got := most(j.events(t)); got > 5 {
		t.Errorf("%d at once, want 5 at most", got)
	}

	free := begin(bounded(t), c, task, items(8, item{Do: "wait", Gate: "free"}))
	j.until(t, "all run at once without a limit", func(all []event) bool {
		return count(all, is("begin"))-count(all, is("end")) == 8
	})
	j.open(t, "free")
	free.succeed(t, 8)
}

// A worker runs no more than its slots.
func TestSlotsOfAWorker(t *testing.T) {
	t.Parallel()
	const n, slots = 40, 3
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), slots, newTask(j))
	all := items(n, item{For: tick / 2})
	for i := range slots {
		all[i] = item{N: i, Do: "wait", Gate: "first"}
	}
	c := begin(bounded(t), connect(t, where), newTask(j), all)
	j.seen(t, slots, "begun", is("begin"))
	j.open(t, "first")
	c.succeed(t, n)
	equal(t, "at once, at most", most(j.events(t)), slots)
}

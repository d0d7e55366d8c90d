package tests

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// A task that kills its workers becomes a dead letter when it has killed a worker that ran
// nothing else. Tasks that ran at the same time are not blamed.
func TestPoisonIsDeadLetter(t *testing.T) {
	t.Parallel()
	const n, bad = 1500, 13 // enough for the workers to be busy until it becomes a dead letter
	where, j := newServer(t), newJournal(t)
	respawn(t, 2, part{URL: where, Journal: j.Path, Slots: 4, Lease: short})
	c := connect(t, where)
	all := items(n, item{For: 2 * tick})
	all[bad].Do = "exit"
	outs, err := cluster.Map(bounded(t), c, newTask(j, cluster.Lease(short)), all, cluster.KeepGoing())

	errs := itemErrors(t, err)
	if len(errs) != 1 || !errors.Is(errs[bad], cluster.ErrPoison) {
		t.Fatalf("error: got %v, want that item %d is poison, and no more", err, bad)
	}
	for i, out := range outs {
		if i != bad && out.N != answer(i) {
			t.Errorf("result %d is %+v", i, out)
		}
	}
	events := j.events(t)
	if last := only(events, is("begin")); last[len(last)-1].Index == bad {
		t.Errorf("nothing was left to run beside item %d when it began last", bad)
	}
	alone(t, events, bad)
	deadLetterShown(t, c, all[bad], events)
}

// alone fails the test if something else ran on the worker on which item i started last.
func alone(t *testing.T, all []event, i int) {
	t.Helper()
	begins := only(all, of("begin", i))
	if len(begins) < 2 {
		t.Errorf("item %d ran %d times, want more than once before it is put aside", i, len(begins))
	}
	last := begins[len(begins)-1]
	running, began := map[int]bool{}, false
	for _, e := range only(all, func(e event) bool { return e.Worker == last.Worker }) {
		switch {
		case e == last:
			began = true
		case e.What == "begin":
			running[e.Index] = true
		case e.What == "end" && !began:
			delete(running, e.Index)
		}
	}
	if len(running) > 0 {
		t.Errorf("beside item %d there ran %v on worker %s, which it ended last", i, running, last.Worker)
	}
}

// deadLetterShown fails the test unless Status shows a dead letter for in.
func deadLetterShown(t *testing.T, c *cluster.Client, in item, all []event) {
	t.Helper()
	status, err := c.Status(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(status.DeadLetters) != 1 {
		t.Fatalf("dead letters: got %+v, want one", status.DeadLetters)
	}
	got := status.DeadLetters[0]
	equal(t, "task", got.Task, "work/v1")
	equal(t, "ID", got.ID, only(all, of("begin", in.N))[0].ID)
	var back item
	if err := json.Unmarshal(got.Input, &back); err != nil || back != in {
		t.Errorf("input: got %s (%v), want %+v", got.Input, err, in)
	}
	if got.Reason == "" || got.Time.IsZero() {
		t.Errorf("got %+v, want a reason and a time", got)
	}
}

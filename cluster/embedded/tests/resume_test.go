package tests

import (
	"context"
	"errors"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A submitter is killed. Another one gets all its results, from the first on.
func TestResume(t *testing.T) {
	t.Parallel()
	const n = 200
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 4, newTask(j))
	all := items(n, item{For: tick})
	all[n-1] = item{N: n - 1, Do: "wait", Gate: "end"}
	p := part{Role: "submitter", URL: where, Journal: j.Path, Run: "nightly", Items: all}
	first := start(t, p)
	j.seen(t, n/10, "result", is("result"))
	e := connect(t, where)
	_, err := cluster.Map(bounded(t), e, newTask(j), items(3, item{}), stint.Name("nightly"))
	wrong(t, err, cluster.ErrRunExists)
	first.kill()
	_, err = cluster.Map(bounded(t), e, newTask(j), items(3, item{}), stint.Name("nightly"))
	wrong(t, err, cluster.ErrRunExists)

	j.open(t, "end")
	var outs []outcome
	for out, err := range cluster.Resume(bounded(t), e, newTask(j), "nightly") {
		if err != nil {
			t.Fatal(err)
		}
		outs = append(outs, out)
	}
	right(t, outs, n)
	for i, runs := range runsOf(t, j.events(t), n) {
		if runs > 1 {
			t.Errorf("item %d ran %d times", i, runs)
		}
	}
	look(t, where).leftBy(t, 1)
	begin(bounded(t), e, newTask(j), items(3, item{}), stint.Name("nightly")).succeed(t, 3)
}

// A submitter is killed before it has submitted all. Another one gets the results of what
// it did submit, and is told that this is not all.
func TestResumeOfAPart(t *testing.T) {
	t.Parallel()
	const n = 20
	where, j := newServer(t), newJournal(t)
	p := part{Role: "submitter", URL: where, Journal: j.Path, Run: "nightly", Items: items(n, item{}), Stall: true}
	first := start(t, p)
	j.seen(t, 1, "stalled", is("stalled"))
	counter := look(t, where)
	counter.queued(t, n)
	first.kill()
	e := connect(t, where)
	serve(t, connect(t, where), 4, newTask(j))

	var outs []outcome
	var last error
	for out, err := range cluster.Resume(bounded(t), e, newTask(j), "nightly") {
		if last != nil {
			t.Errorf("after the error: %+v, %v", out, err)
		}
		if last = err; err == nil {
			outs = append(outs, out)
		}
	}
	wrong(t, last, cluster.ErrIncomplete)
	right(t, outs, n)
	counter.leftBy(t, 1)
}

// There is nothing to resume of a run that never was, or has ended.
func TestResumeOfNothing(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	e := connect(t, where)
	serve(t, e, 1, newTask(j))
	begin(bounded(t), e, newTask(j), items(3, item{}), stint.Name("ended")).succeed(t, 3)
	for _, run := range []string{"never", "ended"} {
		yields := 0
		for _, err := range cluster.Resume(bounded(t), e, newTask(j), run) {
			yields++
			wrong(t, err, cluster.ErrRunLost)
		}
		equal(t, "number of yields", yields, 1)
	}
}

// Resume yields the cause of the end of its context also when it has not found the run
// yet.
func TestResumeIsCanceled(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	e, gone := connect(t, where), errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	yields := 0
	for _, err := range cluster.Resume(ctx, e, newTask(j), "nightly") {
		yields++
		wrong(t, err, gone)
	}
	equal(t, "number of yields", yields, 1)
}

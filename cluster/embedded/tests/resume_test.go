package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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
	c := connect(t, where)
	_, err := cluster.Map(bounded(t), c, newTask(j), items(3, item{}), cluster.Name("nightly"))
	wrong(t, err, cluster.ErrRunExists)
	first.kill()
	_, err = cluster.Map(bounded(t), c, newTask(j), items(3, item{}), cluster.Name("nightly"))
	wrong(t, err, cluster.ErrRunExists)

	j.open(t, "end")
	var outs []outcome
	for out, err := range cluster.Resume(bounded(t), c, newTask(j), "nightly") {
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
	begin(bounded(t), c, newTask(j), items(3, item{}), cluster.Name("nightly")).succeed(t, 3)
}

// A submitter is killed before it has submitted all. Another submitter gets the results of
// the submitted items, and then ErrIncomplete.
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
	c := connect(t, where)
	serve(t, connect(t, where), 4, newTask(j))

	var outs []outcome
	var last error
	for out, err := range cluster.Resume(bounded(t), c, newTask(j), "nightly") {
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

// A run is resumed at any moment while its submitter lives and the last results arrive. One
// of the two submitters has the run: it gets all results, and no error. The other gets
// ErrRunLost, whatever results it has.
func TestResumeOfALiveRun(t *testing.T) {
	t.Parallel()
	const n, rounds = 8, 60
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	where, j := newServer(t), newJournal(t)
	client, other, counter := connect(t, where), connect(t, where), look(t, where)
	task := newTask(j)
	serve(t, connect(t, where), n, task)
	first, second := 0, 0
	for i := range rounds {
		name := fmt.Sprint("run-", i)
		begun, resumed := make(chan ending), make(chan ending)
		all := items(n, item{Do: "wait", Gate: name})
		go func() {
			begun <- endOf(cluster.MapSeq(bounded(t), client, task, slices.Values(all), cluster.Name(name)))
		}()
		eventually(t, "all is submitted", func() bool { return counter.submitted(t, name) == n })
		j.open(t, name)
		time.Sleep(time.Duration(r.IntN(15_000)) * time.Microsecond)
		go func() { resumed <- endOf(cluster.Resume(bounded(t), other, task, name)) }()
		a, b := <-begun, <-resumed
		for _, end := range []ending{a, b} {
			if end.err == nil && end.n != n || end.err != nil && !errors.Is(end.err, cluster.ErrRunLost) {
				t.Errorf("run %d: %d results, %v", i, end.n, end.err)
			}
		}
		if (a.err == nil) == (b.err == nil) {
			t.Errorf("run %d: the submitter has got %d results and %v, who has resumed it %d and %v", i, a.n, a.err, b.n, b.err)
		}
		if a.err == nil {
			first++
		} else {
			second++
		}
	}
	t.Logf("%d runs for the first, %d for the second", first, second)
	counter.nothingLeft(t)
}

// An ending is how many results a sequence has yielded, and the error after them.
type ending struct {
	n   int
	err error
}

func endOf(seq iter.Seq2[outcome, error]) (end ending) {
	for _, err := range seq {
		if end.err = err; err == nil {
			end.n++
		}
	}
	return end
}

// submitted returns how many items a run has, once its record says so; otherwise -1.
func (c counter) submitted(t *testing.T, run string) int {
	t.Helper()
	record := struct{ Submitted int }{-1}
	if s, err := c.js.Stream(bounded(t), "stint-runs"); err == nil {
		if m, err := s.GetLastMsgForSubject(bounded(t), "stint.run."+run); err == nil {
			_ = json.Unmarshal(m.Data, &record)
		}
	}
	return record.Submitted
}

// A run that never existed, or has ended, cannot be resumed.
func TestResumeOfNothing(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	c := connect(t, where)
	serve(t, c, 1, newTask(j))
	begin(bounded(t), c, newTask(j), items(3, item{}), cluster.Name("ended")).succeed(t, 3)
	for _, run := range []string{"never", "ended"} {
		yields := 0
		for _, err := range cluster.Resume(bounded(t), c, newTask(j), run) {
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
	client, gone := connect(t, where), errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	yields := 0
	for _, err := range cluster.Resume(ctx, client, newTask(j), "nightly") {
		yields++
		wrong(t, err, gone)
	}
	equal(t, "number of yields", yields, 1)
}

package tests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A cancelled run leaves nothing, neither in the queue nor on the workers.
func TestCanceledRunLeavesNothing(t *testing.T) {
	t.Parallel()
	const n, slots = 100, 4
	gone := errors.New("gone")
	for name, run := range map[string]func(t *testing.T, client *cluster.Client, j journal, all []item){
		"context": func(t *testing.T, client *cluster.Client, j journal, all []item) {
			ctx, cancel := context.WithCancelCause(bounded(t))
			c := begin(ctx, client, newTask(j), all)
			j.seen(t, slots, "begun", is("begin"))
			cancel(gone)
			c.fails(t, gone)
		},
		"first error": func(t *testing.T, client *cluster.Client, j journal, all []item) {
			all[0] = item{Do: "fail", Gate: "fail"}
			c := begin(bounded(t), client, newTask(j), all)
			j.seen(t, slots, "begun", is("begin"))
			j.open(t, "fail")
			<-c.done
			if c.err == nil || c.err.Error() != "item 0 failed: "+errUnknown.Error() {
				t.Errorf("error: got %v", c.err)
			}
		},
		"break": func(t *testing.T, client *cluster.Client, j journal, all []item) {
			all[0] = item{}
			for out, err := range cluster.MapSeq(bounded(t), client, newTask(j), slices.Values(all)) {
				if err != nil || out.N != answer(0) {
					t.Errorf("got %+v, %v", out, err)
				}
				j.seen(t, 1+slots, "begun", is("begin"))
				break
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			client := connect(t, where)
			serve(t, connect(t, where), slots, newTask(j))
			run(t, client, j, items(n, item{Do: "wait", Gate: "never"}))
			counter := look(t, where)
			counter.nothingLeft(t)
			ended(t, j)

			began := count(j.events(t), is("begin"))
			if began > 2*slots {
				t.Errorf("%d tasks began, of a run that was cancelled with %d under way", began, slots)
			}
			begin(bounded(t), client, newTask(j), items(2*slots, item{})).succeed(t, 2*slots)
			equal(t, "number of runs after it", count(j.events(t), is("begin"))-began, 2*slots)
			counter.nothingLeft(t)
		})
	}
}

// ended waits until all started tasks have ended, and fails the test if the context of a
// waiting task did not end with ErrCanceled.
func ended(t *testing.T, j journal) {
	t.Helper()
	j.until(t, "all that began has ended", func(all []event) bool {
		return count(all, is("begin")) == count(all, is("end"))
	})
	canceled := 0
	for _, e := range only(j.events(t), is("end")) {
		switch {
		case e.Cause == cluster.ErrCanceled.Error():
			canceled++
		case e.Cause != "" || e.Index != 0:
			t.Errorf("the context of item %d ended with %q, want %v", e.Index, e.Cause, cluster.ErrCanceled)
		}
	}
	if canceled == 0 {
		t.Error("no task was told that its run was cancelled")
	}
}

// The end of a run leaves the tasks of other runs: those of a worker that dies run again.
func TestEndOfARunLeavesOthers(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, task := connect(t, where), newTask(j, cluster.Lease(4*short))
	p := part{URL: where, Journal: j.Path, Slots: 8, Lease: 4 * short}
	first := startWorkers(t, 1, p)[0]
	before := begin(bounded(t), client, task, items(1, item{Do: "wait at first"}))
	j.seen(t, 1, "begun", is("begin"))
	ctx, cancel := context.WithCancelCause(bounded(t))
	gone := errors.New("gone")
	between := begin(ctx, client, task, items(3, item{Do: "wait", Gate: "never"}))
	j.seen(t, 4, "begun", is("begin"))
	after := begin(bounded(t), client, task, items(2, item{Do: "wait", Gate: "after"}))
	j.seen(t, 6, "begun", is("begin"))

	cancel(gone)
	between.fails(t, gone)
	j.open(t, "after")
	after.succeed(t, 2)
	first.kill()
	startWorkers(t, 1, p)
	before.succeed(t, 1)
	equal(t, "the attempt that counts", before.outs[0].Attempt, 2)
	look(t, where).nothingLeft(t)
}

// A run whose context has ended before it starts submits nothing.
func TestCanceledBeforeItBegins(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client := connect(t, where)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(bounded(t))
	cancel(gone)
	c := begin(ctx, client, newTask(j), items(10, item{}), cluster.KeepGoing())
	c.fails(t, gone)
	equal(t, "number of results", len(c.outs), 10)
	look(t, where).nothingLeft(t)
}

// A run that is cancelled while it starts leaves nothing, whichever of its requests are
// unanswered.
func TestCanceledWhileItBegins(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, gone := connect(t, where), errors.New("gone")
	for i := range 300 {
		ctx, cancel := context.WithCancelCause(bounded(t))
		time.AfterFunc(time.Duration(i%100)*20*time.Microsecond, func() { cancel(gone) })
		begin(ctx, client, newTask(j), items(1, item{}), cluster.Name(fmt.Sprint("run-", i))).fails(t, gone)
	}
	look(t, where).nothingLeft(t)
}

// A run ends that is cancelled when its feeder has published as many messages as may be
// unanswered, even before anything waits for the answers.
func TestCanceledByItsSequence(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, gone := connect(t, where), errors.New("gone")
	for range 10 {
		ctx, cancel := context.WithCancelCause(bounded(t))
		seq := func(yield func(item) bool) {
			for i := 0; yield(item{N: i}); i++ {
				if i == 255 {
					cancel(gone)
				}
			}
		}
		ended := make(chan error, 1)
		go func() {
			var last error
			for _, err := range cluster.MapSeq(ctx, client, newTask(j), seq) {
				last = err
			}
			ended <- last
		}()
		select {
		case err := <-ended:
			wrong(t, err, gone)
		case <-time.After(patience):
			t.Fatal("it has not ended")
		}
	}
	look(t, where).nothingLeft(t)
}

// A closed client removes its runs without a Name, whichever of their requests are
// unanswered.
func TestClosedWhileItSubmits(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	for i := range 20 {
		client := connect(t, where)
		c := begin(bounded(t), client, newTask(j), items(300, item{}))
		time.Sleep(time.Duration(i) * time.Millisecond)
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		c.fails(t, stint.ErrClosed)
	}
	look(t, where).nothingLeft(t)
}

package tests

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A run is cancelled whose tasks are mixed with those of another run at a worker. When the client of
// that worker is closed, all its tasks of the other run are run again.
func TestCanceledBetweenHeld(t *testing.T) {
	t.Parallel()
	const held, n = 3, 6
	where, j := newServer(t), newJournal(t)
	c := connect(t, where)
	task := func(worker string) *work { return newTask(j.as(worker), cluster.Lease(patience)) } // no busy machine loses it: a second attempt would end what is held
	first := connect(t, where)
	first.Handle(task("first"))
	served := make(chan error, 1)
	go func() { served <- cluster.Serve(context.Background(), first, cluster.Limit(16)) }()

	next := ahead(t, cluster.MapSeq(bounded(t), c, task("test"), halves(j, held, n)))
	j.seen(t, held, "begun", is("begin"))
	ctx, cancel := context.WithCancelCause(bounded(t))
	between := begin(ctx, c, task("test"), items(4, item{Do: "wait", Gate: "never"}))
	j.seen(t, held+4, "begun", is("begin"))
	j.open(t, "second half")
	j.seen(t, n+4, "begun", is("begin"))
	gone := errors.New("gone")
	cancel(gone)
	between.fails(t, gone)
	counter := look(t, where)
	j.open(t, "end of the second half")
	counter.queued(t, held) // the second half has ended; its results are removed from the stream by and by

	if err := first.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wrong(t, <-served, stint.ErrClosed)
	serve(t, connect(t, where), 2, task("second"))
	for i := range n {
		if out, err, ok := next(); err != nil || !ok || out.N != answer(i) {
			t.Fatalf("result %d: %+v, %v, %v", i, out, err, ok)
		}
	}
	counter.nothingLeft(t)
}

// halves yields n items, of which the first held never end at their first attempt. The
// others come, and end, when their gates open.
func halves(j journal, held, n int) iter.Seq[item] {
	return func(yield func(item) bool) {
		for i := range n {
			in := item{N: i, Do: "wait at first"}
			if i >= held {
				j.opened("second half", nil)
				in = item{N: i, Do: "wait", Gate: "end of the second half"}
			}
			if !yield(in) {
				return
			}
		}
	}
}

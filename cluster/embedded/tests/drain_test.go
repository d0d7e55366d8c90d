package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A worker whose context ends takes no more tasks, finishes its tasks, and requeues none.
func TestDrain(t *testing.T) {
	t.Parallel()
	const held, n = 3, 30
	where, j := newServer(t), newJournal(t)
	client := connect(t, where)
	middle := cluster.Lease(lease / 2)
	first := serve(t, connect(t, where), held, newTask(j.as("first"), middle))
	all := items(n, item{})
	for i := range held {
		all[i] = item{N: i, Do: "wait", Gate: "end"}
	}
	c := begin(bounded(t), client, newTask(j, middle), all)
	j.seen(t, held, "begun", is("begin"))
	first.cancel()
	serve(t, connect(t, where), 2, newTask(j.as("second"), middle))
	j.seen(t, n-held, "ended on the second", by("second", "end"))
	select {
	case err := <-first.ended:
		t.Fatalf("Serve returned %v while it had tasks", err)
	default:
	}
	time.Sleep(lease) // what is held is still held after its lease
	j.open(t, "end")
	c.succeed(t, n)
	if err := first.wait(t); err != nil {
		t.Errorf("Serve: %v", err)
	}
	events := j.events(t)
	equal(t, "runs on the first", count(events, by("first", "begin")), held)
	equal(t, "runs", count(events, is("begin")), n)
	for _, client := range only(events, is("end")) {
		equal(t, "the cause that ended a context", client.Cause, "")
	}
	look(t, where).nothingLeft(t)
}

// A worker process that is interrupted drains and ends well.
func TestProcessDrains(t *testing.T) {
	t.Parallel()
	const n, slots = 100, 2
	where, j := newServer(t), newJournal(t)
	workers := startWorkers(t, 2, part{URL: where, Journal: j.Path, Slots: slots})
	client := connect(t, where)
	before := warm(t, client, j, 2*slots)
	c := begin(bounded(t), client, newTask(j), items(n, item{For: tick}))
	j.seen(t, 2*slots, "ended", by(workers[0].name(), "end"))
	if err := workers[0].interrupt(t); err != nil {
		t.Errorf("the worker ended: %v", err)
	}
	c.succeed(t, n)
	equal(t, "runs", count(j.events(t)[before:], is("begin")), n)
	look(t, where).nothingLeft(t)
}

// When the client of a worker is closed, its functions are interrupted, and another worker runs
// their tasks.
func TestCloseEndsTasks(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	task := func(worker string) *work { return newTask(j.as(worker), cluster.Lease(4*short)) }
	broken, err := cluster.Connect(bounded(t), where)
	if err != nil {
		t.Fatal(err)
	}
	broken.Handle(task("first"))
	ended := make(chan error, 1)
	go func() { ended <- cluster.Serve(context.Background(), broken, cluster.Limit(2)) }()
	c := begin(bounded(t), connect(t, where), task("test"), items(2, item{Do: "wait at first"}))
	j.seen(t, 2, "begun", is("begin"))
	if err := broken.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wrong(t, <-ended, stint.ErrClosed)
	for _, e := range only(j.events(t), by("first", "end")) {
		equal(t, "the cause that ended a context", e.Cause, stint.ErrClosed.Error())
	}
	equal(t, "functions that have ended", count(j.events(t), by("first", "end")), 2)
	serve(t, connect(t, where), 2, task("second"))
	c.succeed(t, 2)
	look(t, where).nothingLeft(t)
}

// A run on a client that is closed ends with stint.ErrClosed, and so does one that starts
// later.
func TestCloseEndsRuns(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, err := cluster.Connect(bounded(t), where)
	if err != nil {
		t.Fatal(err)
	}
	client.Handle(newTask(j))
	c := begin(bounded(t), client, newTask(j), items(5, item{}))
	counter := look(t, where)
	counter.queued(t, 5)
	for range 2 {
		if err := client.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	c.fails(t, stint.ErrClosed)
	begin(bounded(t), client, newTask(j), items(5, item{})).fails(t, stint.ErrClosed)
	wrong(t, cluster.Serve(bounded(t), client), stint.ErrClosed)
}

// A worker without a limit finds one, within bounds if they are given.
func TestServeFindsItsLimit(t *testing.T) {
	t.Parallel()
	const n = 200
	for name, opts := range map[string][]cluster.Option{"none": nil, "auto": {cluster.Limiter(stint.Auto(2, 8))}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			w := connect(t, where)
			w.Handle(newTask(j))
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- cluster.Serve(ctx, w, opts...) }()
			begin(bounded(t), connect(t, where), newTask(j), items(n, item{For: tick / 5})).succeed(t, n)
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Serve: %v", err)
			}
			equal(t, "runs", count(j.events(t), is("begin")), n)
			if got := most(j.events(t)); name == "auto" && got > 8 {
				t.Errorf("%d at once, want 8 at most", got)
			}
			look(t, where).nothingLeft(t)
		})
	}
}

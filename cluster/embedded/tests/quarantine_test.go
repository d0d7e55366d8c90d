package tests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A task that comes for the third time starts when the other tasks of its worker have ended, and
// none starts concurrently with it.
func TestQuarantineRunsAlone(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, counter := connect(t, where), look(t, where)
	quarantined := newTask(j.as("quarantined"), cluster.Lease(patience))
	calm := named("calm/v1", j.as("calm"), cluster.Lease(patience))
	c := begin(bounded(t), client, quarantined, items(1, item{Do: "wait", Gate: "quarantined"}))
	counter.queued(t, 1)
	counter.lose(t, 1, 1)
	held := counter.take(t, 1)[0]
	serve(t, connect(t, where), 4, quarantined, calm)
	before := begin(bounded(t), client, calm, items(1, item{Do: "wait", Gate: "calm"}))
	j.seen(t, 1, "begun", by("calm", "begin"))

	giveBack(t, held)
	counter.giving(t, 3)
	j.never(t, "the quarantined began beside something else", func(all []event) bool { return count(all, by("quarantined", "begin")) > 0 })
	j.open(t, "calm")
	before.succeed(t, 1)
	j.seen(t, 1, "begun", by("quarantined", "begin"))
	after := begin(bounded(t), client, calm, items(8, item{}))
	counter.queued(t, 9)
	j.never(t, "something began beside the quarantined", func(all []event) bool { return count(all, by("calm", "begin")) > 1 })
	equal(t, "tasks given to the worker of the quarantined", counter.given(t, "calm=v1"), 1)
	j.open(t, "quarantined")
	c.succeed(t, 1)
	after.succeed(t, 8)

	all := j.events(t)
	i := slices.IndexFunc(all, by("quarantined", "begin"))
	equal(t, "what runs when the quarantined begins", count(all[:i], is("begin"))-count(all[:i], is("end")), 0)
	equal(t, "what follows its beginning", all[i+1].Worker+" "+all[i+1].What, "quarantined end")
	counter.nothingLeft(t)
}

// A task is not blamed for the number of its deliveries, but for workers that ended while
// it ran alone: a task that was delivered often completes, and a task that ends its worker
// runs alone twice.
func TestOftenGiven(t *testing.T) {
	t.Parallel()
	const often = 6
	where, j := newServer(t), newJournal(t)
	client, counter := connect(t, where), look(t, where)
	both := []item{{N: 0}, {N: 1, Do: "exit"}}
	c := begin(bounded(t), client, newTask(j, cluster.Lease(short)), both, cluster.KeepGoing())
	counter.queued(t, 2)
	counter.lose(t, 2, often)
	respawn(t, 2, part{URL: where, Journal: j.Path, Slots: 2, Lease: short})
	<-c.done
	errs := itemErrors(t, c.err)
	if len(errs) != 1 || !errors.Is(errs[1], cluster.ErrPoison) {
		t.Fatalf("error: got %v, want that item 1 is poison, and no more", c.err)
	}
	equal(t, "result of the other", c.outs[0].N, answer(0))
	if got := c.outs[0].Attempt; got <= often {
		t.Errorf("the other was given %d times, want more than %d", got, often)
	}
	if n := count(j.events(t), of("begin", 1)); n < 2 {
		t.Errorf("item 1 ran %d times, want 2 before it is put aside", n)
	}
	deadLetterShown(t, client, both[1], j.events(t))
}

// A worker that has outlived the function removes the mark before it sends the result: if it dies while
// the server is away, the task is not blamed.
func TestMarkIsRemovedBeforeTheResult(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	counter, sent, hold := look(t, where), make(chan struct{}), make(chan struct{})
	var once sync.Once
	p := newProxy(t, where, func(subject, _ string) <-chan struct{} {
		if strings.HasPrefix(subject, "stint.result.") {
			once.Do(func() { close(sent) })
			return hold
		}
		return nil
	})
	c := begin(bounded(t), connect(t, where), newTask(j, cluster.Lease(patience)), items(1, item{Do: "wait", Gate: "end"}))
	counter.queued(t, 1)
	counter.lose(t, 1, 2)
	serve(t, connect(t, p.url()), 1, newTask(j, cluster.Lease(patience)))
	j.seen(t, 1, "begun", is("begin"))
	equal(t, "records and marks while it runs alone", len(counter.subjects(t, "stint-runs")), 2)
	j.open(t, "end")
	<-sent
	equal(t, "records and marks when its result is sent", len(counter.subjects(t, "stint-runs")), 1)
	close(hold)
	c.succeed(t, 1)
	counter.nothingLeft(t)
}

// A task is not blamed when the clients of its workers are closed, however often.
func TestClosesDoNotCondemn(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	task := newTask(j)
	c := begin(bounded(t), connect(t, where), task, items(1, item{Do: "wait", Gate: "end"}))
	for i := range 5 {
		w := connect(t, where)
		w.Handle(task)
		ended := make(chan error, 1)
		go func() { ended <- cluster.Serve(context.Background(), w, cluster.Limit(2)) }()
		select {
		case <-c.done:
			t.Fatalf("it is over when %d were closed: %v", i, c.err)
		case <-j.begins(t, i+1):
		}
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wrong(t, <-ended, stint.ErrClosed)
	}
	j.open(t, "end")
	serve(t, connect(t, where), 2, task)
	c.succeed(t, 1)
	look(t, where).nothingLeft(t)
}

// A task is not blamed when its workers are cut off for longer than the lease, however often: each
// removes its mark when it is back.
func TestCutsDoNotCondemn(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	p, counter, task := newProxy(t, where), look(t, where), newTask(j, cluster.Lease(short))
	c := begin(bounded(t), connect(t, where), task, items(1, item{Do: "wait", Gate: "end"}))
	counter.queued(t, 1)
	counter.lose(t, 1, 2)
	serve(t, connect(t, p.url(), cluster.NATS(nats.ReconnectWait(20*time.Millisecond))), 1, task)
	for i := range 4 {
		select {
		case <-c.done:
			t.Fatalf("it is over when its worker was cut off %d times: %v", i, c.err)
		case <-j.begins(t, i+1):
		}
		p.set(true)
		j.seen(t, i+1, "ended by the clock of the worker", is("end"))
		p.set(false)
	}
	j.open(t, "end")
	c.succeed(t, 1)
	counter.nothingLeft(t)
}

// A task is not blamed when the server gives it to other workers while two are alive and run it, as
// a server may that was restarted.
func TestLivingDoNotCondemn(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	counter, task, held := look(t, where), newTask(j, cluster.Lease(2*lease)), make(chan string, 1000)
	p := newProxy(t, where, func(subject, data string) <-chan struct{} {
		if strings.Contains(data, "+WPI") {
			held <- subject
		}
		return nil
	})
	c := begin(bounded(t), connect(t, where), task, items(1, item{Do: "wait", Gate: "end"}))
	counter.queued(t, 1)
	counter.lose(t, 1, 2)
	for i := range 2 {
		serve(t, connect(t, p.url()), 1, task)
		j.seen(t, i+1, "begun", is("begin"))
		for given := fmt.Sprint(".", 3+i, "."); ; { // to the worker that has begun
			if subject := <-held; strings.HasPrefix(subject, "$JS.ACK.stint-tasks.work=v1"+given) {
				if err := counter.js.Conn().Publish(subject, []byte("-NAK")); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	}
	serve(t, connect(t, where), 1, task)
	eventually(t, "the third worker has given it back, or it is over", func() bool {
		select {
		case <-c.done:
			return true
		default:
			return counter.given(t, "work=v1") > 5
		}
	})
	j.open(t, "end")
	c.succeed(t, 1)
	counter.nothingLeft(t)
}

// A worker leaves at once while it looks a lease long whether the workers that ran a task are dead.
func TestLeavesBeforeItCondemns(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	poisoned(t, where, j, 1, "nightly")
	w, counter := serve(t, connect(t, where), 1, newTask(j, cluster.Lease(time.Hour))), look(t, where)
	counter.giving(t, 3)
	if err := w.drain(t); err != nil {
		t.Errorf("Serve: %v", err)
	}
	counter.queued(t, 1)
	equal(t, "dead letters", len(deadLetters(t, connect(t, where))), 0)
}

// begins returns a channel that is closed when n functions have begun.
func (j journal) begins(t *testing.T, n int) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for r := (reader{journal: j}); count(r.events, is("begin")) < n && t.Context().Err() == nil; {
			r.more(t)
		}
	}()
	return done
}

// A quarantined task that cannot run alone, because another function hangs, does not keep
// its worker from other tasks, and continues when it can.
func TestQuarantineBehindHung(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, counter := connect(t, where), look(t, where)
	task, hung := newTask(j, cluster.Lease(4*short)), named("hung/v1", j.as("hung"))
	quarantined := begin(bounded(t), client, task, items(1, item{}))
	counter.queued(t, 1)
	counter.lose(t, 1, 1)
	held := counter.take(t, 1)[0]
	serve(t, connect(t, where), 8, task, hung) // waits for the length of the lease for the others to end
	long := begin(bounded(t), client, hung, items(1, item{Do: "wait", Gate: "hung"}))
	j.seen(t, 1, "begun", by("hung", "begin"))
	giveBack(t, held)
	counter.giving(t, 3)
	begin(bounded(t), client, task, items(10, item{})).succeed(t, 10)
	select {
	case <-quarantined.done:
		t.Errorf("the quarantined task has ended beside the function that hangs: %v", quarantined.err)
	default:
	}
	j.open(t, "hung")
	long.succeed(t, 1)
	quarantined.succeed(t, 1)
	counter.nothingLeft(t)
}

package tests

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// forge makes the server store its answer to a client's request on a subject.
func (c counter) forge(t *testing.T, stream, subject string) {
	t.Helper()
	if err := c.js.Conn().PublishRequest("$JS.API.INFO", subject, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the answer is stored", func() bool { return slices.Contains(c.subjects(t, stream), subject) })
}

// keyOf waits for a run to have n tasks in the queue, and returns its key.
func (c counter) keyOf(t *testing.T, n int) string {
	t.Helper()
	c.queued(t, n)
	return strings.Split(c.subjects(t, "stint-tasks")[0], ".")[3]
}

// An answer of the server in the place of a result is no result, and the result arrives. One in the
// place of a task becomes a dead letter.
func TestForgedResult(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]cluster.Option{nil, {cluster.Name("named")}} {
		where, j := newServer(t), newJournal(t)
		counter := look(t, where)
		c := begin(bounded(t), connect(t, where), newTask(j), items(4, item{Do: "wait", Gate: "end"}), opts...)
		key := counter.keyOf(t, 4)
		counter.forge(t, "stint-results", "stint.result."+key+".0")
		counter.forge(t, "stint-tasks", "stint.task.work=v1."+key+".7")
		serve(t, connect(t, where), 5, newTask(j))
		eventually(t, "the answer is a dead letter", func() bool { return len(counter.subjects(t, "stint-dead")) == 1 })
		j.open(t, "end") // a run that ends takes its tasks with it
		c.succeed(t, 4)
		counter.queued(t, 0)
		equal(t, "dead letters", len(counter.subjects(t, "stint-dead")), 1)
		equal(t, "calls", count(j.events(t), is("begin")), 4)
	}
}

// An answer of the server in the place of a task does not replace the item.
func TestForgedTask(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	counter := look(t, where)
	seq := func(yield func(item) bool) {
		if !yield(item{}) {
			return
		}
		key := counter.keyOf(t, 1)
		counter.forge(t, "stint-tasks", "stint.task.work=v1."+key+".1")
		if yield(item{N: 1}) {
			serve(t, connect(t, where), 2, newTask(j))
		}
	}
	var outs []outcome
	for out, err := range cluster.MapSeq(bounded(t), connect(t, where), newTask(j), seq) {
		if err != nil {
			t.Fatal(err)
		}
		outs = append(outs, out)
	}
	right(t, outs, 2)
}

// noStreams lets all clients do everything except make streams.
func noStreams(o *server.Options) {
	o.Users = []*server.User{{Username: "ann", Password: "a"}, {Username: "sue", Password: "s", Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.CREATE.>"}},
	}}}
}

// A run whose user may not make streams ends when one is gone, and says why; its worker takes the
// next task.
func TestStreamIsGoneForGood(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"stint-results", "stint-tasks", "stint-runs"} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t, noStreams), newJournal(t)
			ann, sue := strings.Replace(where, "//", "//ann:a@", 1), strings.Replace(where, "//", "//sue:s@", 1)
			connect(t, ann)
			counter := look(t, ann)
			worker := serve(t, connect(t, sue), 1, newTask(j))
			client := connect(t, sue, beating(600*time.Millisecond)...)
			c := begin(bounded(t), client, newTask(j), items(2, item{Do: "wait", Gate: "end"}))
			j.seen(t, 1, "begun", is("begin"))
			if err := counter.js.DeleteStream(bounded(t), stream); err != nil {
				t.Fatal(err)
			}
			if stream != "stint-runs" { // or the results are there before it is missed
				j.open(t, "end")
			}
			<-c.done
			j.open(t, "end")
			if c.err == nil || !strings.Contains(c.err.Error(), "STREAM.CREATE") {
				t.Errorf("Map: got %v, want what is not permitted", c.err)
			}
			if stream == "stint-results" { // the worker does not keep what it cannot send
				if err := worker.drain(t); err != nil {
					t.Error(err)
				}
			}
			connect(t, ann) // makes them
			if stream == "stint-results" {
				serve(t, connect(t, sue), 1, newTask(j))
			}
			begin(bounded(t), client, newTask(j), items(2, item{})).succeed(t, 2)
		})
	}
}

// Another program's consumer with the name of a task is an error that says so.
func TestForeignConsumer(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, counter := connect(t, where), look(t, where)
	s, err := counter.js.Stream(bounded(t), "stint-tasks")
	if err == nil {
		_, err = s.CreateOrUpdatePushConsumer(bounded(t), jetstream.ConsumerConfig{
			Durable: "work=v1", DeliverSubject: "mine", FilterSubject: "stint.task.work=v1.>", AckPolicy: jetstream.AckExplicitPolicy,
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	client.Handle(newTask(j))
	_, err = cluster.Map(bounded(t), client, newTask(j), items(1, item{}))
	for _, err := range []error{err, cluster.Serve(bounded(t), client)} {
		if err == nil || !strings.Contains(err.Error(), "work=v1") || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("got %v, want that the consumer is not ours", err)
		}
	}
}

// So does a run whose first item finds no queue.
func TestQueueIsGoneForGood(t *testing.T) {
	t.Parallel()
	where, j := newServer(t, noStreams), newJournal(t)
	ann, sue := strings.Replace(where, "//", "//ann:a@", 1), strings.Replace(where, "//", "//sue:s@", 1)
	connect(t, ann)
	counter := look(t, ann)
	seq := func(yield func(item) bool) {
		if err := counter.js.DeleteStream(bounded(t), "stint-tasks"); err != nil {
			t.Error(err)
		}
		yield(item{})
	}
	for _, err := range cluster.MapSeq(bounded(t), connect(t, sue), newTask(j), seq) {
		if err == nil || !strings.Contains(err.Error(), "STREAM.CREATE") {
			t.Errorf("MapSeq: got %v, want what is not permitted", err)
		}
	}
}

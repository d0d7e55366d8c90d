package tests

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// A stream is deleted while runs and workers use it. A client makes it again. The run continues,
// or ends with ErrRunLost. Later runs are not affected.
func TestStreamIsDeleted(t *testing.T) {
	t.Parallel()
	const n, slots = 40, 4
	for _, stream := range []string{"stint-tasks", "stint-results", "stint-runs", "stint-dead"} {
		for name, opts := range map[string][]cluster.Option{"": nil, " and a Name": {cluster.Name("x")}} {
			t.Run(stream+name, func(t *testing.T) {
				t.Parallel()
				where, j := newServer(t), newJournal(t)
				client, counter := connect(t, where), look(t, where)
				serve(t, connect(t, where), slots, newTask(j))
				all := items(n, item{})
				for i := n / 2; i < n; i++ {
					all[i] = item{N: i, Do: "wait", Gate: "end"}
				}
				c := begin(bounded(t), client, newTask(j), all, append(opts, cluster.Queue(n*3/4))...)
				j.seen(t, n/2+slots, "begun", is("begin"))
				counter.delete(t, stream)
				if stream == "stint-runs" {
					c.recorded(t, counter)
				}
				j.open(t, "end")
				if <-c.done; c.err == nil {
					right(t, c.outs, n)
				} else {
					wrong(t, c.err, cluster.ErrRunLost)
				}
				begin(bounded(t), client, newTask(j), items(n, item{}), opts...).succeed(t, n)
				if _, err := client.Status(bounded(t)); err != nil {
					t.Error(err)
				}
				counter.nothingLeft(t)
			})
		}
	}
}

// A run that starts without a stream makes it, also if there is no worker.
func TestStreamIsDeletedBefore(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"stint-tasks", "stint-results", "stint-runs", "stint-dead"} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			client, counter := connect(t, where), look(t, where)
			counter.delete(t, stream)
			c := begin(bounded(t), client, newTask(j), items(20, item{}), cluster.Limit(4))
			counter.queued(t, 20)
			counter.delete(t, stream)
			serve(t, connect(t, where), 4, newTask(j))
			if <-c.done; c.err != nil && !errors.Is(c.err, cluster.ErrRunLost) {
				t.Errorf("error: got %v", c.err)
			}
			counter.nothingLeft(t)
		})
	}
}

// A stream is made again only when the server has removed its files: otherwise the server
// removes the files of the new stream, too. Consumers make the deletion slow.
func TestStreamIsDeletedSlowly(t *testing.T) {
	t.Parallel()
	const consumers = 300
	where, j := newServer(t), newJournal(t)
	client, counter := connect(t, where), look(t, where)
	serve(t, connect(t, where), 4, newTask(j))
	for i := range consumers {
		config := jetstream.ConsumerConfig{Durable: fmt.Sprint("slow", i), AckPolicy: jetstream.AckExplicitPolicy}
		if _, err := counter.js.CreateConsumer(bounded(t), "stint-results", config); err != nil {
			t.Fatal(err)
		}
	}
	counter.publish(t, "stint.result.foreign", "") // the new stream would continue its file
	ctx, deleted := bounded(t), make(chan error, 1)
	go func() { deleted <- counter.js.DeleteStream(ctx, "stint-results") }()
	for len(deleted) == 0 {
		// Purge finds the stream missing while the server deletes it, and makes it again.
		if _, err := client.Purge(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	begin(bounded(t), client, newTask(j), items(20, item{})).succeed(t, 20)
}

// Dead letters are stored in a stream that is made again.
func TestDeadLetterIsDeleted(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, counter := connect(t, where, cluster.Heartbeat(time.Minute)), look(t, where)
	serve(t, connect(t, where, cluster.Heartbeat(time.Minute)), 4, newTask(j))
	counter.delete(t, "stint-dead")
	if _, err := client.Status(bounded(t)); err != nil {
		t.Error(err)
	}
	counter.delete(t, "stint-dead")
	counter.publish(t, "stint.task.work=v1.run.x", "{}")
	eventually(t, "it is a dead letter", func() bool { return len(counter.subjects(t, "stint-dead")) == 1 })
	counter.queued(t, 0)
}

// recorded waits until the call is over, or the record of its run is there.
func (c *call) recorded(t *testing.T, counter counter) {
	t.Helper()
	eventually(t, "the run is lost, or has its record again", func() bool {
		select {
		case <-c.done:
			return true
		default:
			s, err := counter.js.Stream(bounded(t), "stint-runs")
			return err == nil && s.CachedInfo().State.Msgs > 0
		}
	})
}

// delete deletes a stream, as an operator may, if it is there.
func (c counter) delete(t *testing.T, stream string) {
	t.Helper()
	if err := c.js.DeleteStream(bounded(t), stream); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Fatal(err)
	}
}

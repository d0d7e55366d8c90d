package tests

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A stream is deleted while runs and workers are under way. It is made again, by who
// needs it. The run goes on, or is told that it was lost. What is begun after that is as
// if nothing had been.
func TestStreamIsDeleted(t *testing.T) {
	t.Parallel()
	const n, slots = 40, 4
	for _, stream := range []string{"stint-tasks", "stint-results", "stint-runs", "stint-aside"} {
		for name, opts := range map[string][]stint.Option{"": nil, " and a Name": {stint.Name("x")}} {
			t.Run(stream+name, func(t *testing.T) {
				t.Parallel()
				where, j := newServer(t), newJournal(t)
				e, counter := connect(t, where), look(t, where)
				serve(t, connect(t, where), slots, newTask(j))
				all := items(n, item{})
				for i := n / 2; i < n; i++ {
					all[i] = item{N: i, Do: "wait", Gate: "end"}
				}
				ctx, cancel := context.WithTimeout(context.Background(), 2*patience) // it looks twice until it believes it
				defer cancel()
				c := begin(ctx, e, newTask(j), all, append(opts, stint.Queue(n*3/4))...)
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
				begin(bounded(t), e, newTask(j), items(n, item{}), opts...).succeed(t, n)
				if _, err := e.Status(bounded(t)); err != nil {
					t.Error(err)
				}
				counter.nothingLeft(t)
			})
		}
	}
}

// A run that begins without a stream makes it, also if there is no worker.
func TestStreamIsDeletedBefore(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"stint-tasks", "stint-results", "stint-runs", "stint-aside"} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			e, counter := connect(t, where), look(t, where)
			counter.delete(t, stream)
			c := begin(bounded(t), e, newTask(j), items(20, item{}), stint.Limit(4))
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

// Tasks that are put aside are kept in a stream that is made again.
func TestAsideIsDeleted(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	e, counter := connect(t, where), look(t, where)
	serve(t, connect(t, where), 4, newTask(j))
	counter.delete(t, "stint-aside")
	if _, err := e.Status(bounded(t)); err != nil {
		t.Error(err)
	}
	counter.delete(t, "stint-aside")
	counter.publish(t, "stint.task.work=v1.run.x", "{}")
	eventually(t, "it is put aside", func() bool { return len(counter.subjects(t, "stint-aside")) == 1 })
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

package tests

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// Messages of killed submitters and workers are removed, by Purge or by a later worker, whether it
// knows their task or not. Nothing else is.
func TestLeftByTheDead(t *testing.T) {
	t.Parallel()
	for name, purge := range map[string]func(t *testing.T, client *cluster.Client, j journal, left int){
		"purge": func(t *testing.T, client *cluster.Client, j journal, left int) {
			n, err := client.Purge(bounded(t))
			if err != nil || n != left {
				t.Errorf("Purge: got %d, %v, want %d", n, err, left)
			}
		},
		"another worker": func(t *testing.T, client *cluster.Client, j journal, _ int) {
			serve(t, client, 1, named("other/v1", j))
		},
		"same worker": func(t *testing.T, client *cluster.Client, j journal, _ int) { serve(t, client, 4, newTask(j)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			counter := look(t, where)
			left := leaveBehind(t, where, j.as("dead"))
			counter.publish(t, "stint.dead.dead.0", "{}")
			counter.publish(t, "stint.alone.dead.1.a", "")
			counter.publish(t, "stint.result.dead.part.3", "a part")

			// This run stays: its submitter is alive.
			client := connect(t, where)
			c := begin(bounded(t), client, named("later/v1", j), items(20, item{}))
			counter.queued(t, left.tasks+20)
			purge(t, connect(t, where), j, left.tasks+left.results+2)
			counter.queued(t, 20)
			eventually(t, "the results and the marks are removed", func() bool { return counter.kept(t) == 0 && len(counter.subjects(t, "stint-runs")) == 1 })
			if subjects := fmt.Sprint(counter.subjects(t, "stint-dead")); subjects != "[stint.dead.dead.0]" {
				t.Errorf("the dead letters are %v", subjects)
			}
			equal(t, "tasks of dead submitters that ran after that", count(j.events(t), by(j.Worker, "begin")), 0)
			serve(t, connect(t, where), 4, named("later/v1", j))
			c.succeed(t, 20)
		})
	}
}

type leftover struct{ tasks, results int }

// leaveBehind lets submitters and a worker die in the middle of runs, and removes the records of
// the runs.
func leaveBehind(t *testing.T, where string, j journal) leftover {
	t.Helper()
	const n = 30
	counter := look(t, where)
	all := items(n, item{Do: "wait", Gate: "never"})
	all[0], all[1] = item{}, item{N: 1}
	p := part{Role: "submitter", URL: where, Journal: j.Path, Items: all, Stall: true}
	first := start(t, p)
	p.Run = "named"
	second := start(t, p)
	worker := startWorkers(t, 1, part{URL: where, Journal: j.Path, Slots: 2 * n})[0]
	j.seen(t, 2, "submitted", is("stalled"))
	j.seen(t, 2*n, "begun", is("begin"))
	counter.queued(t, 2*n-4)
	first.kill()
	second.kill()
	worker.kill()
	counter.expire(t)
	return leftover{2*n - 4, counter.kept(t)}
}

// expire removes the records of all runs. The server does so after a minute for a run
// without a Name; a run with a Name may lose its record if its submitter is killed while
// the run ends.
func (c counter) expire(t *testing.T) {
	t.Helper()
	if err := c.purge("stint-runs", "stint.run.*"); err != nil {
		t.Fatal(err)
	}
}

// publish stores a message as any connected client can.
func (c counter) publish(t *testing.T, subject, data string) {
	t.Helper()
	if _, err := c.js.Publish(bounded(t), subject, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

// A submitter that is cut off, so that its record is gone for a moment, loses nothing.
func TestPurgeAsksTwice(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	counter := look(t, where)
	client := connect(t, where)
	c := begin(bounded(t), client, newTask(j), items(20, item{}))
	counter.queued(t, 20)
	counter.expire(t)
	purger := connect(t, where, cluster.Heartbeat(2*heartbeat))
	if n, err := purger.Purge(bounded(t)); n != 0 || err != nil {
		t.Errorf("Purge: got %d, %v, want 0", n, err)
	}
	serve(t, connect(t, where), 4, newTask(j))
	c.succeed(t, 20)
	counter.nothingLeft(t)
}

// A server is out of reach until the record of a run has expired. The worker reconnects
// before the submitter and finds no record. The run is missing, not over, and continues.
func TestRecordExpiresWhileAllAreCutOff(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	looked, once := make(chan struct{}), sync.Once{}
	var watched atomic.Bool
	soon := cluster.NATS(nats.ReconnectWait(20 * time.Millisecond))
	near := newProxy(t, where, func(subject, data string) <-chan struct{} {
		if watched.Load() && subject == "$JS.API.STREAM.MSG.GET.stint-runs" {
			once.Do(func() { close(looked) })
		}
		return nil
	})
	far, task := newProxy(t, where), newTask(j, cluster.Lease(patience))
	serve(t, connect(t, near.url(), soon, cluster.Heartbeat(4*heartbeat)), 2, task)
	counter := look(t, where)
	c := begin(bounded(t), connect(t, far.url(), soon), task, items(4, item{Do: "wait", Gate: "end"}))
	j.seen(t, 2, "begun", is("begin"))
	counter.queued(t, 4)
	near.set(true)
	far.set(true)
	counter.expire(t)
	watched.Store(true)
	near.set(false)
	<-looked
	far.set(false)
	eventually(t, "the record is there again", func() bool { return len(counter.subjects(t, "stint-runs")) == 1 })
	j.open(t, "end")
	c.succeed(t, 4)
	equal(t, "begun", count(j.events(t), is("begin")), 4)
	counter.nothingLeft(t)
}

// Purge ends with its context and with its client, and then removes nothing.
func TestPurgeEnds(t *testing.T) {
	t.Parallel()
	where, gone := newServer(t), errors.New("gone")
	client, counter := connect(t, where), look(t, where)
	counter.publish(t, "stint.result.dead.0", "{}")
	ctx, cancel := context.WithCancelCause(bounded(t))
	time.AfterFunc(moment, func() { cancel(gone) })
	n, err := client.Purge(ctx)
	wrong(t, err, gone)
	time.AfterFunc(moment, func() { client.Close() })
	m, err := client.Purge(bounded(t))
	wrong(t, err, stint.ErrClosed)
	equal(t, "results", counter.kept(t)+n+m, 1)
}

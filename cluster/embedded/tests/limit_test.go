package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A limit holds for all workers together.
func TestLimitHoldsForTheCluster(t *testing.T) {
	t.Parallel()
	const n, limit = 60, 3
	where, j := newServer(t), newJournal(t)
	startWorkers(t, 3, part{URL: where, Journal: j.Path, Slots: 4})
	all := items(n, item{For: tick / 2})
	for i := range limit {
		all[i] = item{N: i, Do: "wait", Gate: "first"}
	}
	c := begin(bounded(t), connect(t, where), newTask(j), all, cluster.Limit(limit))
	j.seen(t, limit, "begun", is("begin"))
	j.seen(t, 3, "ready", is("ready"))
	j.open(t, "first")
	c.succeed(t, n)
	events := j.events(t)
	equal(t, "at once, at most", most(events), limit)
	equal(t, "number of runs", count(events, is("begin")), n)
	look(t, where).nothingLeft(t)
}

// Of the limits of several runs of one task the smallest holds, while its run is in progress.
func TestSmallestLimitHolds(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	c := connect(t, where)
	task := newTask(j)
	serve(t, connect(t, where), 8, task)
	small := begin(bounded(t), c, task, items(2, item{Do: "wait", Gate: "small"}), cluster.Limit(2))
	j.seen(t, 2, "begun", is("begin"))
	large := begin(bounded(t), c, task, items(20, item{For: tick}), cluster.Limit(5))
	status, err := c.Status(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Tasks) != 1 || status.Tasks[0].Limit != 2 || status.Tasks[0].InFlight != 2 {
		t.Errorf("tasks: got %+v, want a limit of 2, and 2 in flight", status.Tasks)
	}
	j.open(t, "small")
	small.succeed(t, 2)
	large.succeed(t, 20)
	if got := most(j.events(t)); got > 5 {
		t.Errorf("%d at once, want 5 at most", got)
	}

	free := begin(bounded(t), c, task, items(8, item{Do: "wait", Gate: "free"}))
	j.until(t, "all run at once without a limit", func(all []event) bool {
		return count(all, is("begin"))-count(all, is("end")) == 8
	})
	j.open(t, "free")
	free.succeed(t, 8)
}

// A worker runs no more than its slots.
func TestSlotsOfAWorker(t *testing.T) {
	t.Parallel()
	const n, slots = 40, 3
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), slots, newTask(j))
	all := items(n, item{For: tick / 2})
	for i := range slots {
		all[i] = item{N: i, Do: "wait", Gate: "first"}
	}
	c := begin(bounded(t), connect(t, where), newTask(j), all)
	j.seen(t, slots, "begun", is("begin"))
	j.open(t, "first")
	c.succeed(t, n)
	equal(t, "at once, at most", most(j.events(t)), slots)
}

// A worker whose Limiter is lowered while its slots are idle runs no more tasks than it allows; a
// paused one runs none, and leaves them to others.
func TestLimiterOfAWorkerIsLowered(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	l := stint.Limit(6)
	serveWith(t, connect(t, where), cluster.Limiter(l), newTask(j.as("lowered")))
	c, task := connect(t, where), newTask(j)
	first := begin(bounded(t), c, task, items(6, item{Do: "wait", Gate: "first"}))
	j.seen(t, 6, "begun", is("begin"))
	j.open(t, "first")
	first.succeed(t, 6)

	l.Set(0)
	other := serve(t, connect(t, where), 1, newTask(j.as("other")))
	begin(bounded(t), c, task, items(20, item{For: tick / 2})).succeed(t, 20)
	equal(t, "runs of the paused worker", count(j.events(t), func(e event) bool { return e.What == "begin" && e.Worker == "lowered" }), 6)
	if err := other.drain(t); err != nil {
		t.Error(err)
	}

	l.Set(2)
	before := len(j.events(t))
	begin(bounded(t), c, task, items(20, item{For: tick / 2})).succeed(t, 20)
	equal(t, "at once, at most", most(j.events(t)[before:]), 2)
}

// The limit of a task is that of a run in progress, after each of random starts and ends: by
// themselves, by Cancel, and by the death of their submitters.
func TestLimitIsThatOfARun(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	where, j := newServer(t), newJournal(t)
	counter, task := look(t, where), newTask(j)
	serve(t, connect(t, where), 40, task)
	beats := cluster.Heartbeat(300 * time.Millisecond) // the others find out that a submitter is dead
	var clients []*cluster.Client
	for range 2 {
		clients = append(clients, connect(t, where, beats))
	}
	defer j.open(t, "end")
	begin(bounded(t), clients[0], task, items(1, item{Do: "wait", Gate: "end"}), cluster.Name("without-limit"))
	type limited struct {
		name  string
		limit int
		*call
		cancel, die func()
	}
	var all []*limited
	smallest := func() int {
		limit := -1
		for _, l := range all {
			if limit < 0 || l.limit < limit {
				limit = l.limit
			}
		}
		return limit
	}
	for step := range 30 {
		if len(all) == 0 || r.IntN(2) == 0 {
			l := &limited{name: fmt.Sprint("run-", step), limit: 1 + r.IntN(4)}
			ctx, cancel := context.WithCancel(bounded(t))
			client := connect(t, where, beats)
			l.cancel, l.die = cancel, func() {
				client.Close() // its record stays, since it has a Name
				if err := counter.purge("stint-runs", "stint.run."+l.name); err != nil {
					t.Fatal(err)
				}
			}
			l.call = begin(ctx, client, task, items(1, item{Do: "wait", Gate: "end"}), cluster.Name(l.name), cluster.Limit(l.limit))
			all = append(all, l)
			eventually(t, "the run is there", func() bool { return slices.Contains(counter.subjects(t, "stint-runs"), "stint.run."+l.name) })
		} else {
			i := r.IntN(len(all))
			l := all[i]
			all = slices.Delete(all, i, i+1)
			switch r.IntN(3) {
			case 0:
				l.cancel()
			case 1:
				if err := clients[1].Cancel(bounded(t), l.name); err != nil {
					t.Fatal(err)
				}
			case 2:
				l.die()
			}
			<-l.done
		}
		want := smallest()
		eventually(t, fmt.Sprintf("step %d: the limit is %d", step, want), func() bool {
			return counter.consumer(t, "work=v1").CachedInfo().Config.MaxAckPending == want
		})
	}
}

// purge removes the messages on a subject.
func (c counter) purge(stream, subject string) error {
	s, err := c.js.Stream(context.Background(), stream)
	if err == nil {
		err = s.Purge(context.Background(), jetstream.WithPurgeSubject(subject))
	}
	return err
}

// The requests of a run do not grow with the number of runs at the same time: those at its start and
// its end, and those of a heartbeat.
func TestRequestsOfManyRuns(t *testing.T) {
	t.Parallel()
	const n, atMost = 50, 60
	for name, opts := range map[string][]cluster.Option{"no limit": nil, "limit": {cluster.Limit(8)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			var requests, records atomic.Int64
			p := newProxy(t, where, func(subject, _ string) <-chan struct{} {
				requests.Add(1)
				if strings.HasPrefix(subject, "stint.run.") {
					records.Add(1)
				}
				return nil
			})
			serve(t, connect(t, where), 8, newTask(j))
			client := connect(t, p.url(), beating(time.Second)...)
			requests.Store(0)
			var all []*call
			for range n {
				all = append(all, begin(bounded(t), client, newTask(j), items(3, item{Do: "wait", Gate: "end"}), opts...))
			}
			eventually(t, "each run has renewed its record", func() bool { return records.Load() >= 3*n })
			j.open(t, "end")
			for _, c := range all {
				c.succeed(t, 3)
			}
			t.Logf("%d runs at once: %d requests, %d records", n, requests.Load(), records.Load())
			if per := requests.Load() / n; per > atMost*records.Load()/(3*n) {
				t.Errorf("%d runs at once: %d requests each, want %d at most", n, per, atMost)
			}
			look(t, where).nothingLeft(t)
		})
	}
}

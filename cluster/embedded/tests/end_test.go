package tests

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// within fails the test if f does not return.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal(what + " does not end")
	}
}

// The end of a run reaches its workers although its sequence or the loop's body does not return.
func TestEndIsToldWhileTheCallerIsBusy(t *testing.T) {
	t.Parallel()
	for _, busy := range []string{"sequence", "body"} {
		t.Run(busy, func(t *testing.T) {
			t.Parallel()
			where, j := newServer(t), newJournal(t)
			serve(t, connect(t, where), 4, newTask(j))
			ctx, cancel := context.WithCancel(bounded(t))
			all := []item{{N: 0}, {N: 1, Do: "wait", Gate: "never"}}
			block, ended, client := make(chan bool), make(chan bool), connect(t, where)
			go func() {
				defer close(ended)
				for range cluster.MapSeq(ctx, client, newTask(j), func(yield func(item) bool) {
					slices.Values(all)(yield)
					if busy == "sequence" {
						<-block
					}
				}) {
					if busy == "body" {
						<-block
					}
				}
			}()
			j.seen(t, 2, "begun", is("begin"))
			cancel()
			j.seen(t, 1, "ended", of("end", 1))
			equal(t, "the cause", only(j.events(t), of("end", 1))[0].Cause, cluster.ErrCanceled.Error())
			close(block)
			<-ended
			look(t, where).nothingLeft(t)
		})
	}
}

// A client may be closed from the sequence, from the body of the loop, from a function
// that it runs, and twice at once.
func TestCloseFromAnywhere(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	const n, at = 200, 120
	for name, use := range map[string]func(*cluster.Client){
		"body": func(client *cluster.Client) {
			for range cluster.MapSeq(bounded(t), client, newTask(j), slices.Values(items(n, item{}))) {
				client.Close()
			}
		},
		"sequence": func(client *cluster.Client) {
			for range cluster.MapSeq(bounded(t), client, newTask(j), func(yield func(item) bool) {
				for i := 0; yield(item{N: i}); i++ {
					if i == at {
						client.Close()
					}
				}
			}) {
			}
		},
		"twice": func(client *cluster.Client) {
			c := begin(bounded(t), client, newTask(j), items(n, item{}))
			go client.Close()
			client.Close()
			<-c.done
		},
	} {
		for range 2 {
			client := connect(t, where)
			client.Handle(newTask(j))
			served := make(chan error, 1)
			go func() { served <- cluster.Serve(bounded(t), client, cluster.Limit(4)) }()
			within(t, name, func() { use(client) })
			wrong(t, <-served, stint.ErrClosed)
		}
	}
	look(t, where).nothingLeft(t)
}

// A function may close its own client.
func TestCloseFromAFunction(t *testing.T) {
	t.Parallel()
	where := newServer(t)
	c := connect(t, where)
	task := cluster.NewTask("closes/v1", func(ctx context.Context, n int) (int, error) { return n, c.Close() })
	c.Handle(task)
	served := make(chan error, 1)
	go func() { served <- cluster.Serve(bounded(t), c, cluster.Limit(4)) }()
	within(t, "Map", func() {
		_, err := cluster.Map(bounded(t), c, task, make([]int, 100))
		wrong(t, err, stint.ErrClosed)
	})
	wrong(t, <-served, stint.ErrClosed)
}

// A Goexit of a sequence, or of the loop's body, ends the run.
func TestGoexitOfTheCaller(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	c := connect(t, where)
	serve(t, connect(t, where), 4, newTask(j))
	for i := range 3 {
		within(t, "body", func() {
			for range cluster.MapSeq(bounded(t), c, newTask(j), slices.Values(items(100, item{}))) {
				runtime.Goexit()
			}
		})
		within(t, "sequence", func() {
			defer func() { _ = recover() }()
			for range cluster.MapSeq(bounded(t), c, newTask(j), func(yield func(item) bool) {
				slices.Values(items(i*40, item{}))(yield)
				runtime.Goexit()
			}) {
			}
		})
	}
	look(t, where).nothingLeft(t)
}

// A run with a Name whose client is closed while the run ends stays as a whole, or not at all.
func TestNamedIsClosedWhileItEnds(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	serve(t, connect(t, where), 8, newTask(j))
	counter := look(t, where)
	for i := range 6 {
		client, n := connect(t, where), 0
		for range cluster.MapSeq(bounded(t), client, newTask(j), func(yield func(item) bool) {
			for k := 0; yield(item{N: k}); k++ {
			}
		}, cluster.Name(fmt.Sprint("run-", i)), cluster.Queue(64)) {
			if n++; n == 100 {
				time.AfterFunc(time.Duration(i)*250*time.Microsecond, func() { client.Close() })
				break
			}
		}
		client.Close()
		if len(counter.subjects(t, "stint-runs")) > 0 {
			for range cluster.Resume(bounded(t), connect(t, where), newTask(j), fmt.Sprint("run-", i)) {
				break
			}
		}
		counter.nothingLeft(t)
	}
}

// Resume of a run that ends meanwhile says that it is lost.
func TestResumeOfAnEnd(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, other, gone := connect(t, where), connect(t, where), errors.New("gone")
	for i := range 20 {
		name := fmt.Sprint("run-", i)
		ctx, cancel := context.WithCancelCause(bounded(t))
		c := begin(ctx, client, newTask(j), items(1, item{}), cluster.Name(name))
		time.Sleep(3 * time.Millisecond)
		cancel(gone)
		time.Sleep(time.Duration(i) * 30 * time.Microsecond)
		brief, stop := context.WithTimeoutCause(bounded(t), moment, gone)
		for _, err := range cluster.Resume(brief, other, newTask(j), name) {
			if err != nil && !errors.Is(err, cluster.ErrRunLost) && !errors.Is(err, cluster.ErrIncomplete) && !errors.Is(err, gone) {
				t.Errorf("Resume: %v", err)
			}
		}
		stop()
		<-c.done
	}
	look(t, where).nothingLeft(t)
}

// A run that is cancelled while it starts, or whose client is closed, leaves no consumer
// of results.
func TestConsumersOfResults(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, gone := connect(t, where), errors.New("gone")
	for i := range 150 {
		ctx, cancel := context.WithCancelCause(bounded(t))
		time.AfterFunc(time.Duration(i%50)*100*time.Microsecond, func() { cancel(gone) })
		begin(ctx, client, newTask(j), items(1, item{})).fails(t, gone)
	}
	equal(t, "consumers of results", look(t, where).listening(t), 0)
}

// Runs are cancelled while a worker that has results to send is cut off. When it is back it leaves
// nothing.
func TestResultsOfACutOffWorker(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	const slots = 32
	p, task, gone := newProxy(t, where), newTask(j, cluster.Lease(patience)), errors.New("gone")
	serve(t, connect(t, p.url(), cluster.NATS(nats.ReconnectWait(20*time.Millisecond))), slots, task)
	client := connect(t, where)
	for i := range 2 {
		ctx, cancel := context.WithCancelCause(bounded(t))
		gate, calls := fmt.Sprint("gate-", i), []*call{}
		for range slots {
			calls = append(calls, begin(ctx, client, task, items(1, item{Do: "wait", Gate: gate})))
		}
		j.seen(t, (i+1)*slots, "begun", is("begin"))
		p.set(true)
		j.open(t, gate)
		j.seen(t, (i+1)*slots, "ended", is("end"))
		cancel(gone)
		for _, c := range calls {
			c.fails(t, gone)
		}
		p.set(false)
		time.Sleep(2 * moment) // in which it sends what it has
	}
	look(t, where).nothingLeft(t)
}

// A worker that is closed leaves no mark, whatever it was doing with a quarantined task.
func TestMarkOfAClosedWorker(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	counter, task := look(t, where), newTask(j)
	for i := range 12 {
		ctx, cancel := context.WithCancel(bounded(t))
		c := begin(ctx, connect(t, where), task, items(1, item{Do: "wait", Gate: "never"}))
		counter.queued(t, 1)
		counter.lose(t, 1, 2)
		w := connect(t, where)
		w.Handle(task)
		ended := make(chan error, 1)
		go func() { ended <- cluster.Serve(bounded(t), w, cluster.Limit(1)) }()
		time.Sleep(time.Duration(i) * 500 * time.Microsecond)
		w.Close()
		<-ended
		equal(t, "records and marks", len(counter.subjects(t, "stint-runs")), 1)
		cancel()
		<-c.done
	}
	counter.nothingLeft(t)
}

// A server in memory restarts while a run waits for its next item: later items have results.
func TestServerInMemoryRestarts(t *testing.T) {
	t.Parallel()
	const before = 10
	port := freePorts(t, 1)[0]
	where, j := "nats://"+loopback(port), newJournal(t)
	s := part{Role: "server", Server: node{Port: port}}
	first := start(t, s)
	counter := look(t, where)
	counter.connected(t)
	quick := cluster.NATS(nats.ReconnectWait(20 * time.Millisecond))
	serve(t, connect(t, where, cluster.Memory(), quick), 2, newTask(j))
	next, got := make(chan item, before), 0
	for i := range before {
		next <- item{N: i}
	}
	for out, err := range cluster.MapSeq(bounded(t), connect(t, where, cluster.Memory(), quick), newTask(j), func(yield func(item) bool) {
		for v := range next {
			if !yield(v) {
				return
			}
		}
	}) {
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "result", out.N, answer(got))
		if got++; got == before {
			eventually(t, "what has arrived is removed", func() bool { return counter.kept(t) == 0 })
			first.kill()
			start(t, s)
			counter.connected(t)
			eventually(t, "the worker has made the streams", func() bool { return len(counter.streams(t)) == 5 })
			next <- item{N: before}
			close(next)
		}
	}
	equal(t, "number of results", got, before+1)
}

//go:build unix

package tests

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster"
)

// pause stops a process, and resume lets it continue.
func (c *process) pause(t *testing.T)  { c.signal(t, syscall.SIGSTOP) }
func (c *process) resume(t *testing.T) { c.signal(t, syscall.SIGCONT) }

func (c *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// A worker that was paused for longer than its lease has lost its task to another. Its function is
// interrupted, and its result does not count.
func TestPausedWorker(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]string{"told": "wait at first", "stubborn": "go on at first", "deaf": "ignore at first"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPause(t, do)
			p.first.resume(t)
			p.j.open(t, "late")
			p.j.seen(t, 1, "ended late", p.late)
			p.j.open(t, "end")
			p.finish(t)
			p.goOn(t)
			if cause := only(p.j.events(t), p.late)[0].Cause; do != "ignore at first" {
				equal(t, "the cause that ended the first", cause, cluster.ErrLeaseLost.Error())
			}
		})
	}
}

// A worker that was paused comes back when the run is over. Its result is not stored.
func TestPausedWorkerIsTooLate(t *testing.T) {
	t.Parallel()
	p := newPause(t, "go on at first")
	p.j.open(t, "end")
	p.finish(t)
	p.first.resume(t)
	p.j.seen(t, 1, "ended late", p.late)
	p.goOn(t)
}

// A worker uses the server's lease even if its own is shorter: a pause longer than its own
// lease loses nothing.
func TestPauseWithinTheLongestLease(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	client, task := connect(t, where), newTask(j, cluster.Lease(patience))
	begin(bounded(t), client, task, nil).succeed(t, 0) // the server has its lease
	worker := start(t, part{Role: "worker", URL: where, Journal: j.Path, Slots: 1, Lease: moment / 10})
	c := begin(bounded(t), client, task, items(1, item{Do: "wait", Gate: "end"}))
	j.seen(t, 1, "begun", is("begin"))
	worker.pause(t)
	time.Sleep(moment)
	worker.resume(t)
	time.Sleep(moment / 2) // in which it looks at its clock
	j.open(t, "end")
	c.succeed(t, 1)
	equal(t, "the attempt", c.outs[0].Attempt, 1)
}

// A pause is a run of two tasks and a worker that was paused while it had the first.
// Another worker has run that task since, and its result is stored. The second task waits
// at the gate "end".
type pause struct {
	j             journal
	client        *cluster.Client
	where         string
	task          *work
	first, second *process
	next          func() (outcome, error, bool)
}

// newPause starts a pause. do is the work of the first task at its first attempt.
func newPause(t *testing.T, do string) *pause {
	t.Helper()
	where, j := newServer(t), newJournal(t)
	p := &pause{j: j, client: connect(t, where), where: where, task: newTask(j, cluster.Lease(short))}
	w := part{Role: "worker", URL: where, Journal: j.Path, Slots: 1, Lease: short}
	p.first = start(t, w)
	both := []item{{N: 0, Do: do, Gate: "late"}, {N: 1, Do: "wait", Gate: "end"}}
	p.next = ahead(t, cluster.MapSeq(bounded(t), p.client, p.task, slices.Values(both)))
	j.seen(t, 1, "begun", of("begin", 0))
	p.first.pause(t)
	w.Slots = 2
	p.second = start(t, w)
	out := p.result(t, 0)
	equal(t, "the worker whose result counts", out.Worker, p.second.name())
	if out.Attempt < 2 { // more if the second, which has the same lease, was too slow for it
		t.Errorf("its attempt is %d", out.Attempt)
	}
	return p
}

// result returns the result i.
func (p *pause) result(t *testing.T, i int) outcome {
	t.Helper()
	out, err, ok := p.next()
	if err != nil || !ok || out.N != answer(i) {
		t.Fatalf("result %d: %+v, %v, %v", i, out, err, ok)
	}
	return out
}

// late is the end of the task on the paused worker.
func (p *pause) late(e event) bool { return e.Worker == p.first.name() && of("end", 0)(e) }

// finish takes the remaining results of the run.
func (p *pause) finish(t *testing.T) {
	t.Helper()
	p.result(t, 1)
	if out, err, ok := p.next(); ok {
		t.Errorf("after the end: %+v, %v", out, err)
	}
}

// goOn fails the test if the paused worker does not work again.
func (p *pause) goOn(t *testing.T) {
	t.Helper()
	p.second.kill()
	begin(bounded(t), p.client, p.task, items(10, item{})).succeed(t, 10)
	look(t, p.where).nothingLeft(t)
}

// A run is cancelled while the server does not answer. None of its tasks is in the queue when the
// server answers again.
func TestCanceledWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	port := freePorts(t, 1)[0]
	where, j := "nats://"+loopback(port), newJournal(t)
	s := start(t, part{Role: "server", Server: node{Dir: t.TempDir(), Port: port}})
	counter := look(t, where)
	counter.connected(t)
	ctx, cancel := context.WithCancelCause(bounded(t))
	client, gone := connect(t, where), errors.New("gone")
	ended := make(chan error, 1)
	go func() {
		var last error
		for _, err := range cluster.MapSeq(ctx, client, newTask(j), func(yield func(item) bool) {
			for i := range 200 {
				if i == 20 {
					s.pause(t)
				}
				yield(item{N: i})
			}
			cancel(gone)
		}) {
			last = err
		}
		ended <- last
	}()
	<-ctx.Done()
	time.Sleep(2500 * time.Millisecond) // longer than an answer is waited for
	s.resume(t)
	wrong(t, <-ended, gone)
	counter.nothingLeft(t)
}

//go:build unix

package tests

import (
	"syscall"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// pause stops a process for a while, and resume lets it go on.
func (c *process) pause(t *testing.T)  { c.signal(t, syscall.SIGSTOP) }
func (c *process) resume(t *testing.T) { c.signal(t, syscall.SIGCONT) }

func (c *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// A worker that was paused for longer than its lease has lost its task to another. Its
// function is told, if it looks; what it returns does not count.
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
			p.succeed(t)
			if cause := only(p.j.events(t), p.late)[0].Cause; do != "ignore at first" {
				equal(t, "the cause that ended the first", cause, cluster.ErrLeaseLost.Error())
			}
		})
	}
}

// A worker that was paused comes back when the run is over. What it returns is kept
// nowhere.
func TestPausedWorkerIsTooLate(t *testing.T) {
	t.Parallel()
	p := newPause(t, "go on at first")
	p.j.open(t, "end")
	<-p.done
	p.first.resume(t)
	p.j.seen(t, 1, "ended late", p.late)
	p.succeed(t)
}

// A pause is a run of two tasks and a worker that was paused while it had the first, which
// another one has run since. The other task waits at the gate "end".
type pause struct {
	*call
	j             journal
	e             *cluster.Engine
	where         string
	task          *work
	first, second *process
}

// newPause begins one. The first task does that much at the first attempt.
func newPause(t *testing.T, do string) *pause {
	t.Helper()
	where, j := newServer(t), newJournal(t)
	p := &pause{j: j, e: connect(t, where), where: where, task: newTask(j, cluster.Lease(short))}
	w := part{Role: "worker", URL: where, Journal: j.Path, Slots: 1, Lease: short}
	p.first = start(t, w)
	p.call = begin(bounded(t), p.e, p.task, []item{{N: 0, Do: do, Gate: "late"}, {N: 1, Do: "wait", Gate: "end"}})
	j.seen(t, 1, "begun", of("begin", 0))
	p.first.pause(t)
	w.Slots = 2
	p.second = start(t, w)
	j.seen(t, 1, "ended by the second", func(e event) bool { return e.Worker == p.second.name() && of("end", 0)(e) })
	return p
}

// late is the end of the task on the worker that was paused.
func (p *pause) late(e event) bool { return e.Worker == p.first.name() && of("end", 0)(e) }

// succeed fails the test if the first worker's result counts, or it does not work again.
func (p *pause) succeed(t *testing.T) {
	t.Helper()
	p.call.succeed(t, 2)
	equal(t, "the worker whose result counts", p.outs[0].Worker, p.second.name())
	equal(t, "its attempt", p.outs[0].Attempt, 2)
	p.second.kill()
	begin(bounded(t), p.e, p.task, items(10, item{})).succeed(t, 10)
	look(t, p.where).nothingLeft(t)
}

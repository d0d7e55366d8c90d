package loop

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// pooled is the part of a loop that is for the loops on an engine.
type pooled struct {
	executor work.Executor
	queued   atomic.Bool // the source of executor has a helper in its queue
}

// runOn runs the loop on the workers of e. Each helper is a task of a source of its own.
func (l *Loop) runOn(e *work.Engine) bool {
	x := &l.executor
	x.Open(l.Context, e, work.Config{}, work.SourceConfig{
		Context: l.Context, Room: math.MaxInt, Runner: job{l}, Parent: l.Parent, Helpers: true, Finite: true,
	})
	defer func() {
		l.Stop()
		x.Close()
		l.ends.Acquire()
	}()
	if !l.offer() && l.Context.Err() == nil {
		return false
	}
	x.Wait()
	return true
}

// offer queues a helper, unless one is queued.
func (l *Loop) offer() bool {
	return !l.queued.CompareAndSwap(false, true) || l.executor.Source.Offer(nil, l.Parent) == work.Accepted
}

// A job is a Loop as the job of its source.
type job struct{ loop *Loop }

// Run is one helper, on a worker of the engine.
func (j job) Run(ctx context.Context, _ work.Task) error {
	l := j.loop
	l.running.Add(1)
	l.queued.Store(false)
	if l.left() > 1 && !l.has(stopped) {
		l.offer()
	}
	w := &worker{loop: l, ctx: ctx}
	w.permit = limit.ScopeOf(ctx).Permit()
	w.quantum.Start()
	defer l.pass()
	defer w.leave()
	w.finish()
	return nil
}

// finish is work. After a Goexit it makes the calls that are left of the claim, before the
// goroutine ends.
func (w *worker) finish() {
	defer func() {
		if w.calling && w.rest() && !w.loop.has(stopped) {
			w.calling, w.exits = false, true
			w.finish()
		}
	}()
	w.work()
}

// pass ends a helper, perhaps by a Goexit, and makes sure that another continues.
func (l *Loop) pass() {
	last := l.running.Add(-1) == 0
	switch {
	case !l.isOver():
		l.offer() // this one has made room for others
	case last || l.has(stopped): // others may return what they have claimed
		l.executor.Source.Stop() // drops the queued helper, which may wait long
	}
}

// Failed does nothing: the worker inside Run has told the body.
func (j job) Failed(work.Task, task.Outcome) {}

// Abandoned stops the loop, since the engine will not run the rest.
func (j job) Abandoned() {
	j.loop.Body.Abandoned() // first: a helper that sees stopped ends the loop
	j.loop.Stop()
}

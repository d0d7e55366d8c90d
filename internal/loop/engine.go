package loop

import (
	"context"
	"math"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// runOn runs the loop on the workers of e. Each helper is a task of a source of its own.
func (l *Loop) runOn(e *work.Engine) bool {
	l.source = e.NewSource(work.SourceConfig{
		Context: l.Context, Room: math.MaxInt, Runner: job{l}, Parent: l.Parent, Helpers: true,
	})
	l.helpers.Add(1)
	unwatch := context.AfterFunc(l.Context, func() {
		l.source.Stop() // now, since on a busy engine the queued helper may wait long
		l.helpers.Done()
	})
	defer func() {
		l.Stop()
		if unwatch() {
			l.helpers.Done()
		}
		l.helpers.Wait()
		l.ends.Acquire()
	}()
	if !l.offer() && l.Context.Err() == nil {
		return false
	}
	l.source.Wait()
	return true
}

// offer queues a helper, unless one is queued.
func (l *Loop) offer() bool {
	return !l.queued.CompareAndSwap(false, true) || l.source.Offer(nil, l.Parent) == work.Accepted
}

// A job is a Loop as the job of its source.
type job struct{ loop *Loop }

// Run is one helper, on a worker of the engine.
func (j job) Run(ctx context.Context, _ work.Task) error {
	l := j.loop
	l.queued.Store(false)
	if l.left() > 1 && !l.isStopped() {
		l.offer()
	}
	w := new(worker)
	w.init(l, ctx)
	w.permit = limit.ScopeOf(ctx).Permit()
	w.quantum.Start()
	defer l.pass(w)
	w.work()
	return nil
}

// pass ends a helper, perhaps by a Goexit, and makes sure that another continues.
func (l *Loop) pass(w *worker) {
	w.leave()
	switch {
	case l.isOver():
		l.source.Stop() // drops the queued helper, which may wait long
	case l.left() > 0:
		l.offer() // w made room for others
	}
}

// Failed does nothing: the worker inside Run has told the body.
func (j job) Failed(work.Task, task.Outcome) {}

// Abandoned stops the loop, since the engine will not run the rest.
func (j job) Abandoned() {
	j.loop.Body.Abandoned() // first: a helper that sees stopped ends the loop
	j.loop.Stop()
}

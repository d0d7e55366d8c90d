package loop

import (
	"context"
	"math"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// runOn runs the loop on the workers of e. The standby is then a task in a queue
// of e.
func (l *Loop) runOn(e *work.Engine) bool {
	l.source = e.NewSource(work.SourceConfig{
		Context: l.Context, Room: math.MaxInt, Job: job{l}, Home: l.Home, Shared: true, Own: true,
	})
	l.watch()
	defer l.unwatch()
	l.helpers.Add(1)
	unwatch := context.AfterFunc(l.Context, func() {
		l.source.Stop() // now: on a busy engine the standby's turn may be far
		l.helpers.Done()
	})
	defer func() {
		l.Stop()
		if unwatch() {
			l.helpers.Done()
		}
		l.helpers.Wait()
	}()
	if !l.offer() && l.Context.Err() == nil {
		return false
	}
	l.source.Wait()
	return true
}

// offer queues the standby, unless it is queued.
func (l *Loop) offer() bool {
	return !l.queued.CompareAndSwap(false, true) || l.source.Offer(nil, l.Home) == work.Accepted
}

// job is a Loop as the job of its source.
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
	w.since, w.permit = time.Now(), limit.From(ctx).Permit()
	defer l.pass(w)
	w.work()
	return nil
}

// pass ends a helper, perhaps by a Goexit, and sees to it that somebody goes on.
func (l *Loop) pass(w *worker) {
	w.leave()
	switch {
	case l.over():
		l.source.Stop() // the standby is not needed, and its turn may be far
	case l.left() > 0:
		l.offer() // w made room for others
	}
}

// Failed has nothing to tell: the worker inside Run has told it.
func (j job) Failed(work.Task, task.Outcome) {}

// Abandoned stops the loop: the engine will not run the rest.
func (j job) Abandoned() {
	j.loop.Job.Abandoned() // first: a helper that sees stopped ends the loop
	j.loop.Stop()
}

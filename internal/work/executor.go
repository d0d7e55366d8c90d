package work

import (
	"context"
	"sync"

	"github.com/stint-go/stint/internal/limit"
)

// An Executor is where the tasks of one call run: a source of tasks, on an engine of
// its own or on a pool's. Use Open, and Close when no task is left.
type Executor struct {
	Engine *Engine
	Source *Source      // nil before Open
	Parent *limit.Scope // of the call, if a task made it, or nil

	private bool // Engine ends with the tasks
	unwatch func() bool
	watched sync.WaitGroup // the goroutine that unwatch keeps from starting
}

// Open makes e ready: with the source s on the engine shared, or if that is nil, on one of its
// own as c says. s.Context is made from parent, the context of the call. When parent ends,
// queued tasks are dropped; a caller that ends s.Context otherwise must call Source.Stop.
func (e *Executor) Open(parent context.Context, shared *Engine, c Config, s SourceConfig) {
	e.Parent = s.Parent
	if shared != nil {
		e.Engine = shared
		e.Source = e.Engine.NewSource(s)
	} else {
		c.Labels = s.Context // a worker may be started by any goroutine that frees a permit
		c.Inherited = true
		e.Engine, e.Source = New(c, s)
		e.private = true
	}
	if parent.Done() == nil {
		return
	}
	e.watched.Add(1)
	e.unwatch = context.AfterFunc(s.Context, func() { // of its own goroutine, which Close waits for
		defer e.watched.Done()
		e.Source.Stop()
	})
}

// Limiter returns the limiter of the call: that of its own on a pool, or that of the engine.
func (e *Executor) Limiter() *limit.Limiter {
	if l := e.Source.Limiter; l != nil {
		return l
	}
	return e.Engine.lim
}

// Report tells the limiters of the error of a task: see limit.Limiter.Report.
func (e *Executor) Report(err error) {
	e.Engine.lim.Report(err)
	if l := e.Source.Limiter; l != nil {
		l.Report(err)
	}
}

// Closed reports whether e is on a pool that takes no more tasks.
func (e *Executor) Closed() bool { return !e.private && e.Engine.Closed() }

// Refuses reports whether e is on a pool that would refuse a task of the caller of e.
func (e *Executor) Refuses() bool { return e.Closed() && e.Source.Refuses(e.Parent) }

// Wait waits until no task is queued, running or being submitted. From then on, workers of
// e's own engine leave when they find nothing to do.
func (e *Executor) Wait() {
	if e.private {
		e.Engine.Drain()
	}
	e.Source.Wait()
}

// Close ends the workers of e's own engine and the watch of the context, and waits for
// them. It is called once, after Wait or Source.Wait.
func (e *Executor) Close() {
	e.Source.pass.expire()
	if e.private {
		e.Engine.Drain()
		e.Engine.WaitIdle(nil)
	}
	if e.unwatch == nil {
		return
	}
	if e.unwatch() {
		e.watched.Done()
	}
	e.watched.Wait()
}

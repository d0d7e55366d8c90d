package option

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/work"
)

// idleTimeout is how long a worker without work stays.
const idleTimeout = time.Second

// Config returns the configuration of an engine that is made for o. labels is as in
// work.Config.
func (o *Options) Config(labels context.Context) work.Config {
	c := work.Config{Limiter: o.Limiter, Nested: o.Nested, IdleTimeout: idleTimeout, Name: o.Name, Labels: labels}
	if c.Limiter == nil {
		c.Auto = o.Search(runtime.GOMAXPROCS(0))
	}
	return c
}

// An Executor is where the tasks of one call run: a source of tasks, on an engine of
// its own or on a pool's. Use Open, and Close when no task is left.
type Executor struct {
	Engine *work.Engine
	Source *work.Source // nil before Open
	Parent *limit.Scope // of the call, if a task made it, or nil

	private bool // Engine ends with the tasks
	unwatch func() bool
	watched sync.WaitGroup // the goroutine that unwatch keeps from starting
}

// Scope returns the scope of a call that the task with scope s makes, or nil: it has none if
// no task makes it, so that s is nil, and its priority is not low. The tasks of a call have
// low priority if o says so, if the task that makes the call has low priority under the same
// limiter, or if all tasks of the pool have.
func (o *Options) Scope(s *limit.Scope) *limit.Scope {
	l := o.Shared()
	return s.Call(l, l != nil && (o.Given&LowPriority != 0 || o.Engine != nil && o.Engine.Low()))
}

// Open makes e ready as o says. ctx is given to the tasks; it is made from parent, the
// context of the call. runner runs the tasks; room is the length of the queue. When
// parent ends, queued tasks are dropped; a caller that ends ctx otherwise must call
// Source.Stop.
func (e *Executor) Open(parent, ctx context.Context, o *Options, runner work.Runner, room int) {
	e.Parent = o.Scope(limit.ScopeOf(parent))
	s := work.SourceConfig{Context: ctx, Room: room, Runner: runner, Parent: e.Parent}
	if o.Engine != nil {
		e.Engine = o.Engine
		s.Shared = true
		e.Source = e.Engine.NewSource(s)
	} else {
		c := o.Config(ctx) // a worker may be started by any goroutine that frees a permit
		c.Inherited = true
		e.Engine, e.Source = work.New(c, s)
		e.private = true
	}
	if parent.Done() == nil {
		return
	}
	e.watched.Add(1)
	e.unwatch = context.AfterFunc(ctx, func() { // of its own goroutine, which Close waits for
		defer e.watched.Done()
		e.Source.Stop()
	})
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

package stint

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A Pool keeps workers between tasks and shares them among any number of callers, groups
// and calls: it is an Option. The worker that became idle last is reused first; one that
// was idle for a second ends, so an idle pool has no goroutines. The pool's own tasks, and
// the tasks of each group and call on it, are served in turn, one task each. They share
// the pool's queue, except groups that are given Queue, and calls. To refuse work when the
// pool is busy, use TryGo of the pool or of a group on it.
//
// A task must undo what it changes of its goroutine, such as runtime.LockOSThread or
// pprof labels; pprof.Do undoes only the labels of the context that it is given.
//
// A panic in a task given to Go, GoContext or TryGo crashes the process unless OnPanic
// is given. A call of runtime.Goexit ends the task; its worker is replaced. A Pool
// must be made by NewPool. Its methods are safe for concurrent use.
type Pool struct {
	workers
	name    string
	limiter *Limiter
	tasks   poolTasks
}

// workers makes a *Pool an Option.
type workers = option.Workers

// NewPool returns a Pool. It starts no goroutine. Options: Limiter, Queue,
// LowPriority, Name, OnPanic.
func NewPool(opts ...Option) *Pool {
	o := collect("NewPool", poolOptions, opts)
	p := &Pool{name: o.Name}
	t := &p.tasks
	t.onPanic = o.OnPanic
	bg := context.Background()
	t.ctx, t.cancel = limit.CallContext(bg, o.Name)
	c, s := o.Config(), o.Source(bg, t.ctx, t, o.Room(o.Backlog()))
	c.Labels, s.Shared = t.ctx, true
	engine, source := work.New(c, s)
	p.workers, t.source = option.NewWorkers(engine), source
	p.limiter = newLimiter(engine.Limiter())
	return p
}

// engine owns the workers.
func (p *Pool) engine() *work.Engine { return option.EngineOf(&p.workers) }

// Go starts f as a task: at once if a worker is free, and from the queue otherwise. If
// the queue is full, Go waits for room. After Close it returns ErrClosed, and f will
// not run. f gets the pool's context, which ends when Shutdown gives up waiting or the
// pool has been closed. Go panics if f is nil.
//
// In a task of the same pool use GoContext: Go does not know that a task calls it, and
// deadlocks when the queue is full and every worker is in such a Go.
func (p *Pool) Go(f func(context.Context)) error {
	p.check("Pool.Go", f == nil)
	if p.tasks.source.Submit(nil, f, nil) != work.Accepted {
		return ErrClosed
	}
	return nil
}

// GoContext starts f as Go does, but gives up waiting when ctx ends: then, and if ctx
// has ended before, it returns the cause, and f will not run. f gets the pool's context
// with the values of ctx, such as a trace; that context does not end with ctx. Chains of
// tasks that start each other are as described at Group.GoContext.
//
// If ctx is the context of a task of the pool, queued tasks run on that task's permit
// while GoContext waits. Once there is room, it waits only for the one that still has
// the permit. It panics if ctx or f is nil.
func (p *Pool) GoContext(ctx context.Context, f func(context.Context)) error {
	checkArgs("Pool.GoContext", ctx, f == nil)
	p.check("Pool.GoContext", false)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if values := limit.Values(ctx, p.tasks.ctx, p.name); values != nil {
		plain := f
		f = func(ctx context.Context) { plain(limit.WithValues(ctx, values)) }
	}
	switch p.tasks.source.Submit(ctx.Done(), f, limit.ScopeOf(ctx)) {
	case work.Accepted:
		return nil
	case work.GaveUp:
		return context.Cause(ctx)
	}
	return ErrClosed
}

// TryGo starts f as Go does if that needs no waiting: if a worker is free, or if the queue
// has room and no submitter waits. It reports whether it did. Under Queue(0) an accepted f
// runs even if the pool is shut down before it starts. f gets the pool's context, as in Go.
// TryGo panics if f is nil.
//
// An adaptive limit takes a refused task for one that waits, and rises as if it did. Under
// Queue(0) it refuses tasks until it has risen; Burst sets where it starts.
func (p *Pool) TryGo(f func(context.Context)) bool {
	p.check("Pool.TryGo", f == nil)
	return p.tasks.source.Offer(f, nil) == work.Accepted
}

// Idle waits until no task is queued or running and no submitter waits, and returns nil. If
// ctx ends first, Idle returns its cause. It does not close the pool. It panics if ctx is
// nil, or belongs to a task that holds a permit of the pool's limiter: that task would wait
// for itself.
func (p *Pool) Idle(ctx context.Context) error {
	p.checkOutside("Pool.Idle", ctx)
	if !p.waitIdle(ctx) {
		return context.Cause(ctx)
	}
	return nil
}

// Close makes the pool refuse new tasks, and waits until the accepted ones have finished
// and the workers have ended. Tasks that a task of the pool starts with its context are
// still accepted; waiting submitters are refused. Close may be called again, also
// concurrently. A task of the pool that calls Close deadlocks: use Shutdown with the task's
// context to find such a call.
func (p *Pool) Close() {
	p.check("Pool.Close", false)
	p.engine().Close()
	p.engine().WaitIdle(nil)
	p.tasks.cancel(ErrClosed)
}

// Shutdown closes the pool as Close does. If ctx ends first, the queued tasks are dropped,
// the context of the running tasks ends with the cause ErrClosed, and Shutdown waits for
// the running tasks only, however long they take; groups and calls on the pool return
// ErrClosed. Shutdown returns the number of tasks that this and earlier calls have dropped,
// without items of Each, Map and Range. If ctx ended first, the error is its cause.
// Shutdown panics if ctx is nil, or belongs to a task that holds a permit of the pool's
// limiter.
func (p *Pool) Shutdown(ctx context.Context) (abandoned int, err error) {
	p.checkOutside("Pool.Shutdown", ctx)
	p.engine().Close()
	if !p.waitIdle(ctx) {
		err = context.Cause(ctx)
		p.engine().Abandon()
		p.tasks.cancel(ErrClosed)
		p.engine().WaitIdle(nil)
	}
	p.tasks.cancel(ErrClosed)
	return p.engine().Abandoned(), err
}

// SetLimit changes the limit as Limiter.Set does, for everything that shares the
// pool's Limiter. It panics if n is less than 1.
func (p *Pool) SetLimit(n int) {
	p.check("Pool.SetLimit", false)
	p.limiter.set("Pool.SetLimit", n)
}

// Stats returns the state of the pool at one instant. PoolStats says what counts: items of
// Each, Map, Range and First do not.
func (p *Pool) Stats() PoolStats {
	p.check("Pool.Stats", false)
	c := p.engine().Counts()
	return PoolStats{
		Name: p.name, Limit: p.limiter.Current(),
		Running: c.Running, Queued: c.Queued, Waiting: c.Blocked,
		Workers: c.Workers, Idle: c.Idle,
		Completed: c.Completed, Failed: c.Failed, Dropped: c.Dropped, Refused: c.Refused,
	}
}

// waitIdle waits until the pool is idle, or closed and ended, and returns true, or until
// ctx has ended, and returns false.
func (p *Pool) waitIdle(ctx context.Context) bool {
	call := limit.ScopeOf(ctx).Call(nil, false)
	call.Lend()
	defer call.Reclaim()
	return p.engine().WaitIdle(ctx.Done())
}

func (p *Pool) check(caller string, nilFunc bool) {
	if p.engine() == nil {
		panic("stint: " + caller + ": Pool was not made by NewPool")
	}
	if nilFunc {
		panic("stint: " + caller + ": nil function")
	}
}

func (p *Pool) checkOutside(caller string, ctx context.Context) {
	checkArgs(caller, ctx, false)
	p.check(caller, false)
	if slot, _ := limit.ScopeOf(ctx).On(p.limiter.core()); slot != nil {
		panic("stint: " + caller + ": called by a task that holds a permit of the pool's limiter")
	}
}

// poolTasks are the tasks that are given to Go, GoContext and TryGo.
type poolTasks struct {
	source  *work.Source
	onPanic func(*PanicError)
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

func (t *poolTasks) Run(ctx context.Context, w work.Task) error {
	w.Payload.(func(context.Context))(ctx)
	return nil
}

// Failed crashes the process on a panic, unless there is a hook. It runs inside the
// deferred call, so that the crash shows the stack of the task.
func (t *poolTasks) Failed(_ work.Task, o task.Outcome) {
	if o.Panic == nil {
		return // a Goexit: the task has ended, and nobody waits for it
	}
	if t.onPanic == nil {
		panic(o.Panic.Value)
	}
	t.onPanic(o.Panic.Raised("stint: task"))
}

// Abandoned ends the context of the running tasks.
func (t *poolTasks) Abandoned() { t.cancel(ErrClosed) }

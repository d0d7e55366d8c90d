package stint

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A Pool keeps workers between tasks and shares them among any number of callers, groups and
// calls, to which it is given as an [Option]. Tasks of its own methods return no errors. For a
// worker pool with errors use a [Group], on the Pool or with a limit of its own. Workers end
// after a second without a task, so an idle pool has no goroutines. The pool's own tasks, and
// the tasks of each group and each call on it, are served in turn, one task each.
//
// A panic in a task given to Go, GoContext or TryGo crashes the process unless OnPanic is
// given. runtime.Goexit ends only the task. A Pool must be made by NewPool. Its methods are
// safe for concurrent use.
type Pool struct {
	workers
	name  string
	tasks poolTasks
}

// workers makes a *Pool an Option.
type workers = option.Workers

// NewPool returns a Pool. For a worker pool whose tasks return errors see [NewGroup].
// Options: Limiter, Queue, LowPriority, Name, OnPanic.
func NewPool(opts ...Option) *Pool {
	o := collect("NewPool", poolOptions, opts)
	p := &Pool{name: o.Name}
	t := &p.tasks
	t.onPanic = o.OnPanic
	bg := context.Background()
	t.ctx, t.cancel = limit.CallContext(bg, o.Name)
	c, s := o.Config(), o.Source(bg, t.ctx, t, o.Room(o.Backlog()))
	c.Labels = t.ctx
	engine, source := work.New(c, s)
	p.workers, t.source = option.NewWorkers(engine), source
	return p
}

// engine owns the workers.
func (p *Pool) engine() *work.Engine { return option.EngineOf(&p.workers) }

// Go starts f as a task. f starts at once if a worker is free, and otherwise from the queue.
// While the queue is full, Go waits for room. After Close it returns ErrClosed, and f will not
// run. f gets the pool's context. That context ends when the pool has been closed, or earlier
// if the context given to Shutdown ends.
//
// In a task of the same pool use GoContext, for the reason given at [Group.Go].
func (p *Pool) Go(f func(context.Context)) error {
	p.check("Pool.Go", f == nil)
	if p.tasks.source.Submit(nil, f, nil) != work.Accepted {
		return ErrClosed
	}
	return nil
}

// GoContext starts f as Go does, but waits for room no longer than ctx. If ctx ends before f is
// accepted, GoContext returns the cause of ctx, and f will not run. f gets the pool's context
// with the values of ctx: the context of f does not end with ctx. What [Group.GoContext] says
// about the permit of a calling task, and about chains of tasks, holds here too.
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

// TryGo starts f as Go does if it need not wait, as [Group.TryGo] does, and reports whether it
// started f. Under Queue(0) an accepted f runs even if the pool is shut down before f starts.
func (p *Pool) TryGo(f func(context.Context)) bool {
	p.check("Pool.TryGo", f == nil)
	return p.tasks.source.Offer(f, nil) == work.Accepted
}

// Idle waits until no task is queued or running and no submitter waits, and returns nil. If ctx
// ends first, Idle returns its cause. It does not close the pool. Idle panics if ctx belongs to
// a task that holds a permit of the pool's limiter, since the task would wait for itself.
func (p *Pool) Idle(ctx context.Context) error {
	p.checkOutside("Pool.Idle", ctx)
	if !p.waitIdle(ctx) {
		return context.Cause(ctx)
	}
	return nil
}

// Close makes the pool refuse new tasks. It waits until the accepted tasks have finished and
// the workers have ended. A task of the pool may still start tasks with its context. Submitters
// that wait for room are refused. Close may be called again, also concurrently. A task of the
// pool that calls Close deadlocks; Shutdown with the context of the task panics.
func (p *Pool) Close() {
	p.check("Pool.Close", false)
	p.Shutdown(context.Background())
}

// Shutdown closes the pool as Close does. If ctx ends first, Shutdown drops the queued tasks,
// and ends the context of the running tasks with the cause ErrClosed. Groups and calls on the
// pool then return ErrClosed. Shutdown still waits for the running tasks, however long they
// take, and returns the cause of ctx as err. abandoned is the number of tasks that this and
// earlier calls of Shutdown have dropped, without items of Each, Map and Range. Shutdown panics
// if ctx belongs to a task that holds a permit of the pool's limiter.
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
	return p.engine().Counts().Abandoned, err
}

// SetLimit changes the limit as [Limiter.Set] does, for everything that shares the pool's
// Limiter. SetLimit(0) pauses the pool: tasks are accepted while the queue has room, Idle and
// Close wait, and Shutdown drops the queued tasks when its context ends.
func (p *Pool) SetLimit(n int) {
	p.check("Pool.SetLimit", false)
	setLimit("Pool.SetLimit", p.engine().Limiter(), n)
}

// PoolStats is the state of a Pool at one instant. Every task that the pool has accepted,
// directly or for a group on it, is in exactly one of Queued, Running, Completed and Dropped.
// Items of Each, Map, Range and First do not count as tasks, but the workers that run them
// count in Running, and Limiter.Stats counts the items. Under HedgeAfter, and in a call that
// has a Limiter beside the Pool, each item counts as a task. The uint64 numbers only grow.
type PoolStats struct {
	Name      string `json:"name,omitempty"` // as given by the option Name
	Limit     int    `json:"limit"`          // how many tasks may run at once; 0 during a pause
	Running   int    `json:"running"`        // tasks that have started and not finished; more than Limit while tasks wait and others run on their permits, or when Limit has been lowered
	Queued    int    `json:"queued"`         // accepted and not started
	Waiting   int    `json:"waiting"`        // submitters that wait for room in a queue
	Workers   int    `json:"workers"`        // goroutines
	Idle      int    `json:"idle"`           // workers without a task, or that wait for a permit
	Completed uint64 `json:"completed"`      // tasks that have finished, in any way
	Failed    uint64 `json:"failed"`         // completed tasks that ended in an error, a panic or a Goexit
	Dropped   uint64 `json:"dropped"`        // accepted and never started: cancelled, or abandoned by Shutdown
	Refused   uint64 `json:"refused"`        // tasks that TryGo, of the pool or of a group on it, refused for want of room
}

// Stats returns the state of the pool.
func (p *Pool) Stats() PoolStats {
	p.check("Pool.Stats", false)
	c := p.engine().Counts()
	return PoolStats{
		Name: p.name, Limit: p.engine().Limiter().Bound(),
		Running: c.Running, Queued: c.Queued, Waiting: c.Blocked,
		Workers: c.Workers, Idle: c.Idle,
		Completed: c.Completed, Failed: c.Failed, Dropped: c.Dropped, Refused: c.Refused,
	}
}

// waitIdle waits until the pool is idle, or closed and ended. It returns false if ctx ends first.
func (p *Pool) waitIdle(ctx context.Context) bool {
	call := limit.ScopeOf(ctx).Call(nil, false)
	call.Lend()
	defer call.Reclaim()
	return p.engine().WaitIdle(ctx.Done())
}

func (p *Pool) check(caller string, nilFunc bool) {
	checkMethod(caller, p.engine() != nil, nilFunc)
}

func (p *Pool) checkOutside(caller string, ctx context.Context) {
	checkArgs(caller, ctx, false)
	p.check(caller, false)
	if slot, _ := limit.ScopeOf(ctx).On(p.engine().Limiter()); slot != nil {
		panic("stint: " + caller + ": called by a task that holds a permit of the pool's limiter")
	}
}

// poolTasks are the tasks that are given to Go, GoContext and TryGo.
type poolTasks struct {
	source  *work.Source
	onPanic func(*PanicError)
	ctx     context.Context
	cancel  context.CancelCauseFunc // ends ctx
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

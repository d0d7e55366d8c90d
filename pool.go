package stint

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A Pool keeps workers between tasks and shares them among any number of callers,
// groups and calls: it is an Option. The worker that parked last is woken first;
// one that has had nothing to do for a second ends, so that an idle pool has no
// goroutine. The pool's own tasks, and those of each group and call that runs on
// it, are served in turn, a task each. Each of those has a queue of its own, beside
// the pool's: to refuse work when the pool is busy, start it by the pool's own TryGo.
//
// A worker runs one task after the other. What a task changes of its goroutine, by
// runtime.LockOSThread or pprof.SetGoroutineLabels, it must change back, or the tasks
// after it have it too. So does pprof.Do with the context of a task that has labels of
// its own: at its end it gives the goroutine the labels of that context.
//
// Nobody waits for a task given to Go, so a panic in one crashes the process, as
// in a goroutine, unless OnPanic is given. A call of runtime.Goexit ends the task
// and costs no worker.
//
// A Pool must be made by NewPool. Its methods may be called by several goroutines
// at once.
type Pool struct {
	workers
	name    string
	limiter *Limiter
	direct  *work.Source // what is given to Go, GoContext and TryGo
	onPanic func(*PanicError)

	ctx    context.Context // of the tasks
	cancel context.CancelCauseFunc
}

// workers makes a *Pool an Option.
type workers = option.Workers

// NewPool returns a Pool. It starts no goroutine.
//
// Options: a Limiter, Burst, Queue, Name, OnPanic.
func NewPool(opts ...Option) *Pool {
	o := collect("NewPool", poolOptions, opts)
	p := &Pool{name: o.Name, onPanic: o.OnPanic}
	labelled := o.Labelled(context.Background())
	ctx, cancel := context.WithCancelCause(labelled)
	p.ctx, p.cancel = ctx, cancel
	engine, direct := work.New(o.Config(labelled), work.SourceConfig{
		Context: ctx, Room: o.Room(o.Backlog()), Job: (*poolJob)(p), Shared: true,
	})
	p.workers, p.direct = option.NewWorkers(engine), direct
	p.limiter = newLimiter(engine.Limiter(), engine.Tuner())
	return p
}

// engine has the workers.
func (p *Pool) engine() *work.Engine { return option.EngineOf(&p.workers) }

// Go starts f as a task, now or once a worker is free. If the queue is full it waits
// for room, as Queue says, or until the pool is closed. After Close it returns
// ErrClosed, and f will not run. f is given the pool's context, which ends when
// Shutdown gives up waiting or the pool has been closed. Go panics if f is nil.
//
// In a task of the same pool use GoContext, with the task's context. Go cannot tell
// that it is in a task: when the queue is full and every worker is in such a Go, all
// of them wait for ever.
func (p *Pool) Go(f func(context.Context)) error {
	p.check("Pool.Go", f == nil)
	if p.direct.Submit(nil, f, nil) != work.Accepted {
		return ErrClosed
	}
	return nil
}

// GoContext starts f as Go does, and gives up waiting when ctx ends: then, and also if
// ctx has ended before, it returns the cause, and f will not run. f is given a context
// with the values of ctx, which ends as the pool's context does and not with ctx. When
// ctx is the context of a task of the pool, queued tasks run in its place while it
// waits. Once there is room it goes on, as soon as the one that runs in its place has
// ended. It panics if ctx or f is nil.
func (p *Pool) GoContext(ctx context.Context, f func(context.Context)) error {
	check("Pool.GoContext", ctx, f == nil)
	p.check("Pool.GoContext", false)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if values := limit.Values(ctx, p.ctx); values != nil {
		plain, values := f, option.Labelled(values, p.name)
		f = func(ctx context.Context) { plain(limit.WithValues(ctx, values)) }
	}
	switch p.direct.Submit(ctx.Done(), f, limit.From(ctx)) {
	case work.Accepted:
		return nil
	case work.GaveUp:
		return context.Cause(ctx)
	}
	return ErrClosed
}

// TryGo starts f if that takes no waiting, and reports whether it did: there is
// room in the queue and nobody waits for it, or there is a worker for it at once. So
// true means accepted, not begun. Under Queue(0) f counts as running from then on, and
// runs, also if the pool is shut down meanwhile. TryGo panics if f is nil.
func (p *Pool) TryGo(f func(context.Context)) bool {
	p.check("Pool.TryGo", f == nil)
	return p.direct.Offer(f, nil) == work.Accepted
}

// Idle waits until nothing is queued or running and no submitter waits for room,
// without closing the pool, and returns nil, also if ctx has ended before; or until
// ctx ends, and returns the cause. It panics if ctx is nil,
// or belongs to a task that has a place under the pool's limit: that would wait
// for itself.
func (p *Pool) Idle(ctx context.Context) error {
	p.checkOutside("Pool.Idle", ctx)
	if !p.quiet(ctx) {
		return context.Cause(ctx)
	}
	return nil
}

// Close makes the pool refuse new tasks, runs those that it has accepted, and
// waits until they and the workers have ended. What a task of the pool starts with
// the context that it was given belongs to it, and is accepted still. Submitters
// that wait for room are refused. It may be called again, also by several
// goroutines at once. It panics when a task of the pool calls it on the goroutine
// that it was given: it would wait for itself.
func (p *Pool) Close() {
	p.check("Pool.Close", false)
	if p.engine().Inside() {
		panic("stint: Pool.Close: called by a task of the pool, which would wait for itself")
	}
	p.engine().Close()
	p.engine().Quiet(nil)
	p.cancel(ErrClosed)
}

// Shutdown closes the pool as Close does. When ctx ends first, the tasks that are
// queued are dropped, the context of those that run is cancelled with the cause
// ErrClosed, and Shutdown waits for those only, however long they take; groups and
// calls on the pool return ErrClosed. It returns how many tasks were dropped so, by
// this call and earlier ones, the items of Each, Map and Range not counted, and the
// cause of the end of ctx, if that cut it short. It panics if ctx is nil, or
// belongs to a task that has a place under the pool's limit.
func (p *Pool) Shutdown(ctx context.Context) (abandoned int, err error) {
	p.checkOutside("Pool.Shutdown", ctx)
	p.engine().Close()
	if !p.quiet(ctx) {
		err = context.Cause(ctx)
		p.engine().Abandon()
		p.cancel(ErrClosed)
		p.engine().Quiet(nil)
	}
	p.cancel(ErrClosed)
	return p.engine().Abandoned(), err
}

// SetLimit changes how many tasks may run at once, as Limiter.Set does; a Limiter
// that the pool was made with changes for all who share it. It panics if n is
// less than 1.
func (p *Pool) SetLimit(n int) {
	p.check("Pool.SetLimit", false)
	p.limiter.set("Pool.SetLimit", n)
}

// Stats returns the state of the pool at one instant.
func (p *Pool) Stats() Stats {
	p.check("Pool.Stats", false)
	c := p.engine().Counts()
	return Stats{
		Name: p.name, Limit: p.limiter.Current(),
		Running: c.Running, Queued: c.Queued, Waiting: c.Blocked,
		Workers: c.Workers, Idle: c.Idle,
		Completed: c.Completed, Dropped: c.Dropped,
	}
}

// quiet waits until the pool is idle, or ended when it is closed, or ctx has
// ended. It reports whether the pool was first.
func (p *Pool) quiet(ctx context.Context) bool {
	call := limit.From(ctx).Call()
	call.Lend()
	defer call.Reclaim()
	return p.engine().Quiet(ctx.Done())
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
	check(caller, ctx, false)
	p.check(caller, false)
	if slot, _ := limit.From(ctx).On(p.limiter.core()); slot != nil {
		panic("stint: " + caller + ": called by a task that has a place under the pool's limit")
	}
}

// poolJob is a Pool as the job of its own tasks.
type poolJob Pool

func (j *poolJob) Run(ctx context.Context, t work.Task) error {
	t.Func.(func(context.Context))(ctx)
	return nil
}

// Failed crashes the process on a panic, unless there is a hook. It runs inside
// the deferred call, so that the crash shows the task's stack.
func (j *poolJob) Failed(_ work.Task, o task.Outcome) {
	if o.Panic == nil {
		return // a Goexit: the task has ended, nobody waits for it
	}
	if j.onPanic == nil {
		panic(o.Panic.Value)
	}
	j.onPanic(o.Panic.Raised("stint: task"))
}

func (j *poolJob) Abandoned() { j.cancel(ErrClosed) }

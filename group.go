package stint

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A Group runs tasks that are started one by one and waits for them. Workers are
// reused from task to task and end with the group; on a Pool the tasks run on
// its workers, in turn with those of other groups.
//
// The first error cancels the context of the tasks, drops those that are queued,
// and is what Wait returns; under KeepGoing all errors are. When the context that
// the group was made with ends, queued tasks are dropped too and Wait returns the
// cause. A panic cancels the rest and is raised again in Wait as a *PanicError; a
// call of runtime.Goexit is ErrGoexit.
//
// As workers are reused, a task must change back what it changes of its goroutine:
// runtime.LockOSThread, pprof labels.
//
// A task that was dropped does not run at all. So what a task waits for must not be up to
// another one of the group alone: let it look at its context too, or give the two a
// group each.
//
// A Group must be made by NewGroup and waited for. Its methods may be called by
// several goroutines at once, tasks of the group included, with the exception
// that a task must not call Wait on its own group: it would wait for itself, for ever.
type Group struct {
	tasks tasks
}

// NewGroup returns a Group whose tasks are given a context made from ctx, which
// ends with the group. It starts no goroutine.
//
// Options: a Limiter or a Pool, Burst, Overload, Queue, KeepGoing, Name. NewGroup panics if ctx is
// nil.
func NewGroup(ctx context.Context, opts ...Option) *Group {
	check("NewGroup", ctx, false)
	o := collect("NewGroup", groupOptions, opts)
	g := new(Group)
	g.tasks.init(ctx, &o, (*groupJob)(g), o.Room(o.Backlog()))
	return g
}

// Go starts f as a task: on a free worker, or later, once one is free. If the queue
// is full it waits for room, as Queue says. It returns false, and f will not run,
// when the group is over: a task has failed, its context has ended, Wait has
// returned, or its pool is closed. Go panics if f is nil.
//
// A group that was made with the context of a task on its limiter acts for that
// task: while Go waits, queued tasks may run in its place.
//
// In a task of the same group use GoContext, with the task's context. Go cannot tell
// that it is in a task: when the queue is full and every worker is in such a Go, all
// of them wait for ever.
func (g *Group) Go(f func(context.Context) error) bool {
	g.tasks.check("Group.Go", f == nil)
	return g.tasks.submit(nil, f, g.tasks.place.Home) == work.Accepted
}

// GoContext starts f as Go does. f is given the group's context, and other than by
// Pool.GoContext without the values of ctx. It gives up waiting when ctx ends: then,
// and also if ctx has ended before, it returns the cause, and f will not run.
// When the group is over it returns ErrClosed, wrapped together with what ended the
// group. When ctx is the context of a task that runs on the group's limiter, queued
// tasks run in the place of that task while it waits. Once there is room it goes on,
// as soon as the one that runs in its place has ended. GoContext panics if ctx or f
// is nil.
func (g *Group) GoContext(ctx context.Context, f func(context.Context) error) error {
	check("Group.GoContext", ctx, f == nil)
	g.tasks.check("Group.GoContext", false)
	return g.tasks.submitContext(ctx, f)
}

// TryGo starts f if that takes no waiting, and reports whether it did: there is
// room in the queue and nobody waits for it, or there is a worker for it at once. So
// true means accepted, not begun. Under Queue(0) f counts as running from then on, and
// runs, also if the group is cancelled meanwhile. It returns false when the group is
// over. TryGo panics if f is nil.
func (g *Group) TryGo(f func(context.Context) error) bool {
	g.tasks.check("Group.TryGo", f == nil)
	return g.tasks.offer(f) == work.Accepted
}

// Wait waits until every task has ended and returns the group's error. A group
// that was cut short by the end of its context, even between two tasks, returns
// the cause: it cannot know what would have come. After Wait the group takes no
// task; calling Wait again gives the same result. When a task waits for a group on
// the limiter or pool that it runs on itself, one of the group's tasks at a time
// runs in its place.
func (g *Group) Wait() error {
	g.tasks.check("Group.Wait", false)
	return g.tasks.wait()
}

// groupJob is a Group as the job of its source.
type groupJob Group

func (j *groupJob) Run(ctx context.Context, t work.Task) error {
	return t.Func.(func(context.Context) error)(ctx)
}

func (j *groupJob) Failed(t work.Task, o task.Outcome) { j.tasks.failed(t, o) }

func (j *groupJob) Abandoned() { j.tasks.verdict.fail(ErrClosed) }

// tasks is what Group, Results and the sequence functions have in common: the place
// where tasks run, and a verdict.
type tasks struct {
	verdict verdict
	place   option.Place
	closing sync.Once
}

// init makes t ready. job says what a task does; room is the length of the queue.
func (t *tasks) init(ctx context.Context, o *option.Options, job work.Job, room int) {
	t.verdict.init(ctx, o)
	t.verdict.ctx.lasts = ctx.Done() == nil // the engine looks at Err with its lock held; if not, Open has the context made
	t.place.Open(ctx, t.verdict.ctx, o, job, room)
	t.verdict.report(o, t.place.Engine.Tuner())
}

// check panics when t was not made by its constructor, or an argument is nil.
// caller is the method, with its type.
func (t *tasks) check(caller string, nilFunc bool) {
	if t.place.Source == nil {
		name, _, _ := strings.Cut(caller, ".")
		panic("stint: " + caller + ": " + name + " was not made by New" + name)
	}
	if nilFunc {
		panic("stint: " + caller + ": nil function")
	}
}

func (t *tasks) submit(done <-chan struct{}, f any, from *limit.Link) work.Answer {
	a := t.place.Source.Submit(done, f, from)
	t.answered(a)
	return a
}

func (t *tasks) offer(f any) work.Answer {
	a := t.place.Source.Offer(f, t.place.Home)
	t.answered(a)
	return a
}

// answered makes a closed pool the tasks' error: it must not look as if they
// were all done.
func (t *tasks) answered(a work.Answer) {
	if a == work.Over && t.place.Closed() {
		t.verdict.refuse()
	}
}

func (t *tasks) submitContext(ctx context.Context, f any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	from := limit.From(ctx)
	if from == nil {
		from = t.place.Home
	}
	switch t.submit(ctx.Done(), f, from) {
	case work.Accepted:
		return nil
	case work.GaveUp:
		return context.Cause(ctx)
	}
	if cause := context.Cause(t.verdict.ctx); cause != nil && cause != context.Canceled && cause != ErrClosed {
		return fmt.Errorf("%w: %w", ErrClosed, cause)
	}
	return ErrClosed
}

// failed takes in how a task ended. What is queued is dropped at once: not a
// worker, but the one who cancels takes it out.
func (t *tasks) failed(w work.Task, o task.Outcome) {
	if t.verdict.failed(w.Index, o) {
		t.place.Source.Stop()
	}
}

// stop cancels the tasks and drops what is queued.
func (t *tasks) stop(cause error) {
	t.verdict.ctx.cancel(cause)
	t.place.Source.Stop()
}

func (t *tasks) wait() error {
	t.place.Wait()
	t.close()
	return t.verdict.result()
}

// close ends what the tasks were run with. It is called when none is left.
func (t *tasks) close() {
	t.closing.Do(func() {
		t.place.Close()
		t.verdict.close(false)
	})
}

package stint

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/work"
)

// A Group runs tasks that are started one by one, and waits for them. Its workers are reused
// from task to task and end with the group; on a Pool the tasks run on the pool's workers, in
// turn with those of other groups.
//
// The first error cancels the context of the tasks, drops the queued tasks, and is returned
// by Wait. If the context given to NewGroup ends, queued tasks are dropped and Wait returns
// the cause. If a task panics, the others are cancelled and Wait panics with a *PanicError.
// Under KeepGoing, with a context that does not end, only a panic drops tasks.
//
// A dropped task does not run at all, its deferred calls included. After Wait, the submitter
// must release what it has acquired for such a task, and close its channels. A task that waits
// for another task of its group must watch its context too.
//
// A Group must be made by NewGroup and waited for: see [PanicError]. The context of the group
// ends in Wait. The methods of a Group may be called concurrently, also by its own tasks; but
// a task that calls Wait on its own group deadlocks.
type Group struct {
	tasks groupTasks
}

// NewGroup returns a Group whose tasks get a context made from ctx. It starts no goroutine.
// Without an option the limit is adaptive: see [Auto]. Tasks that stay, or wait for each
// other, need a Limit with room for all, since an adaptive limit rises only as tasks finish.
// Options: Limiter, Pool, Queue, KeepGoing, LowPriority, Name.
func NewGroup(ctx context.Context, opts ...Option) *Group {
	checkArgs("NewGroup", ctx, false)
	o := collectIn(ctx, "NewGroup", groupOptions, opts)
	g := new(Group)
	g.tasks.init(ctx, "Group.Wait", &o, &g.tasks, o.Room(o.Backlog()))
	return g
}

// Go starts f as a task: at once if a worker is free, and from the queue otherwise. f gets
// the group's context. While the queue is full, Go waits for room; if the group was made with
// the context of a task on its limiter, queued tasks may run on that task's permit meanwhile.
// Go returns false, and f will not run, if a task has failed, the group's context has ended,
// Wait has returned, or its pool is closed.
//
// In a task of the same group or pool use GoContext. Go does not know that a task calls it:
// when the queue is full and every worker is in such a Go, all wait for ever. stintvet finds it.
func (g *Group) Go(f func(context.Context) error) bool {
	g.tasks.check("Group.Go", f == nil)
	return g.tasks.start(f)
}

// GoContext starts f as Go does, but gives up waiting when ctx ends: then, and if ctx has
// ended before, it returns the cause, and f will not run. If the group takes no more tasks,
// it returns ErrClosed, wrapped together with the reason unless that is context.Canceled. f gets
// the group's context with the values of ctx, such as a trace; that context does not end with ctx.
//
// If ctx is the context of a task on the group's limiter, queued tasks run on that task's
// permit while GoContext waits. Once there is room, it returns as soon as the task on that
// permit has finished.
//
// Tasks may start each other in a chain of any length: a task that has finished keeps no
// memory. A context that a task makes by context.WithValue or WithoutCancel is kept for all
// tasks after it; one made by WithCancel, WithTimeout or WithDeadline is not.
func (g *Group) GoContext(ctx context.Context, f func(context.Context) error) error {
	checkArgs("Group.GoContext", ctx, f == nil)
	g.tasks.check("Group.GoContext", false)
	if values := limit.Values(ctx, g.tasks.outcome.ctx, g.tasks.name); values != nil {
		plain := f
		f = func(ctx context.Context) error { return plain(limit.WithValues(ctx, values)) }
	}
	return g.tasks.submitContext(ctx, f)
}

// TryGo starts f as Go does if that needs no waiting: if a worker is free, or if the queue
// has room and no submitter waits. It reports whether it did. Under Queue(0) an accepted f
// runs even if the group is cancelled before it starts. An adaptive limit rises after
// refusals as it does while tasks wait; Burst sets where it starts.
func (g *Group) TryGo(f func(context.Context) error) bool {
	g.tasks.check("Group.TryGo", f == nil)
	return g.tasks.offer(f)
}

// Wait waits until every task has finished, ends the group, and returns its error. If the
// group's context ended before Wait, even between two tasks, the error is its cause. Later
// calls return the same result. If a task waits for a group on its own limiter or pool, one
// task of the group at a time runs on the waiting task's permit.
func (g *Group) Wait() error {
	g.tasks.check("Group.Wait", false)
	return g.tasks.wait()
}

// groupTasks are the tasks of a Group.
type groupTasks struct{ tasks }

func (t *groupTasks) Run(ctx context.Context, w work.Task) error {
	return w.Payload.(func(context.Context) error)(ctx)
}

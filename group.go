package stint

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/work"
)

// A Group runs tasks that are started one by one, and waits for them. Its workers run many
// tasks and end with the group. A Group on a Pool has no workers: its tasks run on the workers
// of the pool, in turn with the tasks of other groups.
//
// The first error cancels the context of the tasks, drops the queued tasks, and is returned by
// Wait. If the context given to NewGroup ends, queued tasks are dropped and Wait returns the
// cause. If a task panics, the others are cancelled and Wait panics with a *PanicError. Under
// KeepGoing errors drop no tasks.
//
// A dropped task does not run at all, its deferred calls included. So after Wait, the submitter
// must release what it has acquired for the task, and close its channels. A task that waits for
// another task of its group must also watch its context.
//
// A Group must be made by NewGroup, and Wait must be called: see [PanicError]. Wait ends the
// context of the group. The methods of a Group may be called concurrently, also by its own
// tasks. But a task that calls Wait on its own group deadlocks.
type Group struct {
	tasks groupTasks
}

// NewGroup returns a Group whose tasks get a context made from ctx. It starts no goroutine.
// Without an option the limit is adaptive: see [Auto]. Tasks that run for as long as the group,
// and tasks that wait for each other, need a Limit with room for all of them: an adaptive limit
// rises only as tasks finish. Options: Limiter, Pool, Queue, KeepGoing, LowPriority, Name.
func NewGroup(ctx context.Context, opts ...Option) *Group {
	checkArgs("NewGroup", ctx, false)
	o := collectIn(ctx, "NewGroup", groupOptions, opts)
	g := new(Group)
	g.tasks.init(ctx, "Group.Wait", &o, &g.tasks, o.Room(o.Backlog()))
	return g
}

// Go starts f as a task. f starts at once if a worker is free, and otherwise from the queue. It
// gets the group's context. While the queue is full, Go waits for room. If the group was made
// in a task on the same limiter, with the task's context, queued tasks may meanwhile use the
// permit of that task. Go returns false, and f will not run, if a task has failed, the group's
// context has ended, Wait has returned, or the group's pool is closed.
//
// In a task of the same group or pool use GoContext. Go does not know that a task calls it:
// when the queue is full and every worker waits in Go, all wait for ever. stintvet reports such
// a call.
func (g *Group) Go(f func(context.Context) error) bool {
	g.tasks.check("Group.Go", f == nil)
	return g.tasks.start(f)
}

// GoContext starts f as Go does, but waits for room no longer than ctx. If ctx ends before f is
// accepted, GoContext returns the cause of ctx, and f will not run. If the group accepts no
// more tasks, the error is ErrClosed, wrapped together with the cause of the group's context
// unless that is context.Canceled. f gets the group's context with the values of ctx, such as a
// trace: the context of f does not end with ctx.
//
// If ctx is the context of a task on the group's limiter, queued tasks use that task's permit
// while GoContext waits. Once there is room, GoContext returns as soon as the task that uses
// the permit has finished.
//
// Tasks may start each other in a chain of any length: a finished task keeps no memory. But a
// context that a task makes by context.WithValue or WithoutCancel, and passes to GoContext, is
// kept for all later tasks of the chain. One made by WithCancel, WithTimeout or WithDeadline is
// not.
func (g *Group) GoContext(ctx context.Context, f func(context.Context) error) error {
	checkArgs("Group.GoContext", ctx, f == nil)
	g.tasks.check("Group.GoContext", false)
	if values := limit.Values(ctx, g.tasks.outcome.ctx, g.tasks.name); values != nil {
		plain := f
		f = func(ctx context.Context) error { return plain(limit.WithValues(ctx, values)) }
	}
	return g.tasks.submitContext(ctx, f)
}

// TryGo starts f as Go does if it need not wait: if a worker is free, or if the queue has room
// and no submitter waits. It reports whether it started f. Under Queue(0) an accepted f runs
// even if the group is cancelled before f starts. A refused task makes an adaptive limit rise
// as a waiting task does. Burst sets how high the limit is at the start.
func (g *Group) TryGo(f func(context.Context) error) bool {
	g.tasks.check("Group.TryGo", f == nil)
	return g.tasks.offer(f)
}

// Wait waits until every task has finished, ends the group, and returns its error. If the
// group's context ended before Wait, even while no task ran, the error is the cause of the
// context. Later calls of Wait return the same error. A task may wait for a group on its own
// limiter or pool: tasks of the group then use the permit of the waiting task, one at a time.
func (g *Group) Wait() error {
	g.tasks.check("Group.Wait", false)
	return g.tasks.wait()
}

// groupTasks are the tasks of a Group.
type groupTasks struct{ tasks }

func (t *groupTasks) Run(ctx context.Context, w work.Task) error {
	return w.Payload.(func(context.Context) error)(ctx)
}

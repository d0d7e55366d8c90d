// Package taskgo reports tasks that wait for themselves.
//
// A task that calls Go of its own group or pool waits while the queue is full. Go does not know that
// a task calls it: when every worker is in such a call, all wait for ever. A crawler that
// starts a task for each link stops so, without a word. Call GoContext with the task's
// context instead:
//
//	g.Go(func(ctx context.Context) error {
//		...
//		g.Go(visit(link))             // before
//		g.GoContext(ctx, visit(link)) // after
//	})
//
// The same is reported for a task on a pool or limiter, and a group on it that was made outside of
// the task; for Wait of a group in its own tasks; and for Close of a pool in a task on it.
// The call may be in a function of the package that the task calls.
//
// TryGo is not reported: it does not wait. Neither are Idle and Shutdown, which panic in such a task.
package taskgo

// Package taskgo reports tasks that wait for themselves.
//
// A task that calls Go of its own group or pool waits while the queue is full. Go does not know
// that a task calls it: when every worker waits in Go, all wait for ever. A crawler that starts
// a task for each link can stop in this way, without a message. Call GoContext with the task's
// context instead:
//
//	g.Go(func(ctx context.Context) error {
//		...
//		g.Go(visit(link))             // before
//		g.GoContext(ctx, visit(link)) // after
//	})
//
// Three other calls in a task are reported: Go of a group that was made outside of the task and
// is on the same pool or limiter, Wait of the task's own group, and Close of the task's own
// pool. The call may be in a function of the package that the task calls.
//
// TryGo is not reported: it does not wait. Idle and Shutdown are not reported: they panic in
// such a task.
package taskgo

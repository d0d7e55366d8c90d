// Package lostwait reports tasks that nobody waits for, and refusals that nobody notices.
//
// A Group or Results must be waited for on every path, and so must a Pool that tasks were given
// to. Otherwise tasks run on after the function has returned, their errors are lost, and the
// context of the group never ends. Defer Wait, or Close of a pool, beside the call that makes
// the group or pool. Wait may be called again:
//
//	g := stint.NewGroup(ctx)
//	defer g.Wait() // after
//	for _, name := range names {
//		if name == "" {
//			return errEmpty // before: tasks may still run, and the context of g goes on
//		}
//		g.Go(read(name))
//	}
//	return g.Wait()
//
// A group that is returned, stored, passed on or captured is not reported.
//
// A result of TryGo that is not used is also reported: the work of a refused task is lost, and
// nobody notices. An error of GoContext that is not used is reported if the context can end
// before the context of the group or pool: a context made in the function with a deadline, a
// cancel function or signals, or the context of a request. Assign the result to _ if the task
// may be dropped.
//
// The result of Group.Go is not reported, since Wait returns the reason. Errors of Wait and of
// Pool.Go are not reported, since tools for unchecked errors find them.
package lostwait

// Package lostwait reports tasks that nobody waits for, and refusals that nobody notices.
//
// A Group or Results must be waited for on every path, and so must a Pool that tasks were given to:
// otherwise tasks run on after the function has returned, their errors are lost, and the context of
// the group, which NewGroup has made, never ends. Defer Wait, or Close of a pool, beside the call that makes it; Wait may be
// called again:
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
// Reported too: the result of TryGo, if it is not used. A refused task is work that is lost, and
// nothing tells. So is the error of GoContext, if its context can end before that of the group or
// pool: one made in the function with a deadline, a cancel function or signals, or that of a
// request. Assign the result to _ if the task may be dropped.
//
// Not reported: the false of Group.Go, whose reason Wait returns; errors of Wait and of Pool.Go,
// which tools for unchecked errors find.
package lostwait

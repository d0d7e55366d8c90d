// Package errgroup replaces golang.org/x/sync/errgroup. Waiting submitters are served in order,
// and panics reach Wait. To switch, change the import:
//
//	import "github.com/stint-go/stint/errgroup"
//
// It has the methods and the documented behaviour of version v0.24.0 of the original. It also
// has the restrictions of the original: a Go that waits cannot be cancelled, tasks started
// after an error still run, and the limit must be known. Groups of package
// [github.com/stint-go/stint] have none of these restrictions; [Coming from errgroup] says how
// to move to them.
//
// # Differences
//
//   - A panic in a task does not crash the process. The group's context is cancelled, and
//     Wait panics with a *stint.PanicError for the first panic: call Wait on every return path.
//     If other tasks wait for the task that panicked, and do not watch the context, Wait does not
//     return. The original crashes in this case too. A panic that no Wait has raised is written to
//     standard error after a second, and crashes the process when the Group is garbage.
//   - A task that calls runtime.Goexit, as testing.T.FailNow does, fails with
//     stint.ErrGoexit. The original counts it as success.
//   - SetLimit panics while tasks are active even if the group had no limit before. In the
//     original, such a SetLimit succeeds and Wait never returns. A negative limit is allowed at
//     any time.
//   - A Go that waits at the limit 0 returns when SetLimit raises the limit. In the original it
//     waits forever.
//   - Waiting submitters are served first come, first served. The original has no order.
//   - A nil function panics in Go and TryGo. In the original it panics in a new goroutine.
//
// Both packages start a goroutine for each task. The goroutine inherits the pprof labels of the
// caller of Go, and its stack names the goroutine of that caller. The race detector takes the
// same tasks for ordered with both packages. Groups of both packages need about the same time
// and memory. For many tasks of a few microseconds use stint.Each or stint.Group, whose workers
// run several tasks.
//
// [Coming from errgroup]: https://github.com/stint-go/stint/blob/main/docs/coming-from.md#errgroup
package errgroup

// Package errgroup replaces golang.org/x/sync/errgroup, and reuses goroutines. To switch,
// change the import:
//
//	import "github.com/stint-go/stint/errgroup"
//
// It has the methods and the documented behaviour of version v0.24.0 of the original. Go
// cannot be cancelled, tasks started after an error still run, and the limit must be known.
// Groups of package [github.com/stint-go/stint] have none of these restrictions;
// docs/coming-from.md says how to move to them.
//
// # Differences
//
//   - A panic in a task does not crash the process. The group's context is cancelled, and
//     Wait panics with a [*stint.PanicError], whose text has the stack of the task: call
//     Wait on every return path. If other tasks wait for the task and do not watch the
//     context, Wait does not return; the original crashes in this case too.
//   - A task that calls runtime.Goexit, as testing.T.FailNow does, fails with
//     [stint.ErrGoexit]. The original counts it as success.
//   - SetLimit panics while tasks are active even if the group had no limit before. In the
//     original, Wait then never returns. A negative limit is allowed at any time.
//   - A Go that waits returns when SetLimit allows more, for example with a limit of 0. In
//     the original it waits forever.
//   - Waiting submitters are served first come, first served. The original has no order.
//   - A nil function panics in Go and TryGo, not in a new goroutine.
//   - A goroutine runs several tasks, one after the other. A task that changes its
//     goroutine, by runtime.LockOSThread or pprof labels, must undo the change. The task
//     does not inherit the pprof labels of the caller of Go, and its stack does not name
//     that caller. Set labels in the task, with pprof.Do and a context without labels:
//     pprof.Do restores the labels of its context, not those of the goroutine.
//   - The race detector reports races only between tasks that ran at the same time: it
//     considers tasks that ran one after the other ordered.
//
// # Costs
//
// Running a queued task on the goroutine of a finished one is faster than starting a
// goroutine. Groups of many tasks need less time and memory than with the original. Groups
// of a few tasks need about as much: somewhat more time if the tasks do nothing, and some
// bytes for the queue. BENCHMARKS.md has the figures. A Group takes 64 bytes on a 64-bit
// system, and starts no goroutine before the first task.
package errgroup

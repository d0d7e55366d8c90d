// Package errgroup stands in for golang.org/x/sync/errgroup, and uses goroutines again:
// to change over, change the import.
//
//	import "github.com/stint-go/stint/errgroup"
//
// A [Group] is tasks that are started one by one and waited for together. Wait returns
// the first error, which also ends the context that [WithContext] made. With
// [Group.SetLimit], no more tasks are active at once than the limit says.
//
// It has the methods and the documented behaviour of version v0.24.0 of the original,
// and so its limits: Go cannot be given up, tasks that are started after an error run
// all the same, and the number of tasks at once has to be known. Package
// [github.com/stint-go/stint] has groups without those, and docs/coming-from.md says
// how to change over to them.
//
// # What differs
//
//   - A panic in a task does not crash the process. Wait panics with a
//     [*stint.PanicError], whose text has the stack of the task, and the group's context
//     ends. So every way out of a function that has started tasks should pass a Wait.
//     If other tasks wait for the one that panicked, and do not watch the context,
//     neither they nor Wait end; the original crashes in this case too.
//   - A task that calls runtime.Goexit, as testing.T.FailNow does, has failed with
//     [stint.ErrGoexit]. The original takes it for success.
//   - SetLimit panics while tasks are active also if the group had no limit before, as
//     it does otherwise. The original accepts such a call, and Wait then never
//     returns. To lift the limit, with a negative number, is allowed at any time.
//   - A Go that waits goes on when SetLimit allows more: under a limit of 0, or when the
//     limit is lifted. In the original it waits for ever.
//   - Submitters that wait go on in the order in which they came. The original
//     promises no order.
//   - A nil function panics in Go and TryGo, not in a goroutine of its own.
//   - A goroutine runs several tasks one after the other. A task that changes its
//     goroutine must change it back: runtime.LockOSThread, pprof labels. And it does not
//     inherit the pprof labels of the one who called Go: they are those of the goroutine,
//     and so is what a stack says that it was created by. Set them in the task, with
//     pprof.Do and a context without labels: at its end pprof.Do gives the goroutine the
//     labels of the context that it was given, and not those of before.
//   - The race detector takes tasks of a group that ran one after the other to be in
//     order, and so is silent about what they share. It reports those that ran at the
//     same time.
//
// # Costs
//
// The goroutine of a task that has ended runs the next one that is queued, which takes
// less than to start one. So groups of many tasks take less time and less memory than
// with the original, and groups of a few about the same: somewhat more time where the
// tasks do nothing, and some bytes for the queue once there is one. BENCHMARKS.md has the
// figures. A Group takes 64 bytes on a 64-bit system, and starts no goroutine before
// the first task.
package errgroup

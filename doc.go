// Package stint is structured concurrency with an adaptive limit: tasks run concurrently, never
// more than the limit, and every call returns only when its tasks have finished.
//
// This call reads files, at most eight at a time:
//
//	texts, err := stint.Map(ctx, names, func(_ context.Context, name string) ([]byte, error) {
//		return os.ReadFile(name)
//	}, stint.Limit(8))
//
// The texts are in the order of the names. If a read fails, no new reads start, running ones
// finish, and err is the error of the first read that failed.
//
// # Choosing a function
//
//   - [Each] and [Map] take the items of a slice, [Range] takes indexes.
//   - [EachSeq] and [MapSeq] take a sequence, finite or infinite.
//   - [EachKey] and [MapKey] take a sequence, and keep the order of values with the same key.
//   - [First] returns the first result of several attempts, and cancels the others.
//   - [NewGroup] and [NewResults] are for different tasks, and for tasks that start other
//     tasks. They are worker pools whose tasks return errors, and also values.
//   - [NewPool] shares workers among many callers, or runs tasks that nobody waits for.
//     [LowPriority] is for background work that shares a limit with other work.
//   - [Limiter.Do] and [Limiter.TryDo] run a function on the caller's goroutine, such as the
//     handling of a request.
//   - [NewLimiters] has a limit for each key, such as a tenant or a server.
//   - Package [github.com/stint-go/stint/par] computes and sorts: its functions neither
//     fail nor wait.
//   - Package [github.com/stint-go/stint/stream] is for pipelines, and for sources that may
//     block or fail.
//   - Package [github.com/stint-go/stint/httplimit] is for HTTP servers and clients.
//   - Package [github.com/stint-go/stint/errgroup] replaces golang.org/x/sync/errgroup.
//
// Functions of stint and stream accept a [Limiter]. All but NewPool also accept a [Pool]. Given
// neither, [First] starts all items at once, and the other functions find a limit by measuring
// throughput: see [Auto].
//
// # Errors, panics and cancellation
//
// The first error cancels the context of the other tasks, drops the queued tasks, and is
// returned as it is. The call waits for running tasks, so a long task should watch its context.
// Under [KeepGoing] an error cancels nothing, and every error is returned, as an [*ItemError].
// If the caller's context ends before the work is done, its cause is returned.
//
// A panic of a task also cancels the other tasks. The call or the Wait that waits for the task
// panics with a [*PanicError]: so call Wait on every return path. A panic in a task of
// [Pool.Go] crashes the process unless the pool has [OnPanic]. A task that calls
// [runtime.Goexit] fails with [ErrGoexit]. But Each, Map, Range and First run some tasks on the
// caller's goroutine: runtime.Goexit in such a task ends that goroutine.
//
// The context of the tasks ends when the call returns. So a result must not need it: a task
// that gets an *http.Response must read its body.
//
// A nil context, function or sequence panics at once. So does a number out of its range, and an
// option that does not apply.
//
// # Nesting
//
// A task may start tasks on its own limiter or pool and wait for them, even at limit 1: while
// it waits, the new tasks use its permit, one at a time. stint finds the permit by the context
// that the task was given. In a task, therefore:
//
//   - pass on the context of the task, or a context made from it;
//   - before the task returns, wait for everything that was started with this context;
//   - start tasks of the same group or pool with GoContext;
//   - do not wait for the task's own group or close its own pool.
//
// Always nest two limiters in the same order, as with mutexes. The vet tool stintvet, in
// github.com/stint-go/stint/vet, finds code that breaks these rules.
//
// # Goroutines
//
// A goroutine runs many tasks, one after the other, and may run tasks of several groups or
// pools. So a task must undo its changes to the goroutine, such as runtime.LockOSThread or
// pprof labels.
//
// # Memory model
//
// Everything done before a task is started happens before the task. Everything done by a task
// happens before the return of the call or Wait that waits for it. Under a limit of n, the end
// of the first k tasks happens before the start of task n+k, as with a channel of n elements
// that is used as a semaphore: a limit of 1 orders all tasks.
//
// The race detector is told this order and no other. In programs built with -race, each task
// has a goroutine of its own, also a task that otherwise runs on the caller's goroutine. Loops
// and [github.com/stint-go/stint/stream.ParMap] do this for the first 1,000 items.
//
// # Further reading
//
// The [README] lists the guarantees, each with its test. The manual is in [docs]. [Pool.Stats],
// [Limiter.Stats] and package [github.com/stint-go/stint/debug] show what is running.
//
// [README]: https://github.com/stint-go/stint/blob/main/README.md
// [docs]: https://github.com/stint-go/stint/tree/main/docs
package stint

// Package stint runs tasks side by side, never more at once than a limit, and
// returns when all of them have ended.
//
// This program reads files, at most eight at once:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"os"
//
//		"github.com/stint-go/stint"
//	)
//
//	func main() {
//		names := []string{"LICENSE", "go.mod", "map.go"}
//		texts, err := stint.Map(context.Background(), names, func(_ context.Context, name string) ([]byte, error) {
//			return os.ReadFile(name)
//		}, stint.Limit(8))
//		fmt.Println(len(texts), err)
//	}
//
// The texts come in the order of the names. If a file cannot be read, no further
// file is begun, those that are being read are waited for, and err says what was
// wrong with that one.
//
// # Terms
//
// A task is one call of a function that you give, for an item or on its own. An
// item is an element of a slice, an index, or a value of a sequence. A worker is
// a goroutine that runs tasks one after the other. The limit is how many tasks
// run at once; a [Limiter] holds it. The queue is the tasks that were accepted
// and wait for a worker. A [Group] is tasks that are started one by one and
// waited for together. A [Pool] is workers that outlive the calls they serve.
//
// # Which one
//
//   - the items are in a slice: [Each], or [Map] for results
//   - the items are numbers from 0: [Range]
//   - the items come one after the other, perhaps without end: [EachSeq], or
//     [MapSeq] for results
//   - the tasks differ, or turn up while others run: [NewGroup], or [NewResults]
//     for results
//   - nobody waits for the single task, or many callers share the workers: [NewPool]
//   - nothing can fail or wait, the items are computed: package
//     [github.com/stint-go/stint/par], which also sorts
//   - records go through several stages: package [github.com/stint-go/stint/stream]
//   - code uses golang.org/x/sync/errgroup and is to stay as it is: package
//     [github.com/stint-go/stint/errgroup]
//
// Those of this package, and stream, take a Limiter as an option, and all but NewPool a
// Pool instead. Without either the limit finds itself: see [Auto]. Tasks that compute get a worker
// for each processor, and tasks that wait, for a network or a disk, as many as make
// more of them end in a second. Give [Limit] where you know better, or where a server
// must not be asked more often. The order of the results of MapSeq is that of the sequence, unless
// [Unordered] is given.
//
// # Guarantees
//
//  1. Never more tasks run at once than the limit says; after it was lowered none
//     begins until fewer run, but for records that a worker of stream.ParMap has
//     taken together. A task that makes calls on its own limiter counts as
//     one with the task that runs in its place, since it is taken to wait for that,
//     also when it makes the call from a goroutine of its own, or from a sequence
//     that MapSeq pulls.
//  2. No call, Wait or loop returns while one of its tasks runs. Importing the
//     package starts nothing.
//  3. A task ends in a value, an error, a panic or a [runtime.Goexit], or it was
//     not run. Each of the five is told apart; none is lost.
//  4. The first error cancels the rest, and is the error returned.
//  5. A panic reaches the one who waits, with the stack of the task.
//  6. A task may wait for tasks on its own limiter or pool, also when the limit
//     is 1.
//  7. Waiting for room can be given up, and those who wait are served in turn.
//  8. Results come in the order of the items, or of starting. The slice of Map has
//     a place for each item and that of Results for each accepted task, also
//     after an error.
//  9. Memory is bounded by limits, queues and what is returned, not by the amount
//     of work. It holds the tasks that wait, for others or for room: see Memory.
//  10. Everything works in [testing/synctest] bubbles.
//  11. A bad argument panics at once and says which.
//
// What was done before a task was started happens before the task. What a task
// did happens before the return of the call or Wait that waited for it.
//
// # Limits and nesting
//
// A Limiter is a value. Calls, groups and pools that are given the same one share
// its limit; a call that is given [Limit](4) in place has a limit of its own. So has
// one that is given none: two such calls that use the same server search apart from
// each other, and disturb each other; nested ones multiply. Share one Auto.
//
// A task may make calls on the limiter or pool that it runs on, and wait for
// them. They run in its place, so they cannot wait for it. stint knows the place
// by the context that the task is given. Therefore, in a task:
//
//   - pass on the context of the task, or one made from it, not one from outside;
//   - let what was started with it end before the task returns;
//   - start tasks of the same group or pool with GoContext: Go has no context;
//   - do not wait for the task's own group, nor close its own pool.
//
// A task that breaks the first rule may wait for its own place, for ever. So may
// tasks on two limiters that nest them in opposite orders, as with two locks:
// always nest them in the same order.
//
// # Errors
//
// The first error, in time, cancels the context of the other tasks. Queued tasks
// are dropped; running ones are waited for, so a long task should watch its
// context. The error is returned as it is. Under [KeepGoing] an error cancels
// nothing: all are returned, as [ItemError], joined in the order of the items.
//
// A panic cancels the rest too and is raised again, as a [*PanicError], by the call
// or Wait that waits for the task. Its text holds the stack of the task. A group
// shows its panics in Wait only, so every way out of the function should pass a
// Wait. Nobody waits for the tasks of [Pool.Go]: a panic there crashes the
// process as in any goroutine, unless the pool has [OnPanic].
//
// A task that calls runtime.Goexit, as [testing.T.FailNow] does, counts as failed
// with [ErrGoexit]. In Each, Map and Range the caller runs tasks too: a Goexit in
// one of those ends the caller's goroutine.
//
// # Cancellation
//
// The context of a task ends when the caller's context ends, when the first task
// fails, when a loop over MapSeq is left, and when [Pool.Shutdown] runs out of
// time. [context.Cause] says which. If the caller's context ended first, its cause
// is what the call returns. A sequence is not interrupted: one that blocks should
// watch the same context, which the error of a task does not end: a task that fails
// while the sequence may block for long cancels it. MapSeq runs it at the same time as the body of the loop,
// so the two must not share variables without a lock.
//
// # Memory
//
// Beside the results, what is kept is the running tasks, the queue, and, under
// KeepGoing, one error for each task that failed. EachSeq and MapSeq pull a
// sequence only so far ahead as [Queue] says. A task that has ended is not kept
// reachable.
//
// A task that waits, for others or in GoContext for room in a full queue, has begun:
// it is kept with its goroutine, while another runs in its place, which may wait
// too. Tasks of one group that each start many others can so be many more than the limit
// when the queue is full: some thousands, for a million that form a tree. Nested Each on
// the same limiter keeps one for each level and place.
//
// # Costs
//
// Each, Map and Range start a goroutine only when there is an item for it and the
// limit allows; one item runs on the caller's goroutine. They measure what an item
// takes: of short ones, several are taken at once, so that many of them cost what a
// loop split by hand does. A few short items cost more than a plain loop: to start
// a helper and to wait for it takes longer than they do.
//
// Groups, loops over sequences and pools start workers as tasks arrive and use them
// again. A task costs a little more than the call, and no allocation; to make a
// group costs many times as much. BENCHMARKS.md has the figures.
//
// # Testing
//
// In a [testing/synctest] bubble, time is that of the bubble. Make groups, pools
// and limiters inside it, and before it ends wait for the groups and close the pools:
// their idle workers wait for work, which the bubble reports as a deadlock.
//
// # Looking inside
//
// [Pool.Stats] and [Limiter.Stats] say what is going on, also as JSON. Package
// [github.com/stint-go/stint/debug] shows it as a page. Tasks of what has a [Name] bear
// it in profiles and in execution traces.
//
// # Something else
//
// For one goroutine, use a go statement and a channel. Without limit, errors and
// panics, [sync.WaitGroup.Go] is enough. For tasks of different weight see
// golang.org/x/sync/semaphore; for calls a second, golang.org/x/time/rate. There
// are no priorities and no retries. Queues that outlive the process, and tasks on other
// machines, are in a module of their own, github.com/stint-go/stint/cluster.
package stint

package stint

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// An Option configures a call, a group, a pool or Auto. A *Limiter and a *Pool are Options
// themselves. If an option is given twice, the later one counts. A function panics if an option
// does not apply to it.
//
// A call or a group that is given a Pool and a Limiter has a limit of its own on the pool, such
// as stint.Limit(2) for each tenant. Its tasks run on the workers of the pool, in turn with
// other tasks. Each task holds a permit of the pool and a permit of the Limiter. A task that
// must wait for both may hold the permit of the Limiter while it waits for its turn on the
// pool.
type Option interface{ option.Option }

const (
	loopOptions  = option.Limiter | option.Pool | option.KeepGoing | option.Name | option.LowPriority
	firstOptions = option.Limiter | option.Pool | option.Name | option.LowPriority | option.HedgeAfter
	groupOptions = loopOptions | option.Queue
	seqOptions   = groupOptions | option.Unordered
	poolOptions  = option.Limiter | option.Queue | option.LowPriority | option.Name | option.OnPanic
	autoOptions  = option.Burst | option.Overload
)

// collect reads the options given to the function called caller, which accepts those
// in allowed.
func collect(caller string, allowed option.Set, opts []Option) option.Options {
	return option.Collect("stint", caller, allowed, opts)
}

// collectIn is collect for a call that is made with ctx: without a limit, it may share that
// of another.
func collectIn(ctx context.Context, caller string, allowed option.Set, opts []Option) option.Options {
	o := collect(caller, allowed, opts)
	o.Inherit(limit.ScopeOf(ctx))
	return o
}

// Queue sets how many accepted tasks may wait for a worker. A submitter that finds the queue
// full waits for room. Under Limit(4) and Queue(10), four tasks run and ten wait in the queue,
// so the fifteenth Go waits for room. The default is 1,024, or the limit if that is larger.
// Under Queue(0) a task is accepted only when a worker is free. Queue panics if n is negative.
//
// For a sequence or a stream, Queue sets how many items are pulled beyond the running ones.
// Items that wait count, also for earlier items of their key, and so do results that are not
// yet consumed. The default is the limit.
//
// The queue of a pool holds the tasks that the pool's own methods start, and the tasks of all
// groups on the pool that are given neither Queue nor a Limiter. Room goes to the submitter
// that has waited longest. A group that keeps the queue full does not hold up other groups:
// workers serve the groups in turn, and take tasks of submitters that wait.
func Queue(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("stint: Queue(%d): want 0 or more", n))
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Queue; o.Queue = n })
}

// KeepGoing makes an error of one task leave the other tasks alone. All errors are returned,
// each as an *ItemError, joined in the order of the items, or of starting in a group. A panic
// still cancels the other tasks, and so does the end of the context. If the context has ended
// before all tasks were done, its cause is the last of the joined errors, or, if no task failed,
// the error itself.
func KeepGoing() Option { return option.KeepGoing }

// Unordered makes MapSeq, MapKey, stream.ParMap and stream.ParMapKey yield results as they
// finish instead of in input order, so that a slow item does not hold up the others.
func Unordered() Option { return option.Unordered }

// Name names a call, a group or a pool. The context of its tasks has the name as the pprof
// label "stint". Workers have the same label in profiles, and each task is a region of that
// name in execution traces. On a pool, workers and regions have the name of the pool. The
// caller's own goroutine keeps its labels. When a panic is written to standard error, since
// nobody has raised it, the text has the name.
func Name(s string) Option {
	return option.Func(func(o *option.Options) { o.Given |= option.Name; o.Name = s })
}

// OnPanic makes a Pool call f when a task given to Pool.Go, GoContext or TryGo panics. f runs
// on the task's goroutine, and the task counts as running until f returns. Without OnPanic the
// panic crashes the process, as in any goroutine. A panic of f also crashes the process.
// OnPanic panics if f is nil.
func OnPanic(f func(*PanicError)) Option {
	if f == nil {
		panic("stint: OnPanic: nil function")
	}
	return option.Func(func(o *option.Options) { o.Given |= option.OnPanic; o.OnPanic = f })
}

// LowPriority is for background work that shares a limit. Its tasks get a permit of their
// Limiter or Pool only when no other task waits for a permit. Tasks of low priority are served
// first come, first served among themselves. A running task is not interrupted. While other
// tasks use all permits, no task of low priority starts. NewPool gives low priority to all
// tasks of the pool.
//
// Calls that a task of low priority makes on the same Limiter or Pool also have low priority,
// Limiter.Do and TryDo among them. A task that waits for a call of low priority lends its
// permit to the call, as for any nested call: so the call goes on even while other tasks use
// all other permits. A goroutine that is not a task lends nothing.
func LowPriority() Option { return option.LowPriority }

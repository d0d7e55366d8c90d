package stint

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// An Option configures a call, a group, a pool or Auto. A *Limiter and a *Pool are Options
// themselves. If an option is given twice, the later one counts. A function panics if an
// option does not apply to it.
//
// A call or a group that is given a Pool and a Limiter has a limit of its own on the pool, such as
// stint.Limit(2) for each tenant: its tasks run on the workers of the pool, in turn with others,
// and each holds a permit of the pool and one of the Limiter. While both are busy, the permit of
// the Limiter may come first, and is then held for the turn on the pool.
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
// full waits for room: under Limit(4) and Queue(10), the fifteenth Go. The default is 1,024,
// or the limit if that is larger. Under Queue(0) a task is accepted only when a worker is
// free. Queue panics if n is negative.
//
// For a sequence or a stream, Queue sets how many items beyond the running ones are pulled:
// those that wait, also for others of their key, and finished results that are not yet
// consumed. The default is the limit.
//
// The queue of a pool holds the tasks that its own methods start, and those of all groups
// on the pool that are given neither Queue nor a Limiter. Room goes to the submitter that has waited longest.
// A group that keeps the queue full does not hold up the others: workers serve them in turn,
// and take tasks of submitters that wait.
func Queue(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("stint: Queue(%d): want 0 or more", n))
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Queue; o.Queue = n })
}

// KeepGoing makes an error of one task leave the other tasks alone. All errors are returned,
// each as an *ItemError, joined in the order of the items or of starting. A panic still
// cancels the rest. So does the end of the context: if work was left undone, its cause is the
// last of the joined errors.
func KeepGoing() Option { return option.KeepGoing }

// Unordered makes MapSeq, MapKey, stream.ParMap and stream.ParMapKey yield results as they
// finish instead of in input order, so that a slow item does not hold up the others.
func Unordered() Option { return option.Unordered }

// Name names a call, a group or a pool. Tasks find the name in their context, as the pprof
// label "stint". Workers have that label in profiles, and execution traces have a region of
// that name for each task; on a pool both have the name of the pool. The caller's own
// goroutine keeps its labels. A panic that is written to standard error, since nobody has
// raised it, tells the name.
func Name(s string) Option {
	return option.Func(func(o *option.Options) { o.Given |= option.Name; o.Name = s })
}

// OnPanic makes a Pool call f when a task given to Pool.Go, GoContext or TryGo panics. f runs
// on the task's goroutine, and the task counts as running until f returns. Without OnPanic
// such a panic crashes the process, as in any goroutine; so does a panic of f. OnPanic panics
// if f is nil.
func OnPanic(f func(*PanicError)) Option {
	if f == nil {
		panic("stint: OnPanic: nil function")
	}
	return option.Func(func(o *option.Options) { o.Given |= option.OnPanic; o.OnPanic = f })
}

// LowPriority is for background work that shares a limit. Its tasks get a permit of their
// Limiter or Pool only when no other task waits for one; among themselves they are served
// first come, first served. A running task is not interrupted. While others use all permits,
// tasks of low priority do not start. NewPool gives low priority to all tasks of the pool.
//
// Calls that a task of low priority makes on the same Limiter or Pool have low priority too,
// Limiter.Do and TryDo among them. A task that waits for a call of low priority lends it its
// permit, as for any nested call: so tasks which have nothing to do with the call cannot hold
// it up. A goroutine that is no task lends nothing.
func LowPriority() Option { return option.LowPriority }

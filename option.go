package stint

import (
	"fmt"

	"github.com/stint-go/stint/internal/option"
)

// An Option changes how a call, a group or a pool runs its tasks. *Limiter and
// *Pool are Options themselves; each function that makes another says where it
// applies. Given twice, the later one counts. An option that does not apply to
// the function it is given to makes that function panic, and so do a Limiter and a
// Pool together: a pool has its own limit.
type Option interface{ option.Option }

const (
	loopOptions  = option.Limiter | option.Pool | option.KeepGoing | option.Name | option.Burst | option.Overload
	groupOptions = loopOptions | option.Queue
	seqOptions   = groupOptions | option.Unordered
	poolOptions  = option.Limiter | option.Queue | option.Name | option.OnPanic | option.Burst
)

// collect reads the options given to the function called caller, which takes
// those in allowed.
func collect(caller string, allowed option.Set, opts []Option) option.Options {
	return option.Collect("stint", caller, allowed, opts)
}

// Queue sets how many tasks may wait for a worker after they have been accepted;
// the default is 1,024, or the limit at that time if it is larger. Under Queue(0) a
// task is accepted only when a worker is free for it.
//
// A submitter that finds the queue full waits: for one place in a queue shorter than
// 64, for a quarter of the places in a longer one, so that one wake-up serves many
// tasks. With a long queue and tasks that take minutes it therefore waits long,
// though there is some room. Where tasks wait for what their submitter does next, or
// submitting has a deadline, give a queue shorter than 64.
//
// For EachSeq and MapSeq it is how many items are pulled beyond those being
// worked on; MapSeq counts results that were not yet consumed among them. The
// default there is the limit, for EachSeq as it is at the start of the call. EachSeq
// refills a queue of 64 or more by quarters. For stream.ParMap it is how many records
// are taken beyond those being worked on, until their results have been handed on.
//
// The queue of a pool is for what its own methods start. Each group, and each call of
// EachSeq or MapSeq, has a queue of its own, on a pool too: of 1,024 groups on a pool
// that is busy each may queue as many tasks as Queue says for it.
//
// It applies to NewGroup, NewResults, NewPool, EachSeq, MapSeq and stream.ParMap, and
// panics if n is negative.
func Queue(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("stint: Queue(%d): want 0 or more", n))
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Queue; o.Queue = n })
}

// KeepGoing makes an error of one task leave the others alone. All errors are
// returned, each as an *ItemError, joined in the order of the items or of
// starting. A panic still cancels the rest, and so does the end of the context,
// whose cause is then the last of the joined errors if anything was left undone,
// or stands alone if no task failed.
//
// It applies to everything but NewPool and stream.ParMap: the records of a stream end at
// an error.
func KeepGoing() Option {
	return option.Func(func(o *option.Options) { o.Given |= option.KeepGoing; o.KeepGoing = true })
}

// Unordered makes MapSeq and stream.ParMap yield results as they come instead of in
// input order, so that a slow item holds nothing up.
func Unordered() Option {
	return option.Func(func(o *option.Options) { o.Given |= option.Unordered; o.Unordered = true })
}

// Name gives a name to a call, a group or a pool. Tasks find it in their context, as
// the pprof label "stint". Profiles have it as that label of the workers, execution
// traces as the region of each task, and the Stats of a pool as Name. On a pool the
// workers, and for groups and sequences the regions, have the name of the pool. The
// labels of the caller's own goroutine stay as they are, as nobody could put them back:
// give the call to pprof.Do where what the caller does itself should have one.
func Name(s string) Option {
	return option.Func(func(o *option.Options) { o.Given |= option.Name; o.Name = s })
}

// Burst sets how many tasks may begin before any has ended and anything is known, under
// a limit that finds itself: a third of them at once, or as many as there are
// processors and one more if that is more, and three for each of the first that end;
// all of them when half a second has passed. The default is 36, and more if there are
// as many processors.
//
// A server that breaks down under so many wants fewer. Where it can take many, and a
// call has some hundred items that take long, a larger Burst saves the time in which
// the limit rises.
//
// It applies to everything. Given beside a Limiter made by Auto it holds for all
// who share that, unless the search has begun. Burst panics if n is less than 1,
// and the function that it is given to panics beside a Pool, or a Limiter made by
// Limit. After Limiter.Set it has no effect.
func Burst(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("stint: Burst(%d): want 1 or more", n))
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Burst; o.Burst = n })
}

// Overload says which errors of tasks mean that too many run at once, as the refusal
// of a server that is busy. When is returns true for one of twenty tasks or more, a
// limit that finds itself falls to seven tenths, but only once for those that ran at the
// same time. It does not rise to where that happened for a second, and for twice as long,
// up to ten, if it happens again then, unless no task ends at all. Tasks that end so do
// not count as throughput.
//
// For the call, an error is an error: it cancels the rest, unless KeepGoing is
// given. A task that tries again by itself is judged by what it returns in the end.
// is is called once for each error of a task, by several goroutines at once; a
// panic in it counts as one of the task. Overload panics if is is nil; the function
// that it is given to panics beside a Limiter made by Limit, or a Pool that has
// one; after Limiter.Set it has no effect. It does not apply to NewPool, whose
// tasks return no errors; give it to what runs on the pool.
func Overload(is func(error) bool) Option {
	if is == nil {
		panic("stint: Overload: nil function")
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Overload; o.Overload = is })
}

// OnPanic sets what a Pool does about a panic in a task given to Pool.Go,
// GoContext or TryGo, where nobody waits: it calls f on the task's goroutine, and
// the worker goes on afterwards. Without it such a panic crashes the process, as
// in a goroutine; so does a panic of f. The task counts as running until f
// returns. It panics if f is nil.
func OnPanic(f func(*PanicError)) Option {
	if f == nil {
		panic("stint: OnPanic: nil function")
	}
	return option.Func(func(o *option.Options) { o.Given |= option.OnPanic; o.OnPanic = f })
}

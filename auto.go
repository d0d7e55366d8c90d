package stint

import (
	"fmt"
	"runtime"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// Auto returns a Limiter with an adaptive limit. While tasks wait for permits, it searches
// between min and max for the limit with the best throughput. CPU-bound tasks get a worker for
// each CPU. For I/O-bound tasks, workers are added while throughput improves. Failed tasks do
// not count. The limit stays below what GOMEMLIMIT allows. Limiter.Set ends the search.
// [Choosing a limit] has the costs of a search.
//
// Share one Limiter among all calls to the same server. It keeps the limit that it has found.
// Several Limiters for one server mistake each other's changes for their own gain.
//
// A call, group or pool that is given neither a Limiter nor a Pool makes a Limiter: Auto(1,
// 256), or Auto(1, GOMAXPROCS) if that is more. Calls that its tasks make share this Limiter.
// If no task of these nested calls finishes for five seconds, an eighth more tasks than the
// limit may start, since the running tasks may be waiting for them.
//
// Options: Burst, Overload. Auto panics if min is less than 1 or max is less than min. Values
// above 16,777,216 count as that many.
//
// [Choosing a limit]: https://github.com/stint-go/stint/blob/main/docs/choosing-a-limit.md
func Auto(min, max int, opts ...Option) *Limiter {
	if min < 1 || max < min {
		panic(fmt.Sprintf("stint: Auto(%d, %d): want 1 or more, and a maximum that is not less", min, max))
	}
	o := collect("Auto", autoOptions, opts)
	c := option.Search(min, max, runtime.GOMAXPROCS(0))
	if o.Has(option.Burst) {
		c.Burst = o.Burst
	}
	c.Overload = o.Overload
	return newLimiter(limit.NewAdaptive(c))
}

// Burst sets how many tasks an adaptive limit starts before any task has finished. A third of
// them start at once, or GOMAXPROCS+1 if that is more; the others start as the first tasks
// finish. The default is 42, or GOMAXPROCS+1 if that is more. Use a smaller Burst if 42 calls
// overload the server, and a larger one if the server can handle some hundred long calls at
// once. Burst panics if n is less than 1.
func Burst(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("stint: Burst(%d): want 1 or more", n))
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Burst; o.Burst = option.Clip(n) })
}

// Overload tells an adaptive limit which errors are caused by excess load, such as the refusal
// of a busy server. The limit falls if more than one of twenty tasks fails with such an error:
// to seven tenths, or to the limit before if it had just been raised. Later it rises again,
// more slowly after each further fall. Up to one of twenty changes nothing, since a server may
// refuse some tasks for other reasons. If the share of these errors stays the same under a much
// lower limit, they are ignored.
//
// Each error of a task is passed to is once. is may be called concurrently, and its panic
// counts as a panic of the task. An overload is an error like any other: it cancels the other
// tasks, unless KeepGoing is given. Tasks of Pool.Go return no errors. Overload panics if is is
// nil.
func Overload(is func(error) bool) Option {
	if is == nil {
		panic("stint: Overload: nil function")
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Overload; o.Overload = is })
}

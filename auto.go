package stint

import (
	"fmt"
	"runtime"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// Auto returns a Limiter with an adaptive limit. While tasks wait for permits, it searches
// between min and max for the limit with the best throughput: CPU-bound tasks get a worker
// for each CPU; for I/O-bound tasks, workers are added while throughput improves. Failed tasks
// do not count. The limit stays below what GOMEMLIMIT allows. Limiter.Set
// ends the search; [Choosing a limit] has its costs.
//
// Share one Limiter among all calls to the same server. It keeps the limit that it has found,
// while separate Limiters mistake each other's share for their own gain.
//
// A call, group or pool without a Limiter or a Pool has a Limiter of its own: Auto(1, 256), or
// up to GOMAXPROCS if that is more. Calls that its tasks make share it. If no task of such
// nested calls finishes for five seconds, an eighth more than the limit may start: the running
// tasks may be waiting for them.
//
// Options: Burst, Overload. Auto panics if min is less than 1 or max less than min. Values
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

// Burst sets how many tasks an adaptive limit starts before any has finished: a third of them,
// or GOMAXPROCS+1 if that is more, at once, and the others as the first finish. The default is
// 42, or GOMAXPROCS+1 if that is more. A smaller Burst is for servers that so many calls
// overload, a larger one for servers that can handle some hundred long items at once. Burst
// panics if n is less than 1.
func Burst(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("stint: Burst(%d): want 1 or more", n))
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Burst; o.Burst = option.Clip(n) })
}

// Overload identifies errors caused by excess load, such as the refusal of a busy server. If
// more than one of twenty tasks is overloaded, judged over many, an adaptive limit falls: to
// seven tenths, or to where it was if it had just been raised. Later it rises again, more
// slowly after each further fall. A smaller share changes nothing: a server may refuse some
// tasks for other reasons. A share that stays the same under a much lower limit is ignored.
//
// is is called once for each error of a task, concurrently; its panic counts as a panic of the
// task. An overload is an error like any other: it cancels the rest, unless KeepGoing is given.
// Tasks of Pool.Go have no errors. Overload panics if is is nil.
func Overload(is func(error) bool) Option {
	if is == nil {
		panic("stint: Overload: nil function")
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Overload; o.Overload = is })
}

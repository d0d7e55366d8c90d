package stint

import (
	"fmt"
	"runtime"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// Auto returns a Limiter with an adaptive limit: it searches between min and max for the
// limit with the best throughput, while tasks run. A call, group or pool without a Limiter
// or a Pool has a Limiter of its own: Auto(1, 256), or up to GOMAXPROCS if that is more; a
// call that is made by a task of such a call shares the Limiter of that one. If no task of
// such nested calls finishes for five seconds, some start beyond the limit, an eighth of it,
// since those that run may wait for them. A Limiter keeps
// the limit it has found, so share one among everything that calls the same server; separate
// Limiters mistake each other's share for their own gain.
//
// CPU-bound tasks get a worker for each CPU. For I/O-bound tasks, workers are added
// while throughput improves. A task that fails is no throughput, so failures do not raise
// the limit. The limit stays below what the memory limit of the process allows.
// docs/choosing-a-limit.md describes the search and its costs. Options: Burst, Overload.
// Limiter.Set ends the search.
//
// Auto panics if min is less than 1 or max less than min. Values above 16,777,216 count as
// that many.
func Auto(min, max int, opts ...Option) *Limiter {
	if min < 1 || max < min {
		panic(fmt.Sprintf("stint: Auto(%d, %d): want 1 or more, and a maximum that is not less", min, max))
	}
	o := collect("Auto", autoOptions, opts)
	c := option.Search(min, max, runtime.GOMAXPROCS(0))
	if o.Given&option.Burst != 0 {
		c.Burst = o.Burst
	}
	c.Overload = o.Overload
	return newLimiter(limit.NewAdaptive(c))
}

// Burst sets how many tasks an adaptive limit starts before any has finished. A third of
// them, or GOMAXPROCS+1 if that is more, starts at once; three more start for each of the
// first tasks to finish, and the rest after half a second. The default is 42, or
// GOMAXPROCS+1 if that is more. Burst panics if n is less than 1.
//
// Use a smaller Burst if that many calls overload the server, and a larger one for some
// hundred long items if the server can handle them at once. Burst applies to Auto only.
func Burst(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("stint: Burst(%d): want 1 or more", n))
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Burst; o.Burst = option.Clip(n) })
}

// Overload identifies errors caused by excess load, such as the refusal of a busy server.
// If more than one of twenty tasks is overloaded, judged over many, an adaptive limit falls to
// seven tenths; if it had just been raised, to where it was. It falls once for the tasks that
// ran together. For a second, and until a task has succeeded, it stays below the limit that was
// too high. If it falls again within ten seconds, this time doubles, up to ten seconds, and
// then the limit rises slowly, by at most an eighth a second.
//
// Fewer overloaded tasks change nothing: a server may refuse some for other reasons. If
// lowering the limit to a quarter does not lower a larger share, and it is below half, it is
// not load: the limit rises again, and the share is ignored for a minute. This repeats after
// the minute.
//
// The error itself is treated as any other: it cancels the rest, unless KeepGoing is given.
// is is called once for each error of a task of a call, a group, a stream or Limiter.Do,
// concurrently; a panic in it counts as a panic of the task. Tasks of Pool.Go have no
// errors. Overload applies to Auto only. It panics if is is nil.
func Overload(is func(error) bool) Option {
	if is == nil {
		panic("stint: Overload: nil function")
	}
	return option.Func(func(o *option.Options) { o.Given |= option.Overload; o.Overload = is })
}

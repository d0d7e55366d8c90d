package stint

import (
	"fmt"
	"runtime"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// A Limiter bounds how many tasks run at once. It is an Option: share the value
// and the calls, groups and pools that it is given to share the limit, so that
// the sum of their tasks never exceeds it. Those that wait for it are served
// first come, first served; a worker with short tasks may go on for 0.1 ms or 1,000
// tasks before it gives way.
//
// A task that waits for others on the limiter that it runs on itself keeps its
// place, and lets one of them at a time run in it: the two count as one. So
// nesting cannot deadlock, and no stranger begins meanwhile. A task may make several
// calls at once, from goroutines of its own: it is taken to wait for each of them.
// This works through the context that the task was given: calls that the task makes
// must be given that context or one made from it, and must have ended when the task
// returns. Two limiters that are nested in opposite orders, by two tasks or by two
// calls that one task makes at once, can deadlock, as two locks can.
//
// A Limiter must be made by Limit or Auto. It may be used by several goroutines at
// once.
type Limiter struct {
	bound
}

// bound makes a *Limiter an Option.
type bound = option.Bound

// Limit returns a Limiter of n tasks at once. It panics if n is less than 1.
func Limit(n int) *Limiter {
	if n < 1 {
		panic(fmt.Sprintf("stint: Limit(%d): want 1 or more", n))
	}
	return newLimiter(limit.New(n), nil)
}

// Auto returns a Limiter that finds its limit between min and max while tasks run.
// Without a Limiter or a Pool among its options, every call, group and pool has one
// of its own: Auto(1, 256), or up to runtime.GOMAXPROCS if that is more.
//
// It needs no hint about what the tasks do. Tasks that compute get a worker for each
// processor, and in the course of time some more: one more begins when a processor is
// free for it, or when it has waited for one for 40 ms, the next for 80, and so on.
// Tasks that wait leave processors free, so more and more of them begin, at first as
// many as Burst says. From then on throughput decides. The limit rises as long as the tasks that
// end in a second become more by at least a fifth of what the limit grew by. When they
// do not any more it may be a few times what would do, and comes down slowly. Then it
// stays, and now and then, more seldom as long as nothing changes, a smaller and a
// larger one are tried for as many tasks as it takes to tell. Times in which there
// were fewer tasks than places show nothing and change nothing: calls of fewer items
// than the limit, and, with pauses in between, those of less than about twice as many,
// leave it where it is. While nobody waits for a place nothing is measured, and nothing
// ticks.
//
// It does not know what others do: several processes, or several Limiters, that use
// the same server each take what they get from the others for more throughput, and
// drive each other up to max. Share one Limiter inside a process, and set max for what
// the server can bear. What a Limiter has found it keeps; one that is shared finds it
// once for all. The same holds for calls in tasks of calls: each has a limit of its own,
// and they multiply; with one Limiter they are never more than its limit.
//
// Tasks that end by an error that means that there are too many are told by
// Overload. The limit does not rise either beyond what memory allows, if the process
// has a limit (GOMEMLIMIT or that of its cgroup), nor above 128 while half as many
// goroutines of the process or more are in system calls or C, nor while the process has
// more than 2,000 threads. What has begun before anything is known, the third of Burst,
// is not bounded so. When no task has ended for half a second, and for twice the time
// that they took before, more may begin, since they may be waiting for each other: up
// to four times Burst if none has ended at all, otherwise up to twice the limit.
//
// Limiter.Set ends the search; Limiter.Stats tells what was found and why, also to
// those who would rather have no option but want to know: give Auto(1, 256). Auto
// panics if min is less than 1 or max less than min. A min, a max or a Burst of more
// than 16,777,216 counts as that many: no limit that is found is larger.
func Auto(min, max int) *Limiter {
	if min < 1 || max < min {
		panic(fmt.Sprintf("stint: Auto(%d, %d): want 1 or more, and a maximum that is not less", min, max))
	}
	c := option.Search(min, max, 0, runtime.GOMAXPROCS(0))
	core, tuner := limit.New(c.Start()), new(auto.Controller)
	tuner.Init(c, core)
	core.Tune(tuner)
	return newLimiter(core, tuner)
}

// newLimiter returns a Limiter of what it consists of.
func newLimiter(core *limit.Limiter, tuner *auto.Controller) *Limiter {
	return &Limiter{option.NewBound(core, tuner)}
}

// core counts the places.
func (l *Limiter) core() *limit.Limiter { return option.LimiterOf(&l.bound) }

// tuner searches for the limit. It is nil if that changes by Set only.
func (l *Limiter) tuner() *auto.Controller { return option.TunerOf(&l.bound) }

// Set changes the limit, and ends the search of one made by Auto: from now on the
// limit is n. It does not block. A larger limit lets waiting tasks start at once;
// under a smaller one no task starts while as many run. It panics if n is less than 1.
func (l *Limiter) Set(n int) {
	l.check("Limiter.Set")
	l.set("Limiter.Set", n)
}

// set is Set for the method called caller.
func (l *Limiter) set(caller string, n int) {
	if n < 1 {
		panic(fmt.Sprintf("stint: %s(%d): want 1 or more", caller, n))
	}
	if t := l.tuner(); t != nil {
		t.Fix(n)
		return
	}
	l.core().Set(n)
}

// check panics when l was not made by Limit or Auto.
func (l *Limiter) check(caller string) {
	if l.core() == nil {
		panic("stint: " + caller + ": Limiter was not made by Limit or Auto")
	}
}

// Current returns the limit.
func (l *Limiter) Current() int {
	l.check("Limiter.Current")
	return l.core().Bound()
}

// LimiterStats is the state of a Limiter at one instant.
//
// As JSON it is an object with the names of the fields in lower case. Limit, running,
// waiting and phase are always there. What there is nothing of is left out: a reason
// where there was none, a throughput that was not measured, an empty history.
type LimiterStats struct {
	Limit   int `json:"limit"`   // how many may run; while probing, as many as are tried, which Reason is not about
	Running int `json:"running"` // how many places are taken: by running tasks, or by workers on their way to one
	Waiting int `json:"waiting"` // in line for a place: calls, groups and pools that could use one more

	// What Auto does: "idle" as long as nobody had to wait for a place, "rising",
	// "holding" what was found, or "probing" another one. "fixed" for a limit that
	// was set.
	Phase string `json:"phase"`
	// Why the search changed the limit last, or that its limit was set by hand; "" if
	// there was no reason to look for another, and for a limit made by Limit.
	Reason string `json:"reason,omitempty"`
	// How many tasks ended in a second when that was measured last, under the limit of
	// that time; 0 if it was not. It is measured only while all places are taken and
	// somebody waits, and it is known how long the tasks took: it is never more than so
	// many places allow for tasks that take so long.
	Throughput float64 `json:"throughput,omitempty"`
	// The last 64 changes, the oldest first. Of the limits that are tried while one is
	// held, those that were given up again are not among them.
	History []LimitChange `json:"history,omitempty"`
}

// LimitChange is a step of a search for a limit. As JSON it is an object with the
// names of the fields in lower case; the time is as in RFC 3339, and a throughput
// that was not measured is left out.
type LimitChange struct {
	Time       time.Time `json:"time"`                 // of the change
	Limit      int       `json:"limit"`                // from then on; while the limit rises, that at the time
	Throughput float64   `json:"throughput,omitempty"` // tasks a second, as measured before the change; 0 if it was not
	Reason     string    `json:"reason"`               // for people to read
}

// Stats returns the state of the limiter at one instant. The caller owns the history.
func (l *Limiter) Stats() LimiterStats {
	l.check("Limiter.Stats")
	limit, out, waiting := l.core().Counts()
	s := LimiterStats{Limit: limit, Running: out, Waiting: waiting, Phase: auto.Fixed.String()}
	t := l.tuner()
	if t == nil {
		return s
	}
	found := t.State()
	s.Phase, s.Throughput = found.Phase.String(), found.Throughput
	for _, c := range found.Changes {
		s.History = append(s.History, LimitChange(c))
		s.Reason = c.Reason
	}
	return s
}

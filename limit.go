package stint

import (
	"fmt"

	"github.com/stint-go/stint/internal/limit"
)

// A Limiter bounds how many tasks run at once. It is an Option: share the value
// and the calls, groups and pools that it is given to share the limit, so that
// the sum of their tasks never exceeds it. Those that wait for it are served
// first come, first served; a worker with short tasks may go on for 0.1 ms or 1,000
// tasks before it gives way.
//
// A task that waits for others on the limiter that it runs on itself keeps its
// place, and lets one of them at a time run in it: the two count as one. So
// nesting cannot deadlock, and no stranger begins meanwhile. A task that makes a
// call from a goroutine of its own is taken to wait for it. This works through the
// context that the task was given: calls that the task makes must be given that
// context or one made from it, and must have ended when the task returns. Two
// limiters that tasks nest in opposite orders can deadlock, as two locks can.
//
// A Limiter must be made by Limit. It may be used by several goroutines at once.
type Limiter struct {
	core *limit.Limiter
}

// Limit returns a Limiter of n tasks at once. It panics if n is less than 1.
// Without a Limiter or a Pool among its options, every call, group and pool has a
// limit of its own: runtime.GOMAXPROCS, read when it is made.
func Limit(n int) *Limiter {
	if n < 1 {
		panic(fmt.Sprintf("stint: Limit(%d): want 1 or more", n))
	}
	return &Limiter{limit.New(n)}
}

func (l *Limiter) apply(o *options) {
	switch {
	case l == nil:
		o.wrong = "nil Limiter"
	case l.core == nil:
		o.wrong = "Limiter was not made by Limit"
	}
	o.given |= limiterOption
	o.limiter = l
}

// Set changes the limit. It does not block. A larger limit lets waiting tasks
// start at once; under a smaller one no task starts while as many run. It panics
// if n is less than 1.
func (l *Limiter) Set(n int) {
	l.check("Limiter.Set")
	l.set("Limiter.Set", n)
}

// set is Set for the method called caller.
func (l *Limiter) set(caller string, n int) {
	if n < 1 {
		panic(fmt.Sprintf("stint: %s(%d): want 1 or more", caller, n))
	}
	l.core.Set(n)
}

// check panics when l was not made by Limit.
func (l *Limiter) check(caller string) {
	if l.core == nil {
		panic("stint: " + caller + ": Limiter was not made by Limit")
	}
}

// Current returns the limit.
func (l *Limiter) Current() int {
	l.check("Limiter.Current")
	return l.core.Bound()
}

// LimiterStats is the state of a Limiter at one instant.
type LimiterStats struct {
	Limit   int // how many may run
	Running int // how many places are taken: by running tasks, or by workers on their way to one
	Waiting int // in line for a place: calls, groups and pools that could use one more
}

// Stats returns the state of the limiter at one instant.
func (l *Limiter) Stats() LimiterStats {
	l.check("Limiter.Stats")
	limit, out, waiting := l.core.Counts()
	return LimiterStats{Limit: limit, Running: out, Waiting: waiting}
}

package stint

import (
	"fmt"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// A Limiter bounds how many tasks run concurrently: a task holds a permit while it runs. A
// Limiter is an [Option]: calls, groups and pools that are given the same Limiter share its
// limit. They get permits first come, first served. But a worker with short tasks may keep its
// permit for 0.1 ms or 1,000 tasks before it gives way. Tasks may use the Limiter that they run
// on: see Nesting in the package comment.
//
// A Limiter must be made by Limit or Auto. It is safe for concurrent use.
type Limiter struct {
	bound
}

// bound makes a *Limiter an Option.
type bound = option.Bound

// Limit returns a Limiter of n concurrent tasks. It panics if n is less than 1.
func Limit(n int) *Limiter {
	if n < 1 {
		panic(fmt.Sprintf("stint: Limit(%d): want 1 or more", n))
	}
	return newLimiter(limit.New(n))
}

// newLimiter returns the Limiter of core.
func newLimiter(core *limit.Limiter) *Limiter { return &Limiter{option.NewBound(core)} }

// core holds the permits.
func (l *Limiter) core() *limit.Limiter { return option.LimiterOf(&l.bound) }

// Set sets the limit to n, and ends the search of a Limiter made by Auto. It does not block. If
// n is larger than the limit was, waiting tasks start at once. If n is smaller, no task starts
// until fewer than n run.
//
// Set(0) pauses: no task starts until the limit is raised. The exceptions are calls that a
// running task makes with its context and waits for: they use its permit. A call that waits for
// a permit still returns when its context ends, and TryDo returns ErrBusy. Sequences and
// streams pull no more than under a limit of 1. To pause without ending the search, use
// SetBounds.
//
// Set panics if n is negative.
func (l *Limiter) Set(n int) {
	l.check("Limiter.Set")
	setLimit("Limiter.Set", l.core(), n)
}

// setLimit sets the limit of l for the method called caller.
func setLimit(caller string, l *limit.Limiter, n int) {
	if n < 0 {
		panic(fmt.Sprintf("stint: %s(%d): want 0 or more", caller, n))
	}
	l.Fix(n)
}

// SetBounds keeps the limit between min and max until Set or SetBounds is called. It does not
// block. The search of a Limiter made by Auto goes on between min and max. It stops while the
// limit that it has found is above max, and while min equals max. When later bounds allow the
// found limit, the limit returns to it. A fixed limit outside of the bounds is replaced by the
// nearer bound, and returns when later bounds allow it.
//
// SetBounds(0, 0) pauses as Set(0) does. SetBounds panics unless 1 <= min <= max, or both are
// 0.
func (l *Limiter) SetBounds(min, max int) {
	l.check("Limiter.SetBounds")
	if (min < 1 || max < min) && (min != 0 || max != 0) {
		panic(fmt.Sprintf("stint: Limiter.SetBounds(%d, %d): want 1 or more, and a maximum that is not less, or 0 and 0", min, max))
	}
	l.core().SetBounds(option.Clip(min), option.Clip(max))
}

// check panics if l was not made by Limit or Auto.
func (l *Limiter) check(caller string) { checkMethod(caller, l.core() != nil, false) }

// Current returns the limit. It is 0 during a pause.
func (l *Limiter) Current() int {
	l.check("Limiter.Current")
	return l.core().Bound()
}

// LimiterStats is the state of a Limiter at one instant.
type LimiterStats struct {
	Limit   int `json:"limit"`   // how many tasks may run; 0 during a pause; while probing, the limit that is tried
	Running int `json:"running"` // permits held, by tasks and by workers about to start one
	Waiting int `json:"waiting"` // calls, groups and pools that wait for a permit

	// Counters, which only grow. Each item of Each, Map or Range counts as a task, and each
	// record of a ParMap. If a task waits for a nested task, both count.
	Completed uint64 `json:"completed"` // tasks that have finished, in any way
	Failed    uint64 `json:"failed"`    // completed tasks that ended in an error, a panic or a Goexit; for httplimit.Transport also responses with status 429, or 500 and more
	Waited    uint64 `json:"waited"`    // permits that a task got after it had waited
	Refused   uint64 `json:"refused"`   // tasks refused by TryGo, TryDo and httplimit.Handler
	Backoffs  uint64 `json:"backoffs"`  // times that overload or short memory lowered the limit

	// Phase is what the search does now: "idle" until a task has waited for a permit, "slow
	// start", "holding" the limit that it has found, or "probing" another limit. A limit that
	// does not adapt is "fixed".
	Phase string `json:"phase"`
	// Reason says, for people, why the limit changed last. Its words may change. For example,
	// "throughput did not rise enough: 1,210/s at 36, 1,190/s at 72 (±5 %)" means: a limit of 36
	// finished 1,210 tasks a second, a limit of 72 only 1,190, with a standard error of 5 %.
	Reason string `json:"reason,omitempty"`
	// Throughput is the number of tasks per second that finished without failing, as the search
	// measured it last. It measures only while all permits are held. 0 means unknown.
	Throughput float64 `json:"throughput,omitempty"`
	// History has the last 64 changes of the limit, the oldest first, without limits that were
	// tried and given up.
	History []LimitChange `json:"history,omitempty"`
}

// LimitChange is one step of the search for a limit. A step may also confirm the limit.
type LimitChange struct {
	Time  time.Time `json:"time"`  // of the change
	Limit int       `json:"limit"` // from then on
	// Throughput is the last one measured before the change, as in LimiterStats.
	Throughput float64 `json:"throughput,omitempty"`
	Reason     string  `json:"reason"` // as in LimiterStats
}

// Stats returns the state of the limiter. The caller owns the history.
func (l *Limiter) Stats() LimiterStats {
	l.check("Limiter.Stats")
	limit, running, waiting := l.core().Counts()
	s := LimiterStats{Limit: limit, Running: running, Waiting: waiting, Phase: auto.Fixed.String()}
	c := l.core().Counters()
	s.Completed = c.Completed.Load()
	s.Failed = min(c.Failed.Load(), s.Completed) // a task counts as failed first
	s.Waited, s.Refused = c.Waited.Load(), c.Refused.Load()
	l.core().Order.Acquire(0) // for the tasks that the caller sees completed
	controller := l.core().Controller()
	if controller == nil {
		return s
	}
	found := controller.State()
	s.Backoffs = found.Backoffs
	s.Phase, s.Throughput = found.Phase.String(), found.Throughput
	for _, c := range found.Changes {
		s.History = append(s.History, LimitChange(c))
		s.Reason = c.Reason
	}
	return s
}

package limit

import "sync/atomic"

// Counters count what has happened under a Limiter. They only grow.
type Counters struct {
	Completed atomic.Uint64 // tasks that have finished, in any way
	Failed    atomic.Uint64 // tasks that ended in an error, a panic or a Goexit
	Waited    atomic.Uint64 // permits that somebody waited for and got
	Refused   atomic.Uint64 // tasks that were refused a permit instead of waiting
}

// Counters returns the counters of l. They are nil for a Limiter made by Init or
// InitAdaptive: it belongs to one call, group or pool, and nobody can ask.
func (l *Limiter) Counters() *Counters { return l.counters }

// Completed counts n finished tasks.
func (l *Limiter) Completed(n int) {
	if c := l.counters; c != nil {
		c.Completed.Add(uint64(n))
	}
}

// Failed counts a task that is about to finish.
func (l *Limiter) Failed() {
	if c := l.counters; c != nil {
		c.Failed.Add(1)
	}
}

// Refused counts a refused task. An adaptive limit takes it for one that waits.
func (l *Limiter) Refused() {
	if c := l.counters; c != nil {
		c.Refused.Add(1)
	}
	if c := l.NeedController(); c != nil {
		c.Refused()
	}
}

// granted counts a waiter that has its permit.
func (l *Limiter) granted() {
	if c := l.counters; c != nil {
		c.Waited.Add(1)
	}
}

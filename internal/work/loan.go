package work

import "github.com/stint-go/stint/internal/limit"

// A loan is the permit of a goroutine in Wait or Submit whose task runs on a permit of the
// engine's limiter, or was started by such a task. The permit is lent to a worker, for
// tasks of one source, while the goroutine waits: otherwise a task that waits for others on
// its own limiter would wait for its own permit. README.md has the states; all transitions
// are made under engine.mu.
type loan struct {
	source     *Source
	from       *limit.Scope
	wakeLocked func() // is called when the permit is back

	waiter limit.Waiter
	joined bool // waiter is in the limiter's queue
	lent   bool // to a worker
	done   bool // the lender wants the permit back
}

// newLoan returns nil if the task with the scope from has no permit to lend. The caller sets
// wakeLocked.
func (s *Source) newLoan(from *limit.Scope) *loan {
	if slot, _ := from.On(s.engine.lim); slot == nil {
		return nil
	}
	l := &loan{source: s, from: from, waiter: limit.Waiter{Low: s.low}}
	l.waiter.Grant = l.granted
	return l
}

// lendLocked lends the permit to a worker if there is something to do. A nil l has no permit.
func (l *loan) lendLocked() {
	if l == nil || l.joined || l.lent || !l.source.hasWorkLocked() {
		return
	}
	if l.source.engine.lim.Join(&l.waiter, l.from) {
		l.startLocked()
	} else {
		l.joined = true
	}
}

func (l *loan) startLocked() {
	l.joined, l.lent = false, true
	l.source.engine.sendLocked(l)
}

// granted is called when the loan's waiter gets a permit.
func (l *loan) granted() {
	e := l.source.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if !l.done && l.source.hasWorkLocked() {
		l.startLocked()
		return
	}
	e.grantLocked(e.lim.Free(l.waiter.Permit))
	l.joined = false
	l.wakeLocked()
}

// endLocked ends the loan and reports whether the permit is back: if not, wakeLocked will be
// called.
func (l *loan) endLocked() bool {
	if l == nil {
		return true
	}
	l.done = true
	if l.joined && l.source.engine.lim.Leave(&l.waiter) {
		l.joined = false
	}
	return !l.joined && !l.lent
}

// servesLocked reports whether the worker may run another task on the permit. It may not if the
// lender wants the permit back, or if the permit is the limiter's own and a waiter should
// have it.
func (l *loan) servesLocked() bool {
	e, p, low := l.source.engine, l.waiter.Permit, l.source.low
	if l.done || p.Wanted() || l.source.dropIfOverLocked() || !l.source.hasWorkLocked() {
		return false
	}
	return p != (limit.Permit{}) || e.lim.Pressure(low, e.ownWaitersLocked(low)) == limit.None
}

package work

import "github.com/stint-go/stint/internal/limit"

// An entry gets workers with permits to the queue of an engine, one after the other. The engine
// has one for all its sources. A goroutine in Wait or Submit has another, a loan, if its task runs
// on a permit of the engine's limiter, or was started by such a task. Its permit is lent to a
// worker, for tasks of one source, while the goroutine waits: otherwise a task that waits for
// others on its own limiter would wait for its own permit.
//
// README.md has the states. All transitions are made under engine.mu.
type entry struct {
	engine   *Engine
	waiter   limit.Waiter // in the limiter's queue while awaiting
	awaiting bool
	coming   *worker // on its way to the queue with the permit; of a loan, until it returns the permit

	// of a loan
	source     *Source // nil: no loan
	pass       *pass   // nil: the source has no limiter of its own
	from       *limit.Scope
	done       bool   // the lender wants the permit back
	wakeLocked func() // is called when the permit is back
}

// newLoan returns nil if the task with the scope from has no permit to lend. The caller sets
// wakeLocked.
func (s *Source) newLoan(from *limit.Scope) *entry {
	slot, _ := from.On(s.engine.lim)
	if slot == nil && s.Limiter != nil {
		slot, _ = from.On(s.Limiter)
	}
	if slot == nil {
		return nil
	}
	y := &entry{engine: s.engine, source: s, from: from}
	y.waiter.Grant = y.granted
	y.pass = s.newPass(y, from)
	return y
}

// nextLocked returns the source whose task the next worker is to take, or nil.
func (y *entry) nextLocked() *Source {
	switch {
	case y.source == nil:
		return y.engine.ready.first()
	case !y.done && !y.pass.isAwaiting() && y.source.hasWorkLocked():
		return y.source
	}
	return nil
}

// wakeOneLocked sends one worker to the queue, unless a worker is on its way already or nothing
// is queued. Without a free permit y waits in the limiter's queue. A nil y has no permit to lend.
func (y *entry) wakeOneLocked() {
	if y == nil || y.awaiting || y.coming != nil {
		return
	}
	if s := y.nextLocked(); s != nil && y.joinLocked(s) {
		y.coming = y.engine.sendLocked(y)
	}
}

// joinLocked takes a permit for a task of s, or a place in the limiter's queue unless y has one,
// and reports whether it has taken a permit.
func (y *entry) joinLocked(s *Source) bool {
	if y.awaiting {
		return false
	}
	y.waiter.Low, y.waiter.InTask = s.low, s.Parent != nil || y.source != nil
	y.awaiting = !y.engine.lim.Join(&y.waiter, y.from)
	return !y.awaiting
}

// granted is called when the waiter of y gets a permit.
func (y *entry) granted() {
	e := y.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	y.awaiting = false
	if y.nextLocked() != nil {
		y.coming = e.sendLocked(y)
		return
	}
	next := e.lim.Free(y.waiter.Permit)
	if y.source != nil {
		y.wakeLocked()
	}
	e.grantLocked(next)
}

// reclassifyLocked takes the engine's entry out of the limiter's queue when no source is ready, and
// puts it where the source that is served next belongs when that has another priority.
func (y *entry) reclassifyLocked() {
	if !y.awaiting {
		return
	}
	if s := y.nextLocked(); s == nil || s.low != y.waiter.Low {
		y.leaveLocked()
		y.wakeOneLocked()
	}
}

// leaveLocked takes y out of the limiter's queue, unless it is about to be granted a permit.
func (y *entry) leaveLocked() {
	y.awaiting = y.awaiting && !y.engine.lim.Leave(&y.waiter)
}

// endLocked ends a loan and reports whether the permit is back: if not, wakeLocked will be
// called.
func (y *entry) endLocked() bool {
	if y == nil {
		return true
	}
	y.done = true
	y.leaveLocked()
	y.pass.leaveLocked()
	return !y.awaiting && !y.pass.isAwaiting() && y.coming == nil
}

// lastsLocked reports whether the worker may run another task on the permit of a loan. It may not
// if the lender wants the permit back, or if the permit is the limiter's own and a waiter should
// have it.
func (y *entry) lastsLocked() bool {
	p, lim := y.waiter.Permit, y.engine.lim
	if p.Wanted() || y.source.dropIfOverLocked() || y.nextLocked() == nil {
		return false
	}
	return p != (limit.Permit{}) || y.engine.pressureLocked(lim.Signs(), y.source.low) == limit.None
}

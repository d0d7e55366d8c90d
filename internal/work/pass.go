package work

import (
	"time"

	"github.com/stint-go/stint/internal/limit"
)

// A pass gets permits of the limiter that a source has beside that of its engine. Each task of
// the source needs one of both. A worker that finds no permit of the source's limiter takes a task of
// another source. A permit that comes while the engine has none is held for the turn of the source:
// both limiters may always have waiters, so that none of their permits are free at the same time. But
// what has the engine's permits may wait for the one that is held. So that goes to the first call
// in a task that needs it, and is returned after a while.
//
// The source has a pass for the workers of its engine. A loan has another, since its lender may
// hold a permit of that limiter too. README.md has the states. All transitions are made under
// engine.mu.
type pass struct {
	source   *Source
	loan     *entry       // whose pass it is; nil: the source's
	from     *limit.Scope // whose permits may be borrowed
	waiter   limit.Waiter // in the limiter's queue while awaiting
	awaiting bool

	holding  bool          // a permit, until the turn of the source
	patience time.Duration // how long p holds one; it doubles after each hold in vain
	timer    *time.Timer   // ends the hold
}

// The bounds of patience.
const (
	minPatience = time.Millisecond
	maxPatience = 10 * time.Second
)

// newPass returns nil if s has no limiter of its own.
func (s *Source) newPass(loan *entry, from *limit.Scope) *pass {
	if s.Limiter == nil {
		return nil
	}
	p := &pass{source: s, loan: loan, from: from}
	p.waiter.Low, p.waiter.InTask, p.waiter.Grant = s.low, from != nil, p.granted
	return p
}

// takeLocked takes a permit for the next task if that needs no waiting. A nil pass needs none.
func (p *pass) takeLocked() (ok bool) {
	if p == nil {
		return true
	}
	if ok = p.keepLocked(); !ok && !p.awaiting {
		p.waiter.Permit, ok = p.source.Limiter.AcquireFree(p.from)
	}
	return ok
}

// joinLocked takes a permit for the next task, or a place in the limiter's queue. It reports
// whether it has taken a permit.
func (p *pass) joinLocked() bool {
	if p == nil || p.keepLocked() {
		return true
	}
	p.awaiting = p.awaiting || !p.source.Limiter.Join(&p.waiter, p.from)
	return !p.awaiting
}

// returnLocked returns the permit of takeLocked. It unlocks engine.mu meanwhile.
func (p *pass) returnLocked() {
	if p != nil {
		p.source.engine.grantLocked(p.source.Limiter.Free(p.waiter.Permit))
	}
}

// isAwaiting reports whether p is in the limiter's queue, or is about to be granted a permit.
func (p *pass) isAwaiting() bool { return p != nil && p.awaiting }

// permit returns the permit that p has taken last.
func (p *pass) permit() limit.Permit {
	if p == nil {
		return limit.Permit{}
	}
	return p.waiter.Permit
}

// holdLocked holds the permit that was granted, if there is something to do.
func (p *pass) holdLocked() bool {
	s := p.source
	if p.loan != nil || !s.hasWorkLocked() || s.dropIfOverLocked() || !s.Limiter.Hold(&p.waiter) {
		return false
	}
	p.holding, p.patience = true, max(p.patience, minPatience)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.patience, p.expire)
	} else {
		p.timer.Reset(p.patience)
	}
	return true
}

// keepLocked ends the hold, and reports whether p has the permit.
func (p *pass) keepLocked() bool {
	if !p.holding {
		return false
	}
	p.holding = false
	p.timer.Stop()
	return p.source.Limiter.Keep(&p.waiter)
}

// expire returns the permit that p holds, if it holds one.
func (p *pass) expire() {
	if p == nil {
		return
	}
	e := p.source.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.keepLocked() {
		p.patience = min(2*p.patience, maxPatience)
		p.returnLocked()
	}
}

// leaveLocked takes p out of the limiter's queue, unless it is about to be granted a permit, and
// makes it return the permit that it holds.
func (p *pass) leaveLocked() {
	if p != nil && p.holding {
		p.timer.Reset(0)
	}
	if p.isAwaiting() {
		p.awaiting = !p.source.Limiter.Leave(&p.waiter)
	}
}

// granted is called when the waiter of p gets a permit. The next task starts if a permit of the
// engine is free too, and at the turn of the source otherwise.
func (p *pass) granted() {
	e := p.source.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	p.awaiting = false
	done := p.startLocked() || p.holdLocked()
	p.wakeLocked()
	if !done {
		p.returnLocked()
	}
}

// startLocked gives the next task to a worker with a permit of the engine, if one is free.
func (p *pass) startLocked() bool {
	s, y := p.source, p.loan
	e := s.engine
	var ok bool
	switch {
	case !s.hasWorkLocked() || s.dropIfOverLocked():
		return false
	case y == nil:
		y, ok = &e.entry, e.lim.TryAcquire()
	case !y.done && !y.awaiting && y.coming == nil:
		y.waiter.Permit, ok = e.lim.AcquireFree(y.from)
	}
	if !ok {
		return false
	}
	w := e.sendLocked(y)
	if y.source != nil {
		y.coming = w
	}
	e.giveLocked(w, s, p)
	return true
}

// wakeLocked is called when p has left the limiter's queue.
func (p *pass) wakeLocked() {
	if p.loan != nil {
		p.loan.wakeLocked()
	} else if p.source.hasWorkLocked() {
		p.source.readyLocked()
		p.source.engine.entry.wakeOneLocked()
	}
}

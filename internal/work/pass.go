package work

import "github.com/stint-go/stint/internal/limit"

// A pass gets permits of the limiter that a source has beside that of its engine. Each task of
// the source needs one of both, and gets them at the same time: nothing holds one while it waits
// for the other. So a task that waits in either limiter, with a permit of the other one, waits
// for tasks that run.
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
}

// newPass returns nil if s has no limiter of its own.
func (s *Source) newPass(loan *entry, from *limit.Scope) *pass {
	if s.Limiter == nil {
		return nil
	}
	p := &pass{source: s, loan: loan, from: from}
	p.waiter.Low, p.waiter.Grant = s.low, p.granted
	return p
}

// takeLocked takes a permit for the next task if that needs no waiting. A nil pass needs none.
func (p *pass) takeLocked() (ok bool) {
	if p == nil {
		return true
	}
	if !p.awaiting {
		p.waiter.Permit, ok = p.source.Limiter.AcquireFree(p.from)
	}
	return ok
}

// joinLocked takes a permit for the next task, or a place in the limiter's queue. It reports
// whether it has taken a permit.
func (p *pass) joinLocked() bool {
	if p == nil {
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

// leaveLocked takes p out of the limiter's queue, unless it is about to be granted a permit.
func (p *pass) leaveLocked() {
	if p.isAwaiting() {
		p.awaiting = !p.source.Limiter.Leave(&p.waiter)
	}
}

// granted is called when the waiter of p gets a permit. The next task starts if a permit of the
// engine is free too. Otherwise p returns its own, and tries again at the turn of the source.
func (p *pass) granted() {
	s := p.source
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	p.awaiting = false
	if p.startLocked() {
		p.wakeLocked()
		return
	}
	p.wakeLocked()
	p.returnLocked()
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

package limit

import (
	"context"
	"sync/atomic"
)

// A HeldPermit is the permit that a task runs on, and the queue of calls that may borrow
// it. A call on the task's own goroutine may borrow it while no other such call has it. A
// call on another goroutine may borrow it while the task waits in a call. So only the tasks
// that the task waits for run on its permit.
type HeldPermit struct {
	lim      *Limiter
	permit   Permit
	reclaims atomic.Int32 // goroutines in Reclaim that wait for this permit
	use      atomic.Int32 // unused, lent or retired; written with lim.mu held, but for the step from unused to retired

	// guarded by lim.mu
	taken     bool          // a call has it
	borrower  *Scope        // the call whose tasks have it; nil for the task's own goroutine
	borrowers *borrowers    // nil: none so far
	returned  chan struct{} // closed when the call returns the permit, or another goroutine waits for it

	first scopeContext
}

// What has become of the permit of a HeldPermit.
const (
	unused  = iota // no call has had it
	lent           // a call has had it, or has it
	retired        // no task runs on it any more; a call that has it returns permit
)

// A Scope is the surroundings of a task or a call: the permit that the task holds, and the
// scope of the task or call around it. Call makes the scope of a call; its parent is the
// scope of the task that makes the call. A task that waits in one of its calls lends its
// permits to the tasks of all its calls, since they may depend on each other.
type Scope struct {
	held   *HeldPermit // nil for a call, and for a task whose limiter is private
	parent *Scope
	apart  bool         // parent belongs to another goroutine
	low    bool         // the tasks of the call have low priority
	waits  atomic.Int32 // goroutines that wait: in the call, or in any call of the task
}

// NewHeldPermit returns the HeldPermit of a task that runs on p, a permit of lim. It is an
// allocation of its own, since a context that refers to it may live long.
func NewHeldPermit(lim *Limiter, p Permit) *HeldPermit {
	h := new(HeldPermit)
	h.Init(lim, p)
	return h
}

// Init makes a zero HeldPermit that of a task that runs on p, a permit of lim.
func (h *HeldPermit) Init(lim *Limiter, p Permit) { h.lim, h.permit = lim, p }

// TaskContext is like the function TaskContext. The first context that it returns is part
// of h, which then keeps ctx. It must not be called concurrently.
func (h *HeldPermit) TaskContext(ctx context.Context, parent *Scope, apart bool) context.Context {
	c := &h.first
	if c.Context != nil {
		c = new(scopeContext)
	}
	return c.init(ctx, h, parent, apart)
}

// Wanted reports whether the task that lent p waits to continue. The call that has p should
// return it before it starts another task.
func (p Permit) Wanted() bool { return p.lender != nil && p.lender.reclaims.Load() > 0 }

type scopeKey struct{}

// A scopeContext is a context with the Scope of a task. It must not be copied.
type scopeContext struct {
	context.Context
	scope Scope
}

// Value returns the scope for the key of this package, and otherwise what the context has.
func (c *scopeContext) Value(key any) any {
	if key == (scopeKey{}) {
		return &c.scope
	}
	return c.Context.Value(key)
}

// TaskContext returns ctx for a task that runs on held, which may be nil, and was started
// in parent. apart says that parent belongs to another goroutine.
func TaskContext(ctx context.Context, held *HeldPermit, parent *Scope, apart bool) context.Context {
	return new(scopeContext).init(ctx, held, parent, apart)
}

func (c *scopeContext) init(ctx context.Context, held *HeldPermit, parent *Scope, apart bool) context.Context {
	if outer, ok := ctx.(*scopeContext); ok {
		ctx = outer.Context
	}
	c.Context = ctx
	c.scope.held, c.scope.parent, c.scope.apart = held, parent, apart
	return c
}

// ScopeOf returns the scope of the task that ctx was given to, or nil.
func ScopeOf(ctx context.Context) *Scope {
	s, _ := ctx.Value(scopeKey{}).(*Scope)
	return s
}

// Call returns the scope of a call on l that the task with scope s makes. l is nil if the
// limiter is the call's own, or if the task only waits. The tasks of the call have low priority
// if low is true, or if the task has low priority on l. The result is nil if s is nil, so that
// no task makes the call, and low is false.
func (s *Scope) Call(l *Limiter, low bool) *Scope {
	if s == nil && !low {
		return nil
	}
	return &Scope{parent: s, low: low || l != nil && s.Low(l)}
}

// Apart returns s for a goroutine that is not the task's: it may borrow the task's permits only
// while the task waits in the call s.
func (s *Scope) Apart() *Scope {
	if s == nil {
		return nil
	}
	return &Scope{parent: s, apart: true}
}

// IsLow reports whether s is the scope of a call whose tasks have low priority.
func (s *Scope) IsLow() bool { return s != nil && s.low }

// Low reports whether the nearest task that holds a permit of l, s or one around it, has
// low priority.
func (s *Scope) Low(l *Limiter) bool {
	holder, _ := s.holder(l)
	return holder != nil && holder.parent.IsLow()
}

// Belongs reports whether s is the scope of a call made by the task with scope task.
func (s *Scope) Belongs(task *Scope) bool { return s != nil && s.parent == task }

// On returns the nearest permit of l that s or a scope around it holds, or nil. If the
// permit belongs to another goroutine, branch is that goroutine's call around s: the permit
// may be borrowed while that goroutine waits.
func (s *Scope) On(l *Limiter) (held *HeldPermit, branch *Scope) {
	holder, branch := s.holder(l)
	if holder == nil {
		return nil, nil
	}
	return holder.held, branch
}

// holder returns the scope whose permit On returns, or nil.
func (s *Scope) holder(l *Limiter) (holder, branch *Scope) {
	for ; s != nil; s = s.parent {
		if s.held != nil && s.held.lim == l {
			return s, branch
		}
		if s.apart {
			branch = s.parent
		}
	}
	return nil, nil
}

// Inherited returns the limiter for a call without a limit that the task with scope s makes:
// that of the nearest permit, if the limiter was made for a call without a limit, or nil. It
// does not look further: a task that held a permit of another limiter while it waits for one
// of the limiter around it, as others do in the opposite order, could deadlock.
func (s *Scope) Inherited() *Limiter {
	for s != nil && s.held == nil {
		s = s.parent
	}
	if s == nil || !s.held.lim.inherited {
		return nil
	}
	return s.held.lim
}

// Lend is called before the call s waits for its tasks. It lets them, and the tasks of
// other calls of the same task, use that task's permits. Reclaim must follow. Lend of nil
// does nothing.
func (s *Scope) Lend() {
	if s == nil {
		return
	}
	s.wait(+1) // before serve looks: a waiter that joined earlier saw 0
	s.each(func(h *HeldPermit) bool { h.serve(s); return true })
}

// wait adds n to the goroutines that wait in the call s.
func (s *Scope) wait(n int32) {
	s.waits.Add(n)
	if s.parent != nil {
		s.parent.waits.Add(n)
	}
}

// lender returns the task that made the call s. The tasks of the call may use its permits
// while a goroutine waits in any of its calls.
func (s *Scope) lender() *Scope {
	if s.parent == nil {
		return s
	}
	return s.parent
}

// blockedBy reports whether a goroutine in the call s must not continue while borrower has
// a permit: if borrower is s, or another call of the same task in which no goroutine waits.
func (s *Scope) blockedBy(borrower *Scope) bool {
	if borrower == nil || borrower == s {
		return borrower != nil
	}
	return borrower.parent == s.parent && s.parent != nil && borrower.waits.Load() == 0
}

// Reclaim ends a Lend. It blocks until no task of the call has one of the permits. They
// stay lent meanwhile, since other tasks may need one to finish. Reclaim does not wait for
// a permit that a task of another call has, if a goroutine waits in that call: the task may
// need something that is freed only when this call returns. If no goroutine waits there,
// Reclaim waits for that permit too.
func (s *Scope) Reclaim() {
	if s == nil {
		return
	}
	var last *HeldPermit // awaited before: nobody takes it before the next look
	for {
		s.wait(-1)
		used := s.used()
		if used != nil {
			s.Lend()
			used.reclaims.Add(1)
		}
		if last != nil {
			last.reclaims.Add(-1)
			last.serve(nil)
		}
		if used == nil {
			return
		}
		used.await(s)
		last = used
	}
}

// used returns one of the permits that the call s must wait for, or nil.
func (s *Scope) used() (used *HeldPermit) {
	s.each(func(h *HeldPermit) bool {
		h.lim.mu.Lock()
		if s.blockedBy(h.borrower) {
			used = h
		}
		h.lim.mu.Unlock()
		return used == nil
	})
	return used
}

// each calls f for the permits of the task's own goroutine, until it returns false. Of several in
// a row of one limiter it is the nearest one, which calls below s find.
func (s *Scope) each(f func(*HeldPermit) bool) {
	var last *Limiter
	for ; s != nil; s = s.parent {
		if h := s.held; h != nil && h.lim != last {
			last = h.lim
			if !f(h) {
				return
			}
		}
		if s.apart {
			return
		}
	}
}

// await blocks until the call s no longer needs to wait for h.
func (h *HeldPermit) await(s *Scope) {
	h.lim.mu.Lock()
	if !s.blockedBy(h.borrower) {
		h.lim.mu.Unlock()
		return
	}
	if h.returned == nil {
		h.returned = make(chan struct{})
	}
	returned := h.returned
	h.lim.mu.Unlock()
	<-returned
}

// Permit returns the permit that the task with scope s runs on.
func (s *Scope) Permit() Permit {
	if s == nil || s.held == nil {
		return Permit{}
	}
	return s.held.permit
}

// Return returns the permit of a worker whose task has ended, as Limiter.Free does. If a call
// has outlived the task and still has the permit, that call returns it, and Return reports
// true. Then, or if last is true, no other call can borrow the permit from h.
func (h *HeldPermit) Return(last bool) (w *Waiter, left bool) {
	h.lim.mu.Lock()
	defer h.lim.unlock()
	if last || h.taken {
		h.use.Store(retired)
	}
	if h.taken {
		return nil, true
	}
	return h.lim.returnLocked(h.permit), false
}

// serve gives the permit to the first waiter that may have it. If tasks of the call from
// have it already, it wakes the goroutines that no longer need to wait for them.
func (h *HeldPermit) serve(from *Scope) {
	h.lim.mu.Lock()
	if from != nil {
		if h.borrower == from {
			h.wakeLocked()
		}
		h.borrowers.lend(from.lender())
	}
	w := h.admitLocked()
	h.lim.updateSignsLocked()
	h.lim.unlock()
	if w != nil {
		w.Grant()
	}
}

// takeLocked takes the permit for a call of the task itself, or for a call below the call branch.
func (h *HeldPermit) takeLocked(branch *Scope) bool {
	if h.taken || branch != nil && (branch.lender().waits.Load() == 0 || h.reclaims.Load() > 0) {
		return false
	}
	return h.lendLocked(branch)
}

// lendLocked gives the permit, which is not taken, to a call below branch, unless h is retired.
func (h *HeldPermit) lendLocked(branch *Scope) bool {
	h.use.CompareAndSwap(unused, lent)
	if h.use.Load() == retired {
		return false
	}
	h.taken, h.borrower = true, branch
	return true
}

// retireUnused retires h without the lock, and reports true, if its permit is the limiter's own
// and no call has had it. The caller must return the permit.
func (h *HeldPermit) retireUnused() bool {
	return h.permit == (Permit{}) && h.use.CompareAndSwap(unused, retired)
}

// returnLocked ends the call that took the permit, and returns the waiter that has it now, or nil.
func (h *HeldPermit) returnLocked() *Waiter {
	h.taken, h.borrower = false, nil
	h.wakeLocked()
	if h.use.Load() == retired {
		return h.lim.returnLocked(h.permit)
	}
	w := h.admitLocked()
	h.lim.updateSignsLocked()
	return w
}

// wakeLocked wakes the goroutines in await.
func (h *HeldPermit) wakeLocked() {
	if h.returned != nil {
		close(h.returned)
		h.returned = nil
	}
}

// admitLocked gives the permit, if it is free, to the first waiter that may have it.
func (h *HeldPermit) admitLocked() *Waiter {
	if h.taken {
		return nil
	}
	w := h.borrowers.next(h.reclaims.Load() > 0)
	if w == nil || !h.lendLocked(w.branch) { // lent even if its lender waits no more since next looked: it sees that the permit is taken
		return nil
	}
	h.lim.removeLocked(w)
	w.Permit = Permit{h}
	h.lim.granted()
	return w
}

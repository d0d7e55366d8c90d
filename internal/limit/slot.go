package limit

import (
	"context"
	"sync/atomic"

	"github.com/stint-go/stint/internal/line"
)

// A Slot is a permit as the task that runs on it knows it, and the line of the
// calls that would use it: calls made with the task's own context, which may
// have it whenever no other such call does, and calls made by tasks that this
// one waits for, which may have it while this one waits. So a task and those it
// waits for share one permit, and no stranger begins a task meanwhile: otherwise
// tasks that wait for each other would pile up beyond every limit.
type Slot struct {
	busy   atomic.Bool  // taken, for the worker, which reads it after each task; written under lim.mu
	wanted atomic.Int32 // tasks in Reclaim; whoever has the permit gives it back soon
	lim    *Limiter
	permit Permit // that it stands for

	// guarded by lim.mu
	taken   bool  // by a call; the task itself is inside it, or waits in another
	lender  *Link // of what has taken it: the call that waits for it; nil for a call of the task itself
	retired bool  // the task has returned and left the call behind
	line    line.Line[*Waiter]
	back    chan struct{} // closed when such a call gives the permit back, or holds fewer

	first carrier
}

// A Link says in a task's context what the task runs on, and from which call it was
// started. The call has a link of its own, made by Call, whose outer is that of the
// task that made it. A task that waits in one of its calls lends to the tasks of all of
// them, which may depend on each other; but of calls that it waits in at once, each
// waits for its own tasks alone to give back.
type Link struct {
	slot  *Slot // nil for a call, and when the task's limit is nobody else's
	outer *Link
	apart bool         // outer belongs to another goroutine
	lent  atomic.Int32 // goroutines that wait: in the call for its tasks, or in any call of the task
}

// NewSlot returns the slot of a task that runs on p, a permit of lim. It is an
// allocation of its own: a context that tells of it may be kept for long.
func NewSlot(lim *Limiter, p Permit) *Slot { return &Slot{lim: lim, permit: p} }

// Carry is With for the slot s, without an allocation the first time: then s keeps
// ctx. It is called by one goroutine.
func (s *Slot) Carry(ctx context.Context, outer *Link, apart bool) context.Context {
	if s.first.Context != nil {
		return With(ctx, s, outer, apart)
	}
	return s.first.with(ctx, s, outer, apart)
}

// Wanted reports whether the task that lent p waits to go on. The call that has p
// should give it back before it begins another task.
func (p Permit) Wanted() bool { return p.lender != nil && p.lender.wanted.Load() > 0 }

type linkKey struct{}

// A carrier is a context with a link. It must not be copied.
type carrier struct {
	context.Context
	link Link
}

// Value returns the link for the key of this package, and what the context has for others.
func (c *carrier) Value(key any) any {
	if key == (linkKey{}) {
		return &c.link
	}
	return c.Context.Value(key)
}

// With returns ctx for a task that runs on slot and was started from outer: on
// the same goroutine, or apart from it.
func With(ctx context.Context, slot *Slot, outer *Link, apart bool) context.Context {
	return new(carrier).with(ctx, slot, outer, apart)
}

func (c *carrier) with(ctx context.Context, slot *Slot, outer *Link, apart bool) context.Context {
	c.Context = ctx
	c.link.slot, c.link.outer, c.link.apart = slot, outer, apart
	return c
}

// From returns the link of the task that ctx was given to, or nil.
func From(ctx context.Context) *Link {
	k, _ := ctx.Value(linkKey{}).(*Link)
	return k
}

// Call returns the link of a call that is made by the task with the link k: nil if
// that is nil. It is an allocation of its own, as NewSlot.
func (k *Link) Call() *Link {
	if k == nil {
		return nil
	}
	return &Link{outer: k}
}

// Belongs reports whether k is the link of a call made by the task with the link task.
func (k *Link) Belongs(task *Link) bool { return k != nil && k.outer == task }

// On returns the nearest slot on l among k and those outside it, or nil. When it
// belongs to another goroutine, branch is the call by which the caller's tasks
// were started from there: the slot may be used while the task that made it lends.
func (k *Link) On(l *Limiter) (slot *Slot, branch *Link) {
	for ; k != nil; k = k.outer {
		if k.slot != nil && k.slot.lim == l {
			return k.slot, branch
		}
		if k.apart {
			branch = k.outer
		}
	}
	return nil, nil
}

// Lend lets the tasks of the call k, which is about to wait for them, use the permits
// of the task that made it, and those of the other calls of that task. Reclaim must
// follow. A nil k lends nothing.
func (k *Link) Lend() {
	if k == nil {
		return
	}
	k.wait(+1) // before serve looks: a waiter that joined earlier saw 0
	k.each(func(s *Slot) bool { s.serve(k); return true })
}

// wait counts a goroutine that waits in the call k.
func (k *Link) wait(n int32) {
	k.lent.Add(n)
	if k.outer != nil {
		k.outer.lent.Add(n)
	}
}

// lends reports whether tasks of the call k may use permits of the task that made it.
func (k *Link) lends() bool { return k.lent.Load() > 0 || k.outer != nil && k.outer.lent.Load() > 0 }

// held reports whether a goroutine in the call k must not go on while a task of lender,
// or nil, has a permit: one of k, or of another call of the same task in which nobody
// waits.
func (k *Link) held(lender *Link) bool {
	if lender == nil || lender == k {
		return lender != nil
	}
	return lender.outer == k.outer && k.outer != nil && lender.lent.Load() == 0
}

// Reclaim ends what Lend began. It returns when no task of the call has one of the
// permits: at once when they have all ended, but a wait for one of many may find
// others at work. Until then all permits stay lent, since those others may need one
// to end. A permit that a task of another call has is for the goroutine that waits in
// that call to wait for: the task may need something that is given back only when this
// call returns. If nobody waits there, this one does.
func (k *Link) Reclaim() {
	if k == nil {
		return
	}
	var last *Slot // that was awaited: nobody takes it before the next look
	for {
		k.wait(-1)
		used := k.used()
		if used != nil {
			k.Lend()
			used.wanted.Add(1)
		}
		if last != nil {
			last.wanted.Add(-1)
			last.serve(nil)
		}
		if used == nil {
			return
		}
		used.await(k)
		last = used
	}
}

// used returns one of the permits that hold the call k, or nil.
func (k *Link) used() (used *Slot) {
	k.each(func(s *Slot) bool {
		s.lim.mu.Lock()
		if k.held(s.lender) {
			used = s
		}
		s.lim.mu.Unlock()
		return used == nil
	})
	return used
}

// each calls f for the slots of the task's own goroutine, until it returns false.
func (k *Link) each(f func(*Slot) bool) {
	for ; k != nil; k = k.outer {
		if k.slot != nil && !f(k.slot) || k.apart {
			return
		}
	}
}

// await waits until the task that has the permit gives it back, or does not hold the
// call k any more.
func (s *Slot) await(k *Link) {
	s.lim.mu.Lock()
	if !k.held(s.lender) {
		s.lim.mu.Unlock()
		return
	}
	if s.back == nil {
		s.back = make(chan struct{})
	}
	back := s.back
	s.lim.mu.Unlock()
	<-back
}

// Permit returns the permit that s stands for.
func (s *Slot) Permit() Permit { return s.permit }

// Permit returns the permit that the task with the link k runs on.
func (k *Link) Permit() Permit {
	if k == nil || k.slot == nil {
		return Permit{}
	}
	return k.slot.permit
}

// Busy reports whether a call made with the task's context has the permit. When
// the task itself has returned, it left that call behind.
func (s *Slot) Busy() bool { return s.busy.Load() }

// Retire ends the use of a slot that was Busy when its task returned. It reports
// whether the permit is still the worker's; otherwise the call that was left
// behind has it, and gives it back.
func (s *Slot) Retire() bool {
	s.lim.mu.Lock()
	defer s.lim.mu.Unlock()
	s.retired = true
	return !s.taken
}

// serve gives the permit to a waiter if there is one that may have it. If a task of the
// call from has it already, that holds only from now on.
func (s *Slot) serve(from *Link) {
	s.lim.mu.Lock()
	if from != nil && s.lender == from {
		s.returned()
	}
	w := s.admit()
	s.lim.sign()
	s.lim.mu.Unlock()
	if w != nil {
		w.Grant()
	}
}

// The functions below are called with lim.mu held.

// take takes the permit for a call of the task itself, or for one of a task that was
// started by the call branch.
func (s *Slot) take(branch *Link) bool {
	if s.taken || s.retired {
		return false
	}
	if branch != nil && (!branch.lends() || s.wanted.Load() > 0) {
		return false
	}
	s.taken, s.lender = true, branch
	s.busy.Store(true)
	s.lim.calls.Add(1)
	return true
}

// free ends the call that took the permit and returns the next that has it now.
func (s *Slot) free() *Waiter {
	s.taken, s.lender = false, nil
	s.busy.Store(false)
	s.lim.calls.Add(-1)
	s.returned()
	if s.retired {
		return s.lim.giveBack(s.permit)
	}
	w := s.admit()
	s.lim.sign()
	return w
}

// returned wakes those in await.
func (s *Slot) returned() {
	if s.back != nil {
		close(s.back)
		s.back = nil
	}
}

// admit gives the permit, when it is free, to the first in line that may have it.
func (s *Slot) admit() *Waiter {
	for p := s.line.First(); p != nil; p = p.Next() {
		if w := p.Of(); s.take(w.branch) {
			w.leave()
			w.Permit = Permit{s}
			return w
		}
	}
	return nil
}

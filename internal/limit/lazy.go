package limit

import (
	"context"
	"sync/atomic"

	"github.com/stint-go/stint/internal/race"
)

// A LazyPermit is the context of a task, with the permit that the task runs on. It makes
// the HeldPermit when a call looks for it, since most tasks on goroutines that stint did
// not start make no calls. It must not be copied.
type LazyPermit struct {
	context.Context
	ticket race.Ticket
	lim    *Limiter
	permit Permit
	parent *Scope
	held   atomic.Pointer[HeldPermit] // nil until a call looks for it; unheld after Return without a call
}

// unheld says that a LazyPermit has returned its permit.
var unheld HeldPermit

// NewLazyPermit returns ctx for a task that will run on a permit of lim, and is started in
// parent, which may be nil. Hold must be called before the task gets it. A goroutine makes
// it before it takes the permit: an allocation may have to wait for the garbage collector.
func NewLazyPermit(ctx context.Context, lim *Limiter, parent *Scope) *LazyPermit {
	return &LazyPermit{Context: bare(ctx), lim: lim, parent: parent}
}

// Hold makes p the permit of the task, which starts now.
func (c *LazyPermit) Hold(p Permit) {
	c.permit = p
	if race.Sharp {
		c.ticket = c.lim.Order.Take(c.lim.Bound())
		c.lim.Order.Start(c.ticket)
	}
}

// Value returns the task's scope for the key of this package, and otherwise what the
// context has.
func (c *LazyPermit) Value(key any) any {
	if key == (scopeKey{}) {
		return c.scope()
	}
	return c.Context.Value(key)
}

// scope returns the scope of the task, always the same. After Return nothing can be
// borrowed there.
func (c *LazyPermit) scope() *Scope {
	h := c.held.Load()
	for h == nil || h == &unheld {
		made := NewHeldPermit(c.lim, c.permit)
		made.retired = h == &unheld
		made.TaskContext(c.Context, c.parent, false)
		if c.held.CompareAndSwap(h, made) {
			h = made
		} else {
			h = c.held.Load()
		}
	}
	return &h.first.scope
}

// Limiter returns the limiter of the permit.
func (c *LazyPermit) Limiter() *Limiter { return c.lim }

// End tells the race detector that the task has ended.
func (c *LazyPermit) End() { c.lim.Order.End(c.ticket) }

// ReturnUnused ends the task if its permit is the limiter's own and no call has looked for
// it. Then it returns the limiter, and Free must follow.
func (c *LazyPermit) ReturnUnused() *Limiter {
	if c.permit == (Permit{}) && c.held.CompareAndSwap(nil, &unheld) {
		return c.lim
	}
	return nil
}

// Return returns the permit at the end of the task, as Limiter.Free does. If a call has
// outlived the task and still has the permit, that call returns it.
func (c *LazyPermit) Return() *Waiter {
	if c.held.CompareAndSwap(nil, &unheld) {
		return c.lim.Free(c.permit)
	}
	w, _ := c.held.Load().Return(true)
	return w
}

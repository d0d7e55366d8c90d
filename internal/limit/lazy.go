package limit

import (
	"context"
	"sync/atomic"
)

// A LazyPermit is the context of a task, with the permit that the task runs on. It makes
// the HeldPermit when a call looks for it, since most tasks on goroutines that stint did
// not start make no calls. It must not be copied.
type LazyPermit struct {
	context.Context
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

// Hold makes p the permit of the task.
func (c *LazyPermit) Hold(p Permit) { c.permit = p }

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

// Count counts the task, which is about to return its permit.
func (c *LazyPermit) Count(failed bool) {
	if failed {
		c.lim.Failed()
	}
	c.lim.Completed(1)
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

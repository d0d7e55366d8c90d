package stint

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// cancelContext is the context of the tasks of one call: what
// context.WithCancelCause returns, but made only when somebody asks for more than
// Err or the deadline, which few tasks do. Its zero value is not ready: use begin.
// It must not be copied.
type cancelContext struct {
	parent context.Context

	made  atomic.Pointer[madeContext] // what is asked from then on; written with mu held
	ended atomic.Bool                 // cancel was first, before it was made; written with mu held

	mu    sync.Mutex
	cause error // of ended
}

type madeContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

func (c *cancelContext) begin(parent context.Context) { c.parent = parent }

// cancel ends the context, unless it has ended.
func (c *cancelContext) cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := c.made.Load(); {
	case m != nil:
		m.cancel(cause)
	case !c.ended.Load() && c.parent.Err() == nil:
		c.cause = cause
		c.ended.Store(true)
	}
}

// Deadline is that of the parent.
func (c *cancelContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Err is why the context has ended, or nil. It never blocks.
func (c *cancelContext) Err() error {
	if m := c.made.Load(); m != nil {
		return m.Err()
	}
	if c.ended.Load() {
		return context.Canceled
	}
	return c.parent.Err()
}

// Done is closed when the context has ended.
func (c *cancelContext) Done() <-chan struct{} { return c.make().Done() }

// Value returns what the parent has for key. It is what tells the package context,
// which asks for a key of its own, the cause and where to cancel children.
func (c *cancelContext) Value(key any) any { return c.make().Value(key) }

func (c *cancelContext) make() *madeContext {
	if m := c.made.Load(); m != nil {
		return m
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.made.Load(); m != nil {
		return m
	}
	parent, ended := c.parent, c.ended.Load()
	if ended { // perhaps the parent has ended since: that was later
		parent = context.WithoutCancel(parent)
	}
	m := new(madeContext)
	m.Context, m.cancel = context.WithCancelCause(parent)
	if ended {
		m.cancel(c.cause)
	}
	c.made.Store(m)
	return m
}

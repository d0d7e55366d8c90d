package stint

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// cancelContext is the context of the tasks of one call: what
// context.WithCancelCause returns, but made only when somebody asks for more than
// Err or the deadline, which few tasks do. It is an allocation of its own: who
// keeps it keeps nothing of the call.
//
// Whether cancel or the parent's end was first is decided once, by the first of
// cancel and Err to notice, since a context does not change its mind:
//
//	open      neither has been noticed
//	cancelled cancel was first; cause says why
//	over      the parent's end was first
type cancelContext struct {
	parent context.Context
	state  atomic.Int32
	made   atomic.Pointer[madeContext] // what is asked from then on; written with mu held

	mu    sync.Mutex
	cause error
}

const (
	open = iota
	cancelled
	over
)

type madeContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

// cancel ends the context, unless it has ended.
func (c *cancelContext) cancel(cause error) {
	m := c.made.Load()
	if m == nil {
		c.mu.Lock()
		if m = c.made.Load(); m == nil {
			defer c.mu.Unlock()
			switch {
			case c.state.Load() != open:
			case c.parent.Err() != nil:
				c.state.CompareAndSwap(open, over)
			default:
				c.cause = cause // before the state that says that it is there
				c.state.CompareAndSwap(open, cancelled)
			}
			return
		}
		c.mu.Unlock()
	}
	if c.state.Load() != over {
		m.cancel(cause)
	}
}

// Deadline is that of the parent.
func (c *cancelContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Err is why the context has ended, or nil.
func (c *cancelContext) Err() error {
	if m := c.made.Load(); m != nil {
		if c.state.Load() == over {
			<-m.Done() // the parent's end is on its way
		}
		return m.Err()
	}
	if c.state.Load() == cancelled {
		return context.Canceled
	}
	err := c.parent.Err()
	if err != nil && !c.state.CompareAndSwap(open, over) && c.state.Load() == cancelled {
		return context.Canceled
	}
	return err
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
	parent, ended := c.parent, c.state.Load() == cancelled
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

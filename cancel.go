package stint

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/limit"
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
	lasts  bool // parent has no end, and is not asked for one
	state  atomic.Int32
	made   atomic.Pointer[madeContext] // what is asked from then on; written with mu held

	mu    sync.Mutex // no method of parent is called with it held
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
		if m = c.note(c.parentErr() != nil, cause); m == nil {
			return
		}
	}
	if c.state.Load() != over {
		m.cancel(cause)
	}
}

// note is cancel unless the context has been made meanwhile: then it returns that. ended
// says whether the parent's end came before.
func (c *cancelContext) note(ended bool, cause error) *madeContext {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.made.Load()
	switch {
	case m != nil || c.state.Load() != open:
	case ended:
		c.state.CompareAndSwap(open, over)
	default:
		c.cause = cause // before the state that says that it is there
		c.state.CompareAndSwap(open, cancelled)
	}
	return m
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
	err := c.parentErr()
	if err != nil && !c.state.CompareAndSwap(open, over) && c.state.Load() == cancelled {
		return context.Canceled
	}
	return err
}

// parentErr is why the parent has ended, or nil.
func (c *cancelContext) parentErr() error {
	if c.lasts {
		return nil
	}
	return c.parent.Err()
}

// Done is closed when the context has ended.
func (c *cancelContext) Done() <-chan struct{} { return c.make().Done() }

// Value returns what the parent has for key. It is what tells the package context,
// which asks for a key of its own, the cause and where to cancel children.
func (c *cancelContext) Value(key any) any { return c.make().Value(key) }

// Around returns the parent, which has the same pprof labels: see limit.Labelled.
func (c *cancelContext) Around(limit.Ours) context.Context { return c.parent }

func (c *cancelContext) make() *madeContext {
	for {
		if m := c.made.Load(); m != nil {
			return m
		}
		parent, ended := c.parent, c.state.Load() == cancelled
		if ended { // perhaps the parent has ended since: that was later
			parent = context.WithoutCancel(parent)
		}
		m := new(madeContext)
		m.Context, m.cancel = context.WithCancelCause(parent) // which calls methods of parent
		if c.keep(m, ended) {
			return m
		}
		m.cancel(nil) // it was made too late
	}
}

// keep makes m what is asked from now on, and reports whether it does: not if there is
// one already, or if cancel has come since ended said whether it had.
func (c *cancelContext) keep(m *madeContext, ended bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made.Load() != nil || ended != (c.state.Load() == cancelled) {
		return false
	}
	if ended {
		m.cancel(c.cause) // its parent has neither an end nor children
	}
	c.made.Store(m)
	return true
}

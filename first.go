package stint

import (
	"context"
	"errors"
	"sync/atomic"
)

var errNoItems = errors.New("stint: First: no items")

// First calls f for the items and returns the first result that f returns without an error.
// That result cancels the context given to f, which is the same for all calls, and starts no
// further calls. First returns when the other calls have finished; their results are dropped.
// So the result must not need that context: read the body of an *http.Response in f, for
// example, since it breaks off when the context of its request ends.
//
// Without a Limiter or a Pool, all items start at once, also in a task of another call. With
// one, they start roughly in order, as permits become free.
//
// If every call fails, the errors are joined in the order of the items, each as an
// *ItemError. If ctx ends before that and no call succeeds, the error is its cause. Without
// items it is an error that says so. If f panics, First panics with a *PanicError after the
// other calls have finished, even if there is a result. A call of runtime.Goexit fails with
// ErrGoexit, or ends the caller's goroutine, as in Each. Options: Limiter or Pool,
// LowPriority, Name. First panics if ctx or f is nil.
func First[T, R any](ctx context.Context, items []T, f func(context.Context, T) (R, error), opts ...Option) (R, error) {
	checkArgs("First", ctx, f == nil)
	o := collect("First", firstOptions, opts)
	o.KeepGoing = true // errors cancel nothing: a result does
	c := &firstCall[T, R]{items: items, f: f}
	c.waits = true
	err := c.run(ctx, len(items), c, o)
	switch out := &c.outcome; {
	case c.won.Load():
		return c.result, nil
	case len(items) == 0:
		err = errNoItems
	case !out.refused.Load() && len(out.failures.Kept) < len(items): // not all had failed when the context ended
		err = context.Cause(out.ctx)
	}
	return c.result, err
}

// A firstCall is one call of First.
type firstCall[T, R any] struct {
	items  []T
	f      func(context.Context, T) (R, error)
	won    atomic.Bool // a call has succeeded, and sets result
	result R
	call
}

func (c *firstCall[T, R]) caller() string { return "First" }

func (c *firstCall[T, R]) Call(ctx context.Context, i int) error {
	r, err := c.f(ctx, c.items[i])
	if err == nil && c.won.CompareAndSwap(false, true) {
		c.result = r
		c.outcome.cancel(context.Canceled)
	}
	return err
}

package stint

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/option"
)

// First calls f for the items and returns the first result that f returns without an error.
// That result cancels the context given to f, which is the same for all calls, and starts no
// further calls. First returns when the other calls have finished; their results are dropped.
//
// Without a Limiter or a Pool, all items start at once, also in a task of another call. With
// one, they start roughly in order, as permits become free. Under HedgeAfter they start one by
// one: for hedged requests, which ask the next server when the one before it takes too long.
//
// If every call fails, the errors are joined in the order of the items, each as an
// *ItemError. If ctx ends before that and no call succeeds, the error is its cause. Without
// items it is an error that says so. If f panics, First panics with a *PanicError after the
// other calls have finished, even if there is a result.
// Options: Limiter, Pool, HedgeAfter, LowPriority, Name.
func First[T, R any](ctx context.Context, items []T, f func(context.Context, T) (R, error), opts ...Option) (R, error) {
	checkArgs("First", ctx, f == nil)
	o := collect("First", firstOptions, opts) // without the limit of another call
	o.Given |= option.KeepGoing               // errors cancel nothing: a result does
	var result R
	var won atomic.Bool // a call has succeeded, and sets result
	c := new(call)
	c.calls = loop.Calls(func(ctx context.Context, i int) error {
		r, err := f(ctx, items[i])
		if err == nil && won.CompareAndSwap(false, true) {
			result = r
			c.outcome.cancel(context.Canceled)
		}
		return err
	})
	c.waits = true
	err := c.run(ctx, "First", len(items), o)
	switch out := c.outcome; {
	case won.Load():
		return result, nil
	case len(items) == 0:
		err = errors.New("stint: First: no items")
	case len(out.failures.Kept) < len(items): // not all had failed when the context ended, or the pool
		err = context.Cause(out.ctx)
	}
	return result, err
}

package stint

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/option"
)

// First calls f for the items and returns the first result that f returns without an error.
// This result cancels the context given to f, which is the same for all calls, and starts no
// further calls. First returns when the other calls have finished. It drops their results.
//
// Without a Limiter or a Pool, all items start at once, also in a task of another call. With a
// Limiter or a Pool, items start roughly in order, when a permit is free. Under HedgeAfter
// items start one by one, as hedged requests do: the next server is asked when the first is
// slow.
//
// If every call fails, First returns their errors joined in the order of the items, each as an
// *ItemError. If ctx ends before every call has failed, and no call succeeds, First returns the
// cause of ctx. It returns an error if there are no items. If f panics, First panics with a
// *PanicError after the other calls have finished, even if there is a result. Options: Limiter,
// Pool, HedgeAfter, LowPriority, Name.
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

package stint

import (
	"context"
	"fmt"
)

// Each calls f for every item and returns when all calls have finished. The calls run
// on the caller's goroutine and on up to limit-1 others, or on the workers of a Pool.
// Without an option the limit is adaptive, as described at Auto.
//
// Items start roughly in order. They may wait for each other if a Limit has room for all of
// them. Without one they may wait for ever: the adaptive limit rises as calls finish. An item
// costs about 30 ns; for items of a few nanoseconds that compute use package par.
//
// The first error cancels the context given to f, starts no further calls, and is
// returned. If ctx ends before every item was started, Each returns its cause. If f
// panics, Each panics with a *PanicError after the other calls have finished. If f
// calls runtime.Goexit, the error is ErrGoexit, unless f runs on the caller's
// goroutine: then that goroutine ends. The context given to f ends before Each returns.
// Options: Limiter or Pool, KeepGoing, LowPriority, Name. Each panics if ctx or f is nil.
func Each[T any](ctx context.Context, items []T, f func(context.Context, T) error, opts ...Option) error {
	checkArgs("Each", ctx, f == nil)
	c := &eachCall[T]{items: items, f: f}
	return c.run(ctx, len(items), c, collect("Each", loopOptions, opts))
}

// Range calls f for every index from 0 to n-1, as Each does for items. Options: Limiter or
// Pool, KeepGoing, LowPriority, Name. Range panics if n is negative, or if ctx or f is nil.
func Range(ctx context.Context, n int, f func(ctx context.Context, i int) error, opts ...Option) error {
	checkArgs("Range", ctx, f == nil)
	if n < 0 {
		panic(fmt.Sprintf("stint: Range: n is %d, want 0 or more", n))
	}
	c := &rangeCall{f: f}
	return c.run(ctx, n, c, collect("Range", loopOptions, opts))
}

// An eachCall is one call of Each.
type eachCall[T any] struct {
	items []T
	f     func(context.Context, T) error
	call
}

func (c *eachCall[T]) caller() string { return "Each" }

func (c *eachCall[T]) Call(ctx context.Context, i int) error { return c.f(ctx, c.items[i]) }

// A rangeCall is one call of Range.
type rangeCall struct {
	f func(context.Context, int) error
	call
}

func (c *rangeCall) caller() string { return "Range" }

func (c *rangeCall) Call(ctx context.Context, i int) error { return c.f(ctx, i) }

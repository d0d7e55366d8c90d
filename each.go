package stint

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/internal/loop"
)

// Each calls f for every item and returns when all calls have finished. The calls run on the
// caller's goroutine and on up to limit-1 others, or on the workers of a Pool. Without an
// option the limit is adaptive: see [Auto].
//
// Items start roughly in order. If items take less than a microsecond, a goroutine may take up
// to 128 of them at a time: when one of them blocks, the others wait. It takes one at a time
// under a Limit above GOMAXPROCS, or a Limit that has room for all items. Items that wait for
// each other need a Limit with room for all of them: an adaptive limit rises only as calls
// finish.
//
// The first error cancels the context given to f, starts no further calls, and is returned. If
// ctx ends before every item was started, Each returns its cause. If f panics, Each panics with
// a *PanicError after the other calls have finished. Options: Limiter, Pool, KeepGoing,
// LowPriority, Name.
func Each[T any](ctx context.Context, items []T, f func(context.Context, T) error, opts ...Option) error {
	checkArgs("Each", ctx, f == nil)
	c := &call{calls: func(ctx context.Context, c *loop.Claim) error {
		for {
			if err := f(ctx, items[c.At]); err != nil {
				return err
			}
			if !c.Next() {
				return nil
			}
		}
	}}
	return c.run(ctx, "Each", len(items), collectIn(ctx, "Each", loopOptions, opts))
}

// Range calls f for every index from 0 to n-1, as [Each] does for items. It panics if n is
// negative. Options: Limiter, Pool, KeepGoing, LowPriority, Name.
func Range(ctx context.Context, n int, f func(ctx context.Context, i int) error, opts ...Option) error {
	checkArgs("Range", ctx, f == nil)
	if n < 0 {
		panic(fmt.Sprintf("stint: Range: n is %d, want 0 or more", n))
	}
	return (&call{calls: loop.Calls(f)}).run(ctx, "Range", n, collectIn(ctx, "Range", loopOptions, opts))
}

// Map calls f for every item, as [Each] does, and returns the results in the order of the
// items. The slice always has the length of items. After an error, the elements of calls that
// succeeded hold their results, and the other elements are zero. Options: Limiter, Pool,
// KeepGoing, LowPriority, Name.
func Map[T, R any](ctx context.Context, items []T, f func(context.Context, T) (R, error), opts ...Option) ([]R, error) {
	checkArgs("Map", ctx, f == nil)
	results := make([]R, len(items)) // each has one writer
	c := &call{calls: loop.Calls(func(ctx context.Context, i int) error {
		r, err := f(ctx, items[i])
		if err == nil {
			results[i] = r
		}
		return err
	})}
	err := c.run(ctx, "Map", len(items), collectIn(ctx, "Map", loopOptions, opts))
	return results, err
}

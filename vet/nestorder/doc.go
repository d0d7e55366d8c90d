// Package nestorder reports two limiters that are nested in both orders.
//
// A task on limiter a that waits for a permit of b holds its permit of a meanwhile. If elsewhere a
// task on b waits for a permit of a, each can wait for the other, for ever, as with two mutexes.
// Nest them in the same order everywhere, or use one of them after the other has been returned:
//
//	disk.Do(ctx, func(ctx context.Context) error { // in one function
//		return network.Do(ctx, send)
//	})
//	network.Do(ctx, func(ctx context.Context) error { // in another: before
//		return disk.Do(ctx, read)
//	})
//	disk.Do(ctx, func(ctx context.Context) error { // after
//		return network.Do(ctx, func(ctx context.Context) error { ... })
//	})
//
// Limiters and pools are told apart by the variable or the field that holds them. A nested call
// may be in a function of the package that the task calls. TryDo and TryGo do not wait, so they
// may be inside.
package nestorder

// Package nestorder reports two limiters that are nested in both orders.
//
// A task on limiter a that waits for a permit of limiter b holds its permit of a meanwhile. If
// another task on b waits for a permit of a, the two tasks can wait for each other for ever, as
// with two mutexes. Nest the limiters in the same order everywhere, or return the permit of one
// limiter before you wait for the other:
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
// may be in a function of the package that the task calls. TryDo and TryGo are not reported as
// nested calls, since they do not wait.
package nestorder

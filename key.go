package stint

import (
	"context"
	"iter"

	"github.com/stint-go/stint/internal/option"
)

// EachKey calls f for every value of seq. It handles values with different keys concurrently,
// and values with the same key one after the other, in the order of seq. A key has a worker
// only while it has values, so any number of keys may be in use. Of the values that may run,
// the first in seq runs first: under Limit(1) the order is that of seq.
//
// EachKey pulls seq, and calls key, on a goroutine of its own, concurrently with f. At most
// limit+queue values are pulled and not finished. Values that wait for others of their key
// count. So a key with most of the values, or with slow calls, can hold up other keys. A larger
// Queue helps if such a key has its values in a row.
//
// Errors, panics and the end of ctx are as in EachSeq, but EachKey raises a panic of seq or key
// as a *PanicError, and runtime.Goexit in seq or key is ErrGoexit. Under KeepGoing, after an
// error the next values of the same key are still handled. EachKey panics if ctx, seq, key or f
// is nil. Options: Limiter, Pool, Queue, KeepGoing, LowPriority, Name.
func EachKey[T any, K comparable](ctx context.Context, seq iter.Seq[T], key func(T) K, f func(context.Context, T) error, opts ...Option) error {
	checkKeyed("EachKey", ctx, f == nil, seq == nil, key == nil)
	o := collectIn(ctx, "EachKey", groupOptions, opts)
	o.Given |= option.Unordered
	call := func(ctx context.Context, v T) (struct{}, error) { return struct{}{}, f(ctx, v) }
	var err error
	(&mapSeq[T, struct{}]{function: "EachKey", together: true}).run(ctx, seq, anyKey(key), call, &o, func(_ struct{}, e error) bool {
		err = e // the last is that of the call
		return true
	})
	return err
}

// MapKey calls f for every value of seq, as EachKey does, and yields the results in the order
// of seq. So a consumer of a message queue can commit each offset when all messages before it
// have been handled, while messages with different keys are handled concurrently. Under
// Unordered, MapKey yields results as calls finish; results with the same key are in order.
//
// Nothing runs before the result is ranged over. At most limit+queue values are pulled whose
// results are not consumed. Values that wait for others of their key count. Errors, panics,
// leaving the loop and the end of ctx are as in MapSeq; a panic of key is treated like a panic
// of seq. Under KeepGoing, after an error the next values of the same key are still handled.
// MapKey panics if ctx, seq, key or f is nil. Options: Limiter, Pool, Queue, KeepGoing,
// LowPriority, Unordered, Name.
func MapKey[T any, K comparable, R any](ctx context.Context, seq iter.Seq[T], key func(T) K, f func(context.Context, T) (R, error), opts ...Option) iter.Seq2[R, error] {
	checkKeyed("MapKey", ctx, f == nil, seq == nil, key == nil)
	o := collectIn(ctx, "MapKey", seqOptions, opts)
	return func(yield func(R, error) bool) {
		(&mapSeq[T, R]{function: "MapKey"}).run(ctx, seq, anyKey(key), f, &o, yield)
	}
}

// checkKeyed panics about bad arguments of the function called caller.
func checkKeyed(caller string, ctx context.Context, nilFunc, nilSeq, nilKey bool) {
	checkArgs(caller, ctx, nilFunc)
	if nilSeq {
		panic("stint: " + caller + ": nil sequence")
	}
	if nilKey {
		panic("stint: " + caller + ": nil key function")
	}
}

// anyKey returns key, for keys of any type.
func anyKey[T any, K comparable](key func(T) K) func(T) any {
	return func(v T) any { return key(v) }
}

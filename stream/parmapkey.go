package stream

import (
	"context"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/option"
)

// ParMapKey is ParMap with an order within keys: records with different keys are handled
// concurrently, and records with the same key one after the other, in the order of s. A key has
// a worker only while it has records, so any number of keys may be in use. key is called once
// for each record, on the goroutine of the stage before.
//
// Records that wait for others of their key are in progress too. So a key with most of the
// records, or with slow calls, can hold up other keys. The results are in the order of the
// records. Under Unordered they come as they arrive, and results with the same key are in
// order. Errors are as in ParMap. A panic of key is treated like a panic of the stage before.
//
// Options: a Limiter, a Pool, Queue, Unordered, LowPriority, Name. ParMapKey panics if key or f
// is nil.
func ParMapKey[T any, K comparable, R any](s Stream[T], key func(T) K, f func(context.Context, T) (R, error), opts ...stint.Option) Stream[R] {
	check("ParMapKey", "key function", key == nil)
	check("ParMapKey", "function", f == nil)
	o := option.Collect("stream", "ParMapKey", parMapOptions, opts)
	return parMapped(s, func(v T) any { return key(v) }, f, o)
}

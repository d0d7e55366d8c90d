package stream

import (
	"context"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/option"
)

// ParMapKey is ParMap with an order within keys: records with different keys are handled
// concurrently, and records with the same key one after the other, in the order of s. A key
// has a worker only while it has records; any number of keys may be in use. key is called
// by the stage before, once for each record.
//
// Records in progress include those that wait for others of their key, so a key that has
// most of the records, or a slow one, can hold up the others. The results are in the order of
// the records, or under Unordered as they arrive, in order within a key. Errors are as in
// ParMap, and a panic of key is one of the stage before.
//
// Options: a Limiter, a Pool, Queue, Unordered, LowPriority, Name. ParMapKey panics if key
// or f is nil.
func ParMapKey[T any, K comparable, R any](s Stream[T], key func(T) K, f func(context.Context, T) (R, error), opts ...stint.Option) Stream[R] {
	check("ParMapKey", "key function", key == nil)
	check("ParMapKey", "function", f == nil)
	o := option.Collect("stream", "ParMapKey", parMapOptions, opts)
	return parMapped(s, func(v T) any { return key(v) }, f, o)
}

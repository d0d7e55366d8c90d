package stream

import (
	"context"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/lane"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/window"
)

// ParMapKey is ParMap with an order within keys: records with different keys are handled
// concurrently, and records with the same key one after the other, in the order of s. A key
// has a worker only while it has records; any number of keys may be in use. key is called
// by the stage before, once for each record.
//
// Records in progress include those that wait for others of their key, so a key that has
// most of the records, or a slow one, can hold up the others. Each call of f is a task of its
// own: short calls cost more than in ParMap. The results are in the order of the records, or
// under Unordered as they arrive, in order within a key. Errors are as in ParMap, and a panic
// of key is one of the stage before.
//
// Options: a Limiter or a Pool, Queue, Unordered, LowPriority, Name. ParMapKey panics if key
// or f is nil.
func ParMapKey[T any, K comparable, R any](s Stream[T], key func(T) K, f func(context.Context, T) (R, error), opts ...stint.Option) Stream[R] {
	check("ParMapKey", "key function", key == nil)
	check("ParMapKey", "function", f == nil)
	o := option.Collect("stream", "ParMapKey", parMapOptions, opts)
	records := Map(s, func(v T) keyed[T, K] { return newKeyed(key(v), v) })
	call := func(ctx context.Context, r keyed[T, K]) (R, error) { return f(ctx, r.v) }
	return parMapped(records, call, o, func() lane.Rows[*window.Task[keyed[T, K], R]] {
		return &lane.Lanes[K, *window.Task[keyed[T, K], R]]{Key: func(t *window.Task[keyed[T, K], R]) K { return t.Item().key }}
	})
}

// keyed is a record and its key.
type keyed[T any, K comparable] struct {
	key K
	v   T
}

// newKeyed panics if key cannot be compared: lanes must not, behind the stage.
func newKeyed[T any, K comparable](key K, v T) keyed[T, K] {
	_ = key == key
	return keyed[T, K]{key, v}
}

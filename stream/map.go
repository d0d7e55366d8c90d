package stream

import "context"

// Map returns f(r) for every record r of s, in order. Besides f it costs about 2 ns a record, and
// no goroutine. Map panics if f is nil.
func Map[T, R any](s Stream[T], f func(T) R) Stream[R] {
	check("Map", "function", f == nil)
	return stage(s, func(_ *chain, _ *lifetime, to sink[R]) sink[T] {
		return func(v T) bool { return to(f(v)) }
	})
}

// MapErr returns f(r) for every record r of s, as Map does. The first error ends the
// stream at its position. The context of f ends when no more records are wanted: after
// an error, or when the terminal's context ends or its loop is left. MapErr panics if f
// is nil.
func MapErr[T, R any](s Stream[T], f func(context.Context, T) (R, error)) Stream[R] {
	check("MapErr", "function", f == nil)
	return stage(s, func(c *chain, in *lifetime, to sink[R]) sink[T] {
		return func(v T) bool {
			r, err := f(in.ctx, v)
			if err != nil {
				return c.failIn(in, err)
			}
			return to(r)
		}
	})
}

// Filter returns the records of s for which f returns true. It calls f as Map does.
// Filter panics if f is nil.
func Filter[T any](s Stream[T], f func(T) bool) Stream[T] {
	check("Filter", "function", f == nil)
	return stage(s, func(_ *chain, _ *lifetime, to sink[T]) sink[T] {
		return func(v T) bool { return !f(v) || to(v) }
	})
}

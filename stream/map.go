package stream

import (
	"context"
	"sync/atomic"
)

// Map returns f(r) for every record r of s. Besides f it costs 1 to 2 ns a record, and no
// goroutine. Map panics if f is nil.
//
// One goroutine calls f for the records in order. Map takes up to 256 records from a slice or a
// boundary before it passes them to the next stage. If 256 records take more than a
// millisecond, Map passes records on one by one.
func Map[T, R any](s Stream[T], f func(T) R) Stream[R] {
	check("Map", "function", f == nil)
	return stage(s, func(c *chain, in *lifetime, to sink[R]) sink[T] {
		return sink[T]{
			one: func(v T) bool { return to.one(f(v)) },
			many: inSteps(in, to, func(vs []T, rs []R) (taken, made int) {
				for i := range vs {
					rs[i] = f(vs[i])
					if atomic.LoadUint32(&c.ticked) != 0 {
						return i + 1, i + 1
					}
				}
				return len(vs), len(vs)
			}),
		}
	})
}

// MapErr returns f(r) for every record r of s, as Map does. The first error ends the stream at
// its position. The context of f ends when no more records are wanted: after an error, when the
// terminal's context ends, or when the terminal's loop is left. MapErr panics if f is nil.
func MapErr[T, R any](s Stream[T], f func(context.Context, T) (R, error)) Stream[R] {
	check("MapErr", "function", f == nil)
	return stage(s, func(c *chain, in *lifetime, to sink[R]) sink[T] {
		var failure error
		many := inSteps(in, to, func(vs []T, rs []R) (taken, made int) {
			for i := range vs {
				r, err := f(in.ctx, vs[i])
				if err != nil {
					failure = c.run.recordError(in, err)
					return len(vs), i
				}
				rs[i] = r
				if atomic.LoadUint32(&c.ticked) != 0 {
					return i + 1, i + 1
				}
			}
			return len(vs), len(vs)
		})
		return sink[T]{
			one: func(v T) bool {
				r, err := f(in.ctx, v)
				if err != nil {
					return c.failIn(in, c.run.recordError(in, err))
				}
				return to.one(r)
			},
			many: func(vs []T) bool { return many(vs) && (failure == nil || c.failIn(in, failure)) },
		}
	})
}

// Filter returns the records of s for which f returns true. It calls f as Map does.
// Filter panics if f is nil.
func Filter[T any](s Stream[T], f func(T) bool) Stream[T] {
	check("Filter", "function", f == nil)
	return stage(s, func(c *chain, in *lifetime, to sink[T]) sink[T] {
		return sink[T]{
			one: func(v T) bool { return !f(v) || to.one(v) },
			many: inSteps(in, to, func(vs []T, rs []T) (taken, made int) {
				for i := range vs {
					if f(vs[i]) {
						rs[made] = vs[i]
						made++
					}
					if atomic.LoadUint32(&c.ticked) != 0 {
						return i + 1, made
					}
				}
				return len(vs), made
			}),
		}
	})
}

// inSteps returns the function of a sink that takes several records at once. work takes
// records from the front of vs and puts the results into rs, which is as long. It stops
// after a tick, so that finished results are passed on.
func inSteps[T, R any](in *lifetime, to sink[R], work func(vs []T, rs []R) (taken, made int)) func([]T) bool {
	var buf []R
	return func(vs []T) bool {
		if len(vs) > len(buf) {
			buf = make([]R, len(vs))
		}
		for len(vs) > 0 {
			taken, made := work(vs, buf[:len(vs)])
			vs = vs[taken:]
			if made > 0 && !to.many(buf[:made]) {
				return false
			}
			clear(buf[:made])
			if len(vs) > 0 && in.ended() {
				return false
			}
		}
		return true
	}
}

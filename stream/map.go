package stream

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"
)

// Map returns f(r) for every record r of s. It costs 1 to 2 ns a record besides f, and no
// goroutine. It panics if f is nil.
//
// f is called for the records in their order, by one goroutine. Of records that come out
// of a slice or over a boundary it takes up to 256 before the next stage has them, but
// one by one as soon as that takes more than a millisecond.
func Map[T, R any](s Stream[T], f func(T) R) Stream[R] {
	check("Map", "function", f == nil)
	return stage(s, func(g *segment, _ *scope, to sink[R]) sink[T] {
		var out scratch[R]
		return sink[T]{
			one: func(v T) bool { return to.one(f(v)) },
			many: func(vs []T) bool {
				for len(vs) > 0 {
					n, rs := len(vs), out.room(len(vs))[:len(vs)]
					for i := range vs {
						rs[i] = f(vs[i])
						if atomic.LoadUint32(&g.halt) != 0 {
							n = i + 1
							break
						}
					}
					vs = vs[n:]
					if !out.pass(g, to, n) {
						return false
					}
				}
				return true
			},
		}
	})
}

// MapErr returns f(r) for every record r of s, as Map does. The first error ends the
// stream at its position. The context that f is given ends when nobody wants more: after
// an error, or when the terminal's context ends or its loop is left. MapErr panics if f
// is nil.
func MapErr[T, R any](s Stream[T], f func(context.Context, T) (R, error)) Stream[R] {
	check("MapErr", "function", f == nil)
	return stage(s, func(g *segment, in *scope, to sink[R]) sink[T] {
		var out scratch[R]
		one := func(v T) bool {
			r, err := f(in.ctx, v)
			if err != nil {
				return g.refuse(in, g.run.failed(in, err))
			}
			return to.one(r)
		}
		return sink[T]{one: one, many: func(vs []T) bool {
			ctx := in.ctx
			for len(vs) > 0 {
				n, rs := len(vs), out.room(len(vs))[:len(vs)]
				for i := range vs {
					r, err := f(ctx, vs[i])
					if err != nil {
						g.run.failed(in, err)
						return out.pass(g, to, i) && g.refuse(in, err)
					}
					rs[i] = r
					if atomic.LoadUint32(&g.halt) != 0 {
						n = i + 1
						break
					}
				}
				vs = vs[n:]
				if !out.pass(g, to, n) {
					return false
				}
			}
			return true
		}}
	})
}

// Filter returns the records of s for which f returns true. What Map says of its function
// holds for f. It panics if f is nil.
func Filter[T any](s Stream[T], f func(T) bool) Stream[T] {
	check("Filter", "function", f == nil)
	return stage(s, func(g *segment, _ *scope, to sink[T]) sink[T] {
		var out scratch[T]
		return sink[T]{
			one: func(v T) bool { return !f(v) || to.one(v) },
			many: func(vs []T) bool {
				for len(vs) > 0 {
					n, kept, rs := len(vs), 0, out.room(len(vs))
					for i := range vs {
						if f(vs[i]) {
							rs[kept] = vs[i]
							kept++
						}
						if atomic.LoadUint32(&g.halt) != 0 {
							n = i + 1
							break
						}
					}
					vs = vs[n:]
					if !out.pass(g, to, kept) {
						return false
					}
				}
				return true
			},
		}
	})
}

// scratch is where a stage puts the records that it hands on together.
type scratch[R any] struct {
	items    []R
	pointers bool
}

// room returns n places.
func (s *scratch[R]) room(n int) []R {
	if n > len(s.items) {
		s.items = slices.Grow(s.items, n-len(s.items))[:n]
		s.pointers = hasPointers(reflect.TypeFor[R]())
	}
	return s.items[:n]
}

// pass hands the first n on, and forgets them. It reports whether more are wanted.
func (s *scratch[R]) pass(g *segment, to sink[R], n int) bool {
	if n > 0 && !to.many(s.items[:n]) {
		return false
	}
	if s.pointers {
		clear(s.items[:n])
	}
	return !g.over()
}

package stream

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/stint-go/stint/internal/task"
)

// drive runs s on the caller's goroutine, into the sink that to returns, and returns
// when all of it has ended. inside, if it is not nil, is true while the caller's own
// code runs, whose panics are not ours.
func drive[T any](ctx context.Context, s Stream[T], inside *bool, to func(*segment) sink[T]) error {
	if err := complete(s.branches); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r, g := start(ctx)
	returned := false
	defer func() {
		if returned {
			return
		}
		if inside == nil || !*inside {
			if o := task.Unreturned(recover()); o.Panic != nil { // a Goexit goes on
				r.broken(g.scope, o)
			}
			r.close()
			r.raise()
			return
		}
		r.close()
		if r.panicked != nil { // not lost beside that of the loop body
			if o := task.Unreturned(recover()); o.Panic != nil {
				r.others = append(r.others, o.Panic.Raised(who))
			}
			r.raise()
		}
	}()
	s.flow(g, g.scope, to(g))
	returned = true
	r.close()
	r.raise()
	return r.result()
}

// All returns the records as a sequence to range over, each with a nil error. If the
// stream ends by an error, or because ctx has ended, the last pair is a zero record
// with that error. Each range over it is a run of its own.
//
// The stages after the last boundary run on the goroutine of the loop, in turn with
// its body. Leaving the loop early cancels what runs on others, and waits for it. A
// panic of the loop's body passes through as it is. If the body panics or calls
// runtime.Goexit while a function on another goroutine panics, the *stint.PanicError of
// that is raised in its place, and has the panic of the body in Also. All panics if
// ctx is nil.
func (s Stream[T]) All(ctx context.Context) iter.Seq2[T, error] {
	checkContext("All", ctx)
	return func(yield func(T, error) bool) {
		var inside, left bool
		err := drive(ctx, s, &inside, func(g *segment) sink[T] {
			one := func(v T) bool {
				inside = true
				left = !yield(v, nil)
				inside = false
				if left {
					g.cancel()
				}
				return !left
			}
			return sink[T]{one: one, many: func(vs []T) bool {
				for i := range vs {
					if g.over() || !one(vs[i]) {
						return false
					}
				}
				return true
			}}
		})
		if err != nil && !left {
			var zero T
			yield(zero, err)
		}
	}
}

// Collect runs s and returns its records in a slice, which the caller owns. After an
// error, which it returns too, the slice has the records that came before it. Collect
// panics if ctx is nil.
func Collect[T any](ctx context.Context, s Stream[T]) ([]T, error) {
	checkContext("Collect", ctx)
	var all []T
	err := drive(ctx, s, nil, func(g *segment) sink[T] {
		return sink[T]{
			one:  func(v T) bool { all = append(all, v); return !g.over() },
			many: func(vs []T) bool { all = append(all, vs...); return !g.over() },
		}
	})
	return all, err
}

// Each runs s and calls f for every record, on the caller's goroutine. It stops at the
// first error, of f or of the stream, and returns it. Each panics if ctx or f is nil.
func Each[T any](ctx context.Context, s Stream[T], f func(T) error) error {
	checkContext("Each", ctx)
	check("Each", "function", f == nil)
	return drive(ctx, s, nil, func(g *segment) sink[T] {
		return sink[T]{
			one: func(v T) bool {
				if err := f(v); err != nil {
					return g.refuse(g.scope, g.run.failed(g.scope, err))
				}
				return !g.over()
			},
			many: func(vs []T) bool {
				for i := range vs {
					if err := f(vs[i]); err != nil {
						return g.refuse(g.scope, g.run.failed(g.scope, err))
					}
					if atomic.LoadUint32(&g.halt)&over != 0 {
						return false
					}
				}
				return true
			},
		}
	})
}

// Reduce runs s and returns f(... f(f(zero, r1), r2) ..., rn) for its records, computed on
// the caller's goroutine. After an error, which it returns too, that is the value of the
// records that came before it. zero is used as it is: if it is a map, each run adds to it.
// Reduce panics if ctx or f is nil.
func Reduce[T, A any](ctx context.Context, s Stream[T], zero A, f func(A, T) A) (A, error) {
	checkContext("Reduce", ctx)
	check("Reduce", "function", f == nil)
	sum := zero
	err := drive(ctx, s, nil, func(g *segment) sink[T] {
		return sink[T]{
			one: func(v T) bool { sum = f(sum, v); return !g.over() },
			many: func(vs []T) bool {
				s := sum // on the stack
				for i := range vs {
					s = f(s, vs[i])
					if atomic.LoadUint32(&g.halt)&over != 0 {
						break
					}
				}
				sum = s
				return !g.over()
			},
		}
	})
	return sum, err
}

package stream

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/stint-go/stint/internal/task"
)

// execute runs s on the caller's goroutine, into the sink that to returns, and returns when
// all of the run has finished. If inBody is not nil, it is true while the body of the
// caller's loop runs; panics of the body pass through.
func execute[T any](ctx context.Context, s Stream[T], inBody *bool, to func(*chain) sink[T]) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r := newRun(ctx)
	c := r.last
	returned := false
	defer func() {
		if returned {
			return
		}
		if inBody == nil || !*inBody {
			if o := task.Unreturned(recover()); o.Panic != nil { // a Goexit continues
				c.unreturned(o)
			}
			r.close()
			r.failures.Raise()
			return
		}
		r.close()
		c.passing.End(nil)
		if r.failures.Panicked() { // the panic of the body goes into its Also
			r.failures.RaiseBeside(task.Unreturned(recover()), who)
		}
	}()
	s.flow(c, c.lifetime, to(c))
	returned = true
	r.close()
	return r.result()
}

// All returns the records as a sequence to range over, each with a nil error. If the stream
// ends with an error, or because ctx has ended, the last pair is a zero record and the error,
// or the cause of ctx. Every range over the sequence is a run of its own.
//
// The stages after the last boundary run on the goroutine of the loop, alternating with its
// body. Leaving the loop early cancels the other goroutines and waits for them. A panic of the
// loop body passes through as it is. But if a function on another goroutine panics too, All
// panics with the *stint.PanicError of that function, also after runtime.Goexit in the body.
// Its Also has the panic of the body. All panics if ctx is nil.
func (s Stream[T]) All(ctx context.Context) iter.Seq2[T, error] {
	check("All", "context", ctx == nil)
	return func(yield func(T, error) bool) {
		var inBody, left bool
		err := execute(ctx, s, &inBody, func(c *chain) sink[T] {
			return oneByOne(c.lifetime, func(v T) bool {
				inBody = true
				left = !yield(v, nil)
				inBody = false
				if left {
					c.cancel()
				}
				return !left
			})
		})
		if err != nil && !left {
			var zero T
			yield(zero, err)
		}
	}
}

// Collect runs s and returns its records in a slice, which the caller owns. After an
// error, the slice has the records before it. Collect panics if ctx is nil.
func Collect[T any](ctx context.Context, s Stream[T]) ([]T, error) {
	check("Collect", "context", ctx == nil)
	var all []T
	err := execute(ctx, s, nil, func(*chain) sink[T] {
		return sink[T]{
			one:  func(v T) bool { all = append(all, v); return true },
			many: func(vs []T) bool { all = append(all, vs...); return true },
		}
	})
	return all, err
}

// Each runs s and calls f for every record, on the caller's goroutine. It returns the first
// error, of f or of the stream, and calls f for no further record. Each panics if ctx or f is
// nil.
func Each[T any](ctx context.Context, s Stream[T], f func(T) error) error {
	check("Each", "context", ctx == nil)
	check("Each", "function", f == nil)
	return execute(ctx, s, nil, func(c *chain) sink[T] {
		return oneByOne(c.lifetime, func(v T) bool {
			err := f(v)
			return err == nil || c.failIn(c.lifetime, c.run.recordError(c.lifetime, err))
		})
	})
}

// Reduce runs s and returns f(... f(f(zero, r1), r2) ..., rn) for its records, computed on the
// caller's goroutine. After an error, it returns the value for the records before the error,
// and the error. Reduce does not copy zero: if zero is a map, each run adds to it. Reduce
// panics if ctx or f is nil.
func Reduce[T, A any](ctx context.Context, s Stream[T], zero A, f func(A, T) A) (A, error) {
	check("Reduce", "context", ctx == nil)
	check("Reduce", "function", f == nil)
	sum := zero
	err := execute(ctx, s, nil, func(c *chain) sink[T] {
		return sink[T]{
			one: func(v T) bool { sum = f(sum, v); return true },
			many: func(vs []T) bool {
				s := sum // on the stack
				for i := range vs {
					if atomic.LoadUint32(&c.ticked) != 0 && c.ended() {
						sum = s
						return false
					}
					s = f(s, vs[i])
				}
				sum = s
				return true
			},
		}
	})
	return sum, err
}

// Package interrupt lets a caller stop waiting for calls that have no context:
// reading a pipe or a terminal, or opening a file on a file server. Such a call
// cannot be cancelled. When the context ends first, its goroutine is left to the end
// of the process, and the caller must not use again what the call was given.
package interrupt

import (
	"context"
	"io"
	"iter"
)

// result is the result of one call.
type result[T any] struct {
	v   T
	err error
}

// Call returns what f returns, or the cause of ctx if ctx ends first.
func Call[T any](ctx context.Context, f func() (T, error)) (T, error) {
	done := make(chan result[T], 1) // buffered, so that an abandoned call can return
	go func() {
		v, err := f()
		done <- result[T]{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// Seq yields what seq yields, and the cause of ctx if ctx ends before seq does. It
// starts one goroutine for the whole sequence. The caller must end ctx if it leaves
// the loop early.
func Seq[T any](ctx context.Context, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ready := make(chan result[T], 64)
		complete := false // seq ended by itself; read after ready is closed
		go func() {
			defer close(ready)
			for v, err := range seq {
				select {
				case ready <- result[T]{v, err}:
				case <-ctx.Done():
					return
				}
			}
			complete = true
		}()
		for {
			select {
			case r, ok := <-ready:
				if ok && yield(r.v, r.err) {
					continue
				}
				if ok || complete {
					return
				}
			case <-ctx.Done():
			}
			var zero T
			yield(zero, context.Cause(ctx))
			return
		}
	}
}

// reader is an interruptible reader.
type reader struct {
	ctx context.Context // of the one run that the reader is made for
	r   io.Reader
}

// NewReader returns a reader of r that fails when ctx ends. After that, neither r nor
// the buffer of the last Read may be used.
func NewReader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

func (r *reader) Read(b []byte) (int, error) {
	return Call(r.ctx, func() (int, error) { return r.r.Read(b) })
}

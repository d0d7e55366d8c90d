package main

import (
	"context"
	"io"
	"iter"
	"os"
)

// outcome is what a call returns.
type outcome[T any] struct {
	v   T
	err error
}

// patiently calls f, which may block for as long as somebody else likes: the
// other end of a pipe, a person at a terminal, a server of files. Nothing can take such
// a call back, so when ctx ends first its goroutine is left behind for the end of the
// process, and what it was given must not be used again.
func patiently[T any](ctx context.Context, f func() (T, error)) (T, error) {
	done := make(chan outcome[T], 1) // so that an abandoned call can still end
	go func() {
		v, err := f()
		done <- outcome[T]{v, err}
	}()
	select {
	case o := <-done:
		return o.v, o.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// patientSeq yields what seq yields until ctx ends, and then the cause. It is patiently
// for many calls at the price of one: seq is left behind as a whole. ctx has to end.
func patientSeq[T any](ctx context.Context, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ready := make(chan outcome[T], 64)
		whole := false // seq was not left before its end; read when ready is closed
		go func() {
			defer close(ready)
			for v, err := range seq {
				select {
				case ready <- outcome[T]{v, err}:
				case <-ctx.Done():
					return
				}
			}
			whole = true
		}()
		for {
			select {
			case o, ok := <-ready:
				if ok && yield(o.v, o.err) {
					continue
				}
				if ok || whole {
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

// patientReader reads from r until ctx ends. After that neither r nor the
// buffer of the last Read may be used.
type patientReader struct {
	ctx context.Context // of the one run that the reader is made for
	r   io.Reader
}

func (p *patientReader) Read(b []byte) (int, error) {
	return patiently(p.ctx, func() (int, error) { return p.r.Read(b) })
}

// openAny opens a file whatever it is, which may wait, as for the other end of a named pipe.
func openAny(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

package main

import (
	"context"
	"io"
	"os"
)

// patiently calls f, which may block for as long as somebody else likes: the
// other end of a pipe, or a person at a terminal. Nothing can take such a call
// back, so when ctx ends first its goroutine is left behind for the end of the
// process, and what it was given must not be used again.
func patiently[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1) // so that an abandoned call can still end
	go func() {
		v, err := f()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.v, o.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
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

// openPatiently opens a file whose open may block, as a named pipe's does until
// somebody writes to it.
func openPatiently(ctx context.Context, path string) (*os.File, error) {
	return patiently(ctx, func() (*os.File, error) { return os.Open(path) })
}

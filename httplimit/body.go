package httplimit

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
)

// A permit is that of one request.
type permit struct {
	limit.Admission
	failed   atomic.Bool // how the request is counted
	ended    atomic.Bool // nothing that comes later changes that
	released sync.Once
	stop     func() bool // the watch of the request's context
}

// release returns the permit, unless it has been returned. If another goroutine is about to
// return it, release waits for that: after Close of the body the permit is free.
func (p *permit) release() {
	p.released.Do(func() { p.Release(p.failed.Load()) })
}

// abandon releases the permit of a body that was not read to its end or closed in time. It is
// called on a goroutine of its own, so no function of the user is.
func (p *permit) abandon() {
	if !p.ended.Swap(true) {
		p.failed.Store(true)
	}
	p.release()
}

// end releases the permit, and ends the watch of the context. err is the error that broke the
// body off, or nil. Failed calls a function of the user, which may panic, or close the body.
func (p *permit) end(err error) {
	defer p.release()
	p.stop()
	if !p.ended.Swap(true) && err != nil {
		p.failed.Store(true)
		p.Failed(err)
	}
}

// A closeWriter is what package httputil looks for in a connection.
type closeWriter interface{ CloseWrite() error }

// body returns b, which ends with the permit. It has the methods of b that those who know
// package http may look for: after 101 Switching Protocols, Write and CloseWrite.
func (p *permit) body(b io.ReadCloser) io.ReadCloser {
	read := &body{b, p}
	w, writes := b.(io.Writer)
	c, closes := b.(closeWriter)
	switch {
	case writes && closes:
		return struct {
			*body
			io.Writer
			closeWriter
		}{read, w, c}
	case writes:
		return struct {
			*body
			io.Writer
		}{read, w}
	}
	return read
}

// A body is that of a response.
type body struct {
	io.ReadCloser
	permit *permit
}

// Read reads, and releases the permit at the end or after an error.
func (b *body) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	switch err {
	case nil:
	case io.EOF:
		b.permit.end(nil)
	default:
		b.permit.end(err)
	}
	return n, err
}

// Close closes the body and releases the permit.
func (b *body) Close() error {
	defer b.permit.end(nil)
	return b.ReadCloser.Close()
}

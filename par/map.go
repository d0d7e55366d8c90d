package par

import (
	"context"

	"github.com/stint-go/stint/internal/loop"
)

// Map returns the results of f for every element, in the order of s. The slice is
// the caller's; an empty one is not nil. Map does not keep s.
//
// It panics if f is nil, and with a *PanicError if f does.
func Map[T, R any](s []T, f func(T) R) []R {
	check("Map", "f", f == nil)
	out := make([]R, len(s))
	at := start{n: len(s), code: code(f)}
	at.begin(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = f(s[i])
		}
	})
	if at.more() {
		c := &mapCall[T, R]{s: s, f: f, out: out}
		c.run(c, at)
	}
	return out
}

// A mapCall is one call of Map.
type mapCall[T, R any] struct {
	s   []T
	f   func(T) R
	out []R // each has one writer
	calls
}

func (c *mapCall[T, R]) Calls(_ context.Context, p *loop.Span) error {
	f, s, out := c.f, c.s, c.out
	for lo, hi := p.At, p.At+1; lo < hi; lo, hi = hi, p.Some(hi) {
		for i := lo; i < hi; i++ {
			out[i] = f(s[i])
		}
	}
	return nil
}

package par

import (
	"context"

	"github.com/stint-go/stint/internal/loop"
)

// Map calls f concurrently for every element, and returns the results in the order of s.
// The result is not nil.
//
// Map panics if f is nil, and with a *stint.PanicError if f panics.
func Map[T, R any](s []T, f func(T) R) []R {
	check("Map", "f", f == nil)
	out := make([]R, len(s))
	at := start{n: len(s)}
	at.begin(func(lo, hi int) { convert(out[lo:hi], s[lo:hi], f) })
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
	out []R // each element has one writer
	calls
}

func (c *mapCall[T, R]) Calls(_ context.Context, p *loop.Batch) error {
	f, s, out := c.f, c.s, c.out
	for lo, hi := p.First(); lo < hi; lo, hi = hi, p.Some(hi) {
		convert(out[lo:hi], s[lo:hi], f)
	}
	return nil
}

// convert sets out[i] to f(s[i]) for every i, in fours, as visit does.
func convert[T, R any](out []R, s []T, f func(T) R) {
	for ; len(s) >= 4 && len(out) >= 4; out, s = out[4:], s[4:] {
		out[0] = f(s[0])
		out[1] = f(s[1])
		out[2] = f(s[2])
		out[3] = f(s[3])
	}
	for i := range s {
		out[i] = f(s[i])
	}
}

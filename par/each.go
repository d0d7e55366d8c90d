package par

import (
	"context"

	"github.com/stint-go/stint/internal/loop"
)

// Each calls f with the address of every element, and returns when all calls have
// returned. f may change the element. Each does not keep s.
//
// It panics if f is nil, and with a *PanicError if f does.
func Each[T any](s []T, f func(*T)) {
	check("Each", "f", f == nil)
	at := start{n: len(s), code: code(f)}
	at.begin(func(lo, hi int) {
		for i, s := 0, s[lo:hi]; i < len(s); i++ {
			f(&s[i])
		}
	})
	if at.more() {
		c := &eachCall[T]{s: s, f: f}
		c.run(c, at)
	}
}

// An eachCall is one call of Each.
type eachCall[T any] struct {
	s []T
	f func(*T)
	calls
}

func (c *eachCall[T]) Calls(_ context.Context, p *loop.Span) error {
	f, s := c.f, c.s
	for lo, hi := p.At, p.At+1; lo < hi; lo, hi = hi, p.Some(hi) {
		for i, s := 0, s[lo:hi]; i < len(s); i++ {
			f(&s[i])
		}
	}
	return nil
}

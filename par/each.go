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
	at.begin(func(lo, hi int) { visit(s[lo:hi], f) })
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
	for lo, hi := p.First(); lo < hi; lo, hi = hi, p.Some(hi) {
		visit(s[lo:hi], f)
	}
	return nil
}

// visit calls f for each element of s, by fours: what a loop counts in goes through
// memory at each call, which takes longer than the call of a function of some
// instructions.
func visit[T any](s []T, f func(*T)) {
	for ; len(s) >= 4; s = s[4:] {
		f(&s[0])
		f(&s[1])
		f(&s[2])
		f(&s[3])
	}
	for i := range s {
		f(&s[i])
	}
}

package par

import (
	"context"

	"github.com/stint-go/stint/internal/loop"
)

// Each calls f concurrently with the address of every element, and returns when all calls
// have returned. f may change the element.
//
// Each panics if f is nil, and with a *stint.PanicError if f panics.
func Each[T any](s []T, f func(*T)) {
	check("Each", "f", f == nil)
	at := start{n: len(s)}
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

func (c *eachCall[T]) Calls(_ context.Context, p *loop.Batch) error {
	f, s := c.f, c.s
	for lo, hi := p.First(); lo < hi; lo, hi = hi, p.Some(hi) {
		visit(s[lo:hi], f)
	}
	return nil
}

// visit calls f for each element of s, in fours: the counter of a loop is stored in memory
// during each call, which takes longer than a call of a few instructions.
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

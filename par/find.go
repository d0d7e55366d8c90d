package par

import (
	"context"
	"sync/atomic"

	"github.com/stint-go/stint/internal/loop"
)

// Find returns the lowest index of an element for which f is true, or -1 if there
// is none: what slices.IndexFunc returns. f is called for all elements before that
// one, and may be called for elements after it.
//
// Find panics if f is nil. If f panics, Find does so with a *PanicError, even when
// that was for an element after the one that would have been found.
func Find[T any](s []T, f func(T) bool) int {
	check("Find", "f", f == nil)
	found := -1
	at := start{n: len(s), code: code(f)}
	at.begin(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if f(s[i]) {
				found, at.n = i, 0
				return
			}
		}
	})
	if !at.more() {
		return found
	}
	c := &findCall[T]{s: s, f: f}
	c.lowest.Store(int64(len(s)))
	c.run(c, at)
	if i := int(c.lowest.Load()); i < len(s) {
		return i
	}
	return -1
}

// A findCall is one call of Find.
type findCall[T any] struct {
	s      []T
	f      func(T) bool
	lowest atomic.Int64 // of the elements found; their number as long as there is none
	calls
}

func (c *findCall[T]) Calls(_ context.Context, p *loop.Span) error {
	f, s := c.f, c.s
	for lo, hi := p.At, p.At+1; lo < hi; lo, hi = hi, p.Some(hi) {
		if int64(lo) > c.lowest.Load() {
			p.All() // none of these can be the lowest
			break
		}
		for i := lo; i < hi; i++ {
			if f(s[i]) {
				c.found(i)
				break
			}
		}
	}
	return nil
}

// found notes that f is true for i. What nobody has claimed yet comes after i.
func (c *findCall[T]) found(i int) {
	for old := c.lowest.Load(); int64(i) < old; old = c.lowest.Load() {
		if c.lowest.CompareAndSwap(old, int64(i)) {
			c.loop.Cut()
			return
		}
	}
}

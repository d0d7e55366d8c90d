package par

import (
	"context"
	"sync/atomic"

	"github.com/stint-go/stint/internal/loop"
)

// Find returns the lowest index of an element for which f returns true, or -1 if there is
// none, as slices.IndexFunc does. f is called concurrently, for all elements before that
// index and perhaps for elements after it.
//
// Find panics if f is nil, and with a *stint.PanicError if f panics, even for an element after
// the one that would have been found.
func Find[T any](s []T, f func(T) bool) int {
	check("Find", "f", f == nil)
	found := -1
	at := start{n: len(s), order: true}
	at.begin(func(lo, hi int) {
		if i := search(s[lo:hi], f); i >= 0 {
			found, at.n = lo+i, 0
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
	lowest atomic.Int64 // the lowest index found; len(s) if there is none
	calls
}

func (c *findCall[T]) Calls(_ context.Context, p *loop.Batch) error {
	f, s := c.f, c.s
	for lo, hi := p.First(); lo < hi; lo, hi = hi, p.Some(hi) {
		if int64(lo) > c.lowest.Load() {
			p.All() // none of these can be the lowest
			break
		}
		if i := search(s[lo:hi], f); i >= 0 {
			c.found(lo + i)
		}
	}
	return nil
}

// search returns the lowest index of an element for which f returns true, or -1. It
// proceeds in fours, as visit does.
func search[T any](s []T, f func(T) bool) int {
	at := 0
	for ; len(s) >= 4; s, at = s[4:], at+4 {
		switch {
		case f(s[0]):
			return at
		case f(s[1]):
			return at + 1
		case f(s[2]):
			return at + 2
		case f(s[3]):
			return at + 3
		}
	}
	for i, v := range s {
		if f(v) {
			return at + i
		}
	}
	return -1
}

// found records that f is true for i. Unclaimed indexes are higher than i.
func (c *findCall[T]) found(i int) {
	for old := c.lowest.Load(); int64(i) < old; old = c.lowest.Load() {
		if c.lowest.CompareAndSwap(old, int64(i)) {
			c.loop.Cut()
			return
		}
	}
}

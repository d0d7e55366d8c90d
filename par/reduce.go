package par

import (
	"context"

	"github.com/stint-go/stint/internal/loop"
)

// blocks is the most parts that Reduce makes of a slice.
const blocks = 1024

// Reduce returns one result of all elements: fold takes them in, one after the
// other, beginning with what zero returns, and merge puts two results together, the
// one of the lower indexes first. The result of an empty slice is zero().
//
// The slice is cut into blocks of n/1024 elements, rounded up, of which the last
// may be shorter. Each is folded from left to right; neighbours are merged in
// pairs, and those again, until one is left. So which calls are made follows from
// len(s) alone: sums of floating-point numbers come out the same to the last bit
// for every GOMAXPROCS and every schedule, though not the same as in a loop from
// left to right. If fold and merge do not round, and merge is associative and
// zero() neutral to it, the result is that of the loop.
//
// zero is called for each block, and must return a result of its own each time.
// fold and merge may change their first argument and return it. Blocks of few
// elements cost a call of zero and of merge each, so up to some ten thousand
// elements that take nanoseconds a loop is faster. So it is where a result grows with
// its elements, as a map of as many keys or a slice that is appended to: up to 1,024
// of them are built and merged. A part of s for each processor, and Map over these,
// is better then. Reduce allocates a slice of one result a block, 1,024 at most. It panics if
// a function is nil, and with a *PanicError if one of them panics.
//
// The fixed shape is what oneTBB calls parallel_deterministic_reduce.
func Reduce[T, A any](s []T, zero func() A, fold func(A, T) A, merge func(A, A) A) A {
	check("Reduce", "zero", zero == nil)
	check("Reduce", "fold", fold == nil)
	check("Reduce", "merge", merge == nil)
	parts := make([]A, countBlocks(len(s)))
	of := uint64(0) // the cost of a block is not that of an element
	if len(s) <= blocks {
		of = code(fold)
	}
	indexes(len(parts), of, func(b int) {
		a := zero()
		lo, hi := block(b, len(s))
		for _, v := range s[lo:hi] {
			a = fold(a, v)
		}
		parts[b] = a
	})
	for step := 1; step < len(parts); step *= 2 { // from one of a pair to the other
		indexes((len(parts)-1+step)/(2*step), code(merge), func(i int) {
			first, second := &parts[2*step*i], &parts[2*step*i+step]
			*first = merge(*first, *second)
		})
	}
	return parts[0]
}

// countBlocks returns how many blocks n elements have: one if there are none, too.
func countBlocks(n int) int { return max(0, n-1)/blockSize(n) + 1 }

// blockSize returns how many elements a block of n has, the last perhaps less.
func blockSize(n int) int { return max(0, n-1)/blocks + 1 }

// block returns the indexes of block b of n elements, from lo to hi-1. All blocks of the
// full size may have more than an int holds.
func block(b, n int) (lo, hi int) {
	size := blockSize(n)
	lo = b * size
	return lo, lo + min(size, n-lo)
}

// indexes calls f for each index from 0 to n-1. The cost of f is that of the
// function whose code is given.
func indexes(n int, code uint64, f func(i int)) {
	at := start{n: n, code: code}
	at.begin(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
	if at.more() {
		c := &indexCall{f: f}
		c.run(c, at)
	}
}

// An indexCall is one call of indexes.
type indexCall struct {
	f func(i int)
	calls
}

func (c *indexCall) Calls(_ context.Context, p *loop.Span) error {
	for i, ok := p.At, true; ok; ok = p.Begin(i) {
		c.f(i)
		i++
	}
	return nil
}

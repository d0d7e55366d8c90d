package sort

import (
	"cmp"
	"fmt"
	"math/rand/v2"
)

// A generator returns a slice of n elements.
type generator[E any] func(r *rand.Rand, n int) []E

// made returns elements made from their index.
func made[E any](element func(r *rand.Rand, i, n int) E) generator[E] {
	return func(r *rand.Rand, n int) []E {
		out := make([]E, n)
		for i := range out {
			out[i] = element(r, i, n)
		}
		return out
	}
}

// The kinds of elements in random order.
var (
	ints    = made(func(r *rand.Rand, _, _ int) int { return r.Int() })
	floats  = made(func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() })
	strings = made(func(r *rand.Rand, _, _ int) string { return fmt.Sprintf("key-%016x", r.Uint64()) }) // the first bytes are always the same
	some    = made(func(r *rand.Rand, _, n int) int { return r.IntN(n) })                               // some are equal
	perm    = func(r *rand.Rand, n int) []int { return r.Perm(n) }
)

// The orders that occur in practice. They can be sorted faster if the sort
// detects them.
var (
	sorted   = made(func(_ *rand.Rand, i, _ int) int { return i })
	reversed = made(func(_ *rand.Rand, i, n int) int { return n - i })
	sixteen  = made(func(r *rand.Rand, _, _ int) int { return r.IntN(16) })
	swapped  = func(r *rand.Rand, n int) []int { // up to one element in a hundred with another
		s := sorted(r, n)
		for range (n + 99) / 100 {
			i, j := r.IntN(n), r.IntN(n)
			s[i], s[j] = s[j], s[i]
		}
		return s
	}
)

// A record is a key with more data.
type record struct {
	key   int
	index int // in the input, so that equal keys show their order
	_     [2]uint64
}

func byKey(a, b record) int { return cmp.Compare(a.key, b.key) }

// keyed returns records with generated keys.
func keyed(keys generator[int]) generator[record] {
	return func(r *rand.Rand, n int) (out []record) {
		for i, key := range keys(r, n) {
			out = append(out, record{key: key, index: i})
		}
		return out
	}
}

package sort

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/rand/v2"
)

// An element is a type to sort.
type element[E any] struct {
	name string
	cmp  func(a, b E) int
	hash func(e E) uint64

	// before reports whether a was before b in the input, for equal elements;
	// nil if these cannot be distinguished.
	before func(a, b E) bool
}

// A record is a key with more data.
type record struct {
	key   int
	index int // in the input
	more  [2]uint64
}

func byKey(a, b record) int { return cmp.Compare(a.key, b.key) }

var (
	ints    = element[int]{name: "ints", cmp: cmp.Compare[int], hash: func(e int) uint64 { return mix(uint64(e)) }}
	floats  = element[float64]{name: "floats", cmp: cmp.Compare[float64], hash: func(e float64) uint64 { return mix(math.Float64bits(e)) }}
	strs    = element[string]{name: "strings", cmp: cmp.Compare[string], hash: func(e string) uint64 { return maphash.String(seed, e) }}
	records = element[record]{
		name: "structs", cmp: byKey,
		hash:   func(e record) uint64 { return mix(mix(uint64(e.key))+uint64(e.index)) ^ mix(e.more[0]+3*e.more[1]) },
		before: func(a, b record) bool { return a.index < b.index },
	}
)

var seed = maphash.MakeSeed()

// mix spreads the bits of x, so that the sum of the results identifies the set
// of numbers.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A generator returns a slice of n elements.
type generator[E any] func(r *rand.Rand, n int) []E

// draw returns random elements.
func draw[E any](next func(r *rand.Rand) E) generator[E] {
	return func(r *rand.Rand, n int) []E { return made(n, func(int) E { return next(r) }) }
}

// keyed returns records with generated keys.
func keyed(keys generator[int]) generator[record] {
	return func(r *rand.Rand, n int) []record { return recordsOf(keys(r, n)) }
}

func recordsOf(keys []int) []record {
	return made(len(keys), func(i int) record {
		return record{keys[i], i, [2]uint64{uint64(i), uint64(keys[i])}}
	})
}

func made[E any](n int, at func(i int) E) []E {
	out := make([]E, n)
	for i := range out {
		out[i] = at(i)
	}
	return out
}

package par

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// naive is the tree of Reduce as its comment has it, built level by level.
func naive[T, A any](s []T, zero func() A, fold func(A, T) A, merge func(A, A) A) A {
	var level []A
	for block := range slices.Chunk(s, (len(s)+1023)/1024) {
		a := zero()
		for _, v := range block {
			a = fold(a, v)
		}
		level = append(level, a)
	}
	for len(level) > 1 {
		var next []A
		for pair := range slices.Chunk(level, 2) {
			if len(pair) == 2 {
				pair[0] = merge(pair[0], pair[1])
			}
			next = append(next, pair[0])
		}
		level = next
	}
	return level[0]
}

// A sum of floats has the same bits for every number of CPUs and schedule: those of the tree
// that the comment describes.
func TestReduceIsTheSameToTheLastBit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	zero := func() float64 { return 0 }
	add := func(a, b float64) float64 { return a + b }
	for _, n := range []int{1, 2, 3, 5, 100, 1023, 1024, 1025, 2047, 100_003} {
		s := make([]float64, n)
		for i := range s {
			s[i] = r.NormFloat64() * float64(uint64(1)<<r.IntN(60))
		}
		want := naive(s, zero, add, add)
		for round := range 48 {
			p := 1 + round%16
			procs(t, p)
			slow := s[r.IntN(n)]
			got := Reduce(s, zero, func(a, b float64) float64 {
				if b == slow {
					time.Sleep(5 * time.Microsecond)
				}
				return a + b
			}, add)
			if math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("n = %d on %d processors: %x, want %x", n, p, got, want)
			}
		}
	}
}

// Blocks follow each other, up to the longest slice.
func TestBlocks(t *testing.T) {
	for _, n := range []int{0, 1, maxBlocks, maxBlocks + 1, math.MaxInt - 1, math.MaxInt} {
		next := 0
		for b := range countBlocks(n) {
			lo, hi := block(b, n)
			if lo != next || hi < lo || hi == lo && n > 0 {
				t.Fatalf("block %d of %d elements is %d to %d, after %d", b, n, lo, hi, next)
			}
			next = hi
		}
		if next != n {
			t.Errorf("the blocks of %d elements end at %d", n, next)
		}
	}
}

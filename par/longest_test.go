package par

import (
	"math"
	"sync/atomic"
	"testing"
)

// Slices of elements of no size may have any length.
func TestLongestSlices(t *testing.T) {
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

// Find ends as soon as it has found one, however many elements there are.
func TestFindInALongestSlice(t *testing.T) {
	s := make([]struct{}, math.MaxInt)
	for _, p := range []int{1, 2, 8} {
		procs(t, p)
		for range 200 {
			var calls atomic.Int64
			if i := Find(s, func(struct{}) bool { return calls.Add(1) > 5000 }); i < 0 || int64(i) >= calls.Load() {
				t.Fatalf("GOMAXPROCS %d: found %d after %d calls", p, i, calls.Load())
			}
		}
	}
}

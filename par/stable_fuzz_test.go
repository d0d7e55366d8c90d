package par

import (
	"cmp"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

// FuzzSortStableFunc sorts elements of a pattern that the bytes give, and compares
// with slices.SortStableFunc. The first two bytes are the length and GOMAXPROCS,
// the third at how many calls cmp panics, 0 for never; the others are the keys,
// each for as many elements as the fourth says.
func FuzzSortStableFunc(f *testing.F) {
	f.Add([]byte{1, 1, 0, 1, 3, 1, 2})
	f.Add([]byte{3, 2, 0, 200, 3, 1, 2, 0, 9})        // runs of equal elements
	f.Add([]byte{255, 4, 0, 1, 9, 8, 7, 1, 2, 3, 3})  // short runs up and down
	f.Add([]byte{255, 2, 77, 255, 0, 1, 0, 1})        // a panic in a merge by pieces
	f.Add([]byte{200, 8, 3, 0, 5, 250, 100, 17, 130}) // a panic in a leaf
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 5 {
			t.Skip()
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(int(in[1]%8) + 1))
		n, each, keys := int(in[0])*int(in[0]), int(in[3])+1, in[4:]
		before := make([]stableRecord, n)
		for i := range before {
			before[i] = stableRecord{key: int(keys[i/each%len(keys)]) + i/each/len(keys)*int(keys[0]%3), tag: i}
		}
		s := slices.Clone(before)
		var calls atomic.Int64
		end := int64(in[2]) * int64(in[2]) * int64(in[2]) / 10
		if panicked := stablePanics(func() {
			SortStableFunc(s, func(a, b stableRecord) int {
				if calls.Add(1) == end {
					panic("stop")
				}
				return cmp.Compare(a.key, b.key)
			})
		}); panicked {
			stableWhole(t, s, before)
			return
		}
		slices.SortStableFunc(before, stableCompare)
		if !slices.Equal(s, before) {
			t.Error("not the result of slices.SortStableFunc")
		}
	})
}

func stablePanics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

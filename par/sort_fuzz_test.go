package par

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// FuzzSort sorts the words in data as integers, floats and strings. Each is repeated, up to
// more than what one goroutine sorts.
func FuzzSort(f *testing.F) {
	f.Add(uint8(0), []byte{3, 1, 2})
	f.Add(uint8(255), []byte{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add(uint8(40), []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xf0, 0xff})
	f.Fuzz(func(t *testing.T, repeats uint8, data []byte) {
		if len(data) > 400 {
			t.Skip()
		}
		var words []int
		for i := range data {
			var word [8]byte
			copy(word[:], data[i:])
			for j := range 1 + int(repeats) {
				words = append(words, int(binary.LittleEndian.Uint64(word[:]))*(j%7+1))
			}
		}
		asSlicesSort(t, words, func(w int) int32 { return int32(w) })
		asSlicesSort(t, words, func(w int) float64 { return math.Float64frombits(uint64(w)) })
		asSlicesSort(t, words, func(w int) string { return strconv.Itoa(w % 1000) })
	})
}

// FuzzSortFuncs sorts elements of an order that the bytes give. The first two bytes are the
// length and GOMAXPROCS, the third at how many calls cmp panics, 0 for never; the others are
// the keys, each for as many elements as the fourth says. A cmp that answers wrongly keeps
// the elements.
func FuzzSortFuncs(f *testing.F) {
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
		before := make([]record, n)
		for i := range before {
			before[i] = record{key: int(keys[i/each%len(keys)]) + i/each/len(keys)*int(keys[0]%3), tag: i}
		}
		checkSorts(t, before)
		end := max(1, int64(in[2])*int64(in[2])*int64(in[2])/10)
		for name, sort := range sorts {
			interrupted(t, name, before, end, end, stop)
			s := slices.Clone(before)
			sort(s, func(a, b record) int { return byKey(a, b) ^ a.tag*b.tag&int(in[3]) })
			whole(t, s, before)
		}
	})
}

package par_test

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stint-go/stint/par"
)

// FuzzSort sorts the bytes as integers, floats and strings. The first byte says how
// often they are repeated, up to more than what one goroutine sorts.
func FuzzSort(f *testing.F) {
	f.Add([]byte{0, 3, 1, 2})
	f.Add([]byte{255, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{40, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xf0, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 2 || len(data) > 400 {
			t.Skip()
		}
		data, repeats := data[1:], int(data[0])
		var ints []int32
		var floats []float64
		var texts []string
		for i := range data {
			var word [8]byte
			copy(word[:], data[i:])
			bits := binary.LittleEndian.Uint64(word[:])
			for j := range 1 + repeats {
				ints = append(ints, int32(bits)*int32(j%7+1))
				floats = append(floats, math.Float64frombits(bits)*float64(j%5))
				texts = append(texts, string(data[min(i, j):i]))
			}
		}
		sameAsSlicesSort(t, ints)
		sameAsSlicesSort(t, floats)
		sameAsSlicesSort(t, texts)
	})
}

func sameAsSlicesSort[E cmp.Ordered](t *testing.T, v []E) {
	want := slices.Clone(v)
	slices.Sort(want)
	par.Sort(v)
	if slices.CompareFunc(v, want, cmp.Compare[E]) != 0 {
		t.Fatalf("%v, want %v", v, want)
	}
}

// FuzzSortFunc sorts the bytes by some of their bits, and with a cmp that may answer
// wrongly, and panic: the elements stay the same.
func FuzzSortFunc(f *testing.F) {
	f.Add(uint8(0), uint8(0xff), uint16(0), []byte{3, 1, 2})
	f.Add(uint8(3), uint8(0x03), uint16(500), []byte{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 255, 254})
	f.Add(uint8(255), uint8(0), uint16(9), []byte("the elements stay the same"))
	f.Fuzz(func(t *testing.T, repeats, mask uint8, end uint16, data []byte) {
		if len(data) > 400 {
			t.Skip()
		}
		var keys []int
		for range 1 + int(repeats) {
			for i, b := range data {
				keys = append(keys, int(b&mask)<<8+i*int(mask>>7))
			}
		}
		rs := sortRecords(keys)
		par.SortFunc(rs, bySortKey)
		if !slices.IsSortedFunc(rs, bySortKey) {
			t.Fatal("not sorted")
		}
		samePermutation(t, rs, keys)

		rs = sortRecords(keys)
		func() {
			defer func() { recover() }()
			par.SortFunc(rs, atCompare(int64(end), func() { panic("end") }))
		}()
		samePermutation(t, rs, keys)

		rs = sortRecords(keys)
		par.SortFunc(rs, func(a, b sortRecord) int { return bySortKey(a, b) ^ int(a.id*b.id)&int(mask) })
		samePermutation(t, rs, keys)
	})
}

package par_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"testing"

	"github.com/stint-go/stint/par"
)

// sortLengths are the lengths around those at which Sort and SortFunc change what
// they do.
var sortLengths = []int{
	0, 1, 2, 3, 11, 12, 13, 14, 24, 25, 63, 64, 65, 127, 128, 129, 130, 143, 144, 200, 511, 512, 513,
	1023, 1024, 1025, 4096, 5000, 8191, 8192, 8193, 32767, 32768, 32769, 65537,
}

// sortShapes are the orders in which the elements may come, as keys from 0 to n.
var sortShapes = map[string]func(r *rand.Rand, i, n int) int{
	"random":     func(r *rand.Rand, i, n int) int { return r.IntN(n + 1) },
	"sorted":     func(r *rand.Rand, i, n int) int { return i },
	"reversed":   func(r *rand.Rand, i, n int) int { return n - i },
	"equal":      func(r *rand.Rand, i, n int) int { return n / 2 },
	"two":        func(r *rand.Rand, i, n int) int { return r.IntN(2) },
	"sixteen":    func(r *rand.Rand, i, n int) int { return r.IntN(16) },
	"organ pipe": func(r *rand.Rand, i, n int) int { return min(i, n-i) },
	"saw":        func(r *rand.Rand, i, n int) int { return i % (n/16 + 1) },
	"saw down":   func(r *rand.Rand, i, n int) int { return n/16 + 1 - i%(n/16+1) },
	"appended":   func(r *rand.Rand, i, n int) int { return pick(i < n-n/100-1, i, r.IntN(n+1)) },
	"falling":    func(r *rand.Rand, i, n int) int { return -i / 3 },
	"last up":    func(r *rand.Rand, i, n int) int { return pick(i < n-1, -i, n) },
	"first down": func(r *rand.Rand, i, n int) int { return pick(i > 0, -i, -2*n) },
	"jitter":     func(r *rand.Rand, i, n int) int { return i + r.IntN(4) },
	"halves":     func(r *rand.Rand, i, n int) int { return pick(i < n/2, i, r.IntN(n+1)) },
	"disturbed":  func(r *rand.Rand, i, n int) int { return pick(r.IntN(100) > 0, i, r.IntN(n+1)) },
	"last first": func(r *rand.Rand, i, n int) int { return pick(i < n-1, i+1, 0) },
	"first last": func(r *rand.Rand, i, n int) int { return pick(i < n-1, n-i, n+1) },
	"one fault":  func(r *rand.Rand, i, n int) int { return pick(i == 0, n, pick(i == n-1, 0, i)) },
}

func pick(first bool, a, b int) int {
	if first {
		return a
	}
	return b
}

// eachShape calls f with every shape in every length up to the longest.
func eachShape(t *testing.T, longest int, f func(t *testing.T, keys []int)) {
	for name, shape := range sortShapes {
		t.Run(name, func(t *testing.T) {
			for _, n := range sortLengths {
				if n > longest {
					break
				}
				r := rand.New(rand.NewPCG(uint64(n), 1))
				keys := make([]int, n)
				for i := range keys {
					keys[i] = shape(r, i, n)
				}
				f(t, keys)
			}
		})
	}
}

// asSlicesSort checks that Sort makes of the keys, as elements of another type,
// what slices.Sort does. NaNs are equal here, and so are 0 and -0.
func asSlicesSort[E cmp.Ordered](t *testing.T, keys []int, element func(int) E) {
	t.Helper()
	got := make([]E, len(keys))
	for i, k := range keys {
		got[i] = element(k)
	}
	want := slices.Clone(got)
	slices.Sort(want)
	par.Sort(got)
	for i := range got {
		if cmp.Compare(got[i], want[i]) != 0 {
			t.Fatalf("%T, n = %d: element %d is %v, want %v", got, len(keys), i, got[i], want[i])
		}
	}
}

type (
	sortInt   int
	sortFloat float32
	sortText  string
)

func TestSortEqualsSlicesSort(t *testing.T) {
	eachShape(t, math.MaxInt, func(t *testing.T, keys []int) {
		asSlicesSort(t, keys, func(k int) int { return k })
		asSlicesSort(t, keys, oddFloat)
		asSlicesSort(t, keys, func(k int) string { return "key-" + strconv.Itoa(k) })
	})
}

func TestSortTakesEveryOrderedType(t *testing.T) {
	eachShape(t, 5000, func(t *testing.T, keys []int) {
		asSlicesSort(t, keys, func(k int) int8 { return int8(k) })
		asSlicesSort(t, keys, func(k int) int16 { return int16(k) })
		asSlicesSort(t, keys, func(k int) int32 { return int32(k) * 7919 })
		asSlicesSort(t, keys, func(k int) int64 { return int64(k) << 40 })
		asSlicesSort(t, keys, func(k int) uint { return uint(k) })
		asSlicesSort(t, keys, func(k int) uint8 { return uint8(k) })
		asSlicesSort(t, keys, func(k int) uint16 { return uint16(k) })
		asSlicesSort(t, keys, func(k int) uint32 { return uint32(k) * 7919 })
		asSlicesSort(t, keys, func(k int) uint64 { return uint64(k) << 50 })
		asSlicesSort(t, keys, func(k int) uintptr { return uintptr(k) })
		asSlicesSort(t, keys, func(k int) float32 { return float32(oddFloat(k)) })
		asSlicesSort(t, keys, func(k int) sortInt { return sortInt(-k) })
		asSlicesSort(t, keys, func(k int) sortFloat { return sortFloat(oddFloat(k)) })
		asSlicesSort(t, keys, func(k int) sortText { return sortText(strconv.Itoa(k)) })
	})
}

// oddFloat is a float for a key, sometimes none that behaves like a number.
func oddFloat(k int) float64 {
	switch k % 41 {
	case 7:
		return math.NaN()
	case 11:
		return math.Inf(1)
	case 13:
		return math.Inf(-1)
	case 17:
		return math.Copysign(0, -1)
	case 19:
		return 0
	}
	return float64(k) / 3
}

// A NaN is not less than its neighbours, which may look like order.
func TestSortFindsTheNaNInOrder(t *testing.T) {
	for _, n := range []int{2, 12, 13, 129, 1000, 1024, 40_000} {
		for _, at := range []int{0, 1, n / 2, n - 9, n - 2, n - 1} {
			i := -1
			asSlicesSort(t, make([]int, n), func(int) float64 {
				if i++; i == at {
					return math.NaN()
				}
				return float64(i % max(1, n-4)) // the last four belong to the front
			})
			i = -1
			asSlicesSort(t, make([]int, n), func(int) float64 {
				if i++; i == at {
					return math.NaN()
				}
				return float64(-i)
			})
		}
	}
}

// The elements are the same ones, bit by bit, though NaNs and zeros differ.
func TestSortKeepsEveryNaNAndZero(t *testing.T) {
	for _, n := range sortLengths {
		keys := make([]float64, n)
		r := rand.New(rand.NewPCG(uint64(n), 2))
		for i := range keys {
			keys[i] = oddFloat(r.IntN(100))
			if keys[i] != keys[i] {
				keys[i] = math.Float64frombits(math.Float64bits(math.NaN()) + uint64(i))
			}
		}
		before := countBits(keys)
		par.Sort(keys)
		for b, c := range countBits(keys) {
			if before[b] != c {
				t.Fatalf("n = %d: %d times %v, were %d", n, c, math.Float64frombits(b), before[b])
			}
		}
	}
}

func countBits(fs []float64) map[uint64]int {
	count := map[uint64]int{}
	for _, f := range fs {
		count[math.Float64bits(f)]++
	}
	return count
}

// sortRecord is an element of SortFunc: the key and what must stay with it.
type sortRecord struct{ key, id, a, b int }

func bySortKey(a, b sortRecord) int { return cmp.Compare(a.key, b.key) }

func sortRecords(keys []int) []sortRecord {
	rs := make([]sortRecord, len(keys))
	for i, k := range keys {
		rs[i] = sortRecord{k, i, ^i, k}
	}
	return rs
}

// samePermutation checks that rs holds each of the records that were made of keys
// once.
func samePermutation(t *testing.T, rs []sortRecord, keys []int) {
	t.Helper()
	if len(rs) != len(keys) {
		t.Fatalf("%d elements, were %d", len(rs), len(keys))
	}
	seen := make([]bool, len(keys))
	for _, r := range rs {
		if seen[r.id] || r != (sortRecord{keys[r.id], r.id, ^r.id, keys[r.id]}) {
			t.Fatalf("n = %d: element %+v was not there, or once only", len(keys), r)
		}
		seen[r.id] = true
	}
}

func TestSortFuncSorts(t *testing.T) {
	type wide struct {
		sortRecord
		_ [5]int
	}
	eachShape(t, math.MaxInt, func(t *testing.T, keys []int) {
		rs := sortRecords(keys)
		par.SortFunc(rs, bySortKey)
		if !slices.IsSortedFunc(rs, bySortKey) {
			t.Fatalf("n = %d: not sorted", len(keys))
		}
		samePermutation(t, rs, keys)

		ws := make([]wide, len(keys))
		for i, r := range sortRecords(keys) {
			ws[i].sortRecord = r
		}
		par.SortFunc(ws, func(a, b wide) int { return -bySortKey(a.sortRecord, b.sortRecord) })
		for i, w := range ws {
			rs[len(rs)-1-i] = w.sortRecord
		}
		if !slices.IsSortedFunc(rs, bySortKey) {
			t.Fatalf("n = %d: wide elements not sorted", len(keys))
		}
		samePermutation(t, rs, keys)
	})
}

// Of elements that stay in the middle of a slice the neighbours are not touched.
func TestSortLeavesWhatIsBesides(t *testing.T) {
	for _, n := range sortLengths {
		v := make([]int, n+20)
		r := rand.New(rand.NewPCG(uint64(n), 3))
		for i := range v {
			v[i] = r.IntN(1000)
		}
		before := slices.Clone(v)
		par.Sort(v[10 : 10+n])
		par.SortFunc(v[10:10+n], func(a, b int) int { return cmp.Compare(b, a) })
		if !slices.Equal(v[:10], before[:10]) || !slices.Equal(v[10+n:], before[10+n:]) {
			t.Fatalf("n = %d: changed outside", n)
		}
	}
}

func TestSortAtEveryGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range par.EveryProcs() {
		runtime.GOMAXPROCS(procs)
		for name, shape := range sortShapes {
			const n = 70_000
			r := rand.New(rand.NewPCG(1, 4))
			keys := make([]int, n)
			for i := range keys {
				keys[i] = shape(r, i, n)
			}
			asSlicesSort(t, keys, func(k int) int { return k })
			rs := sortRecords(keys)
			par.SortFunc(rs, bySortKey)
			if !slices.IsSortedFunc(rs, bySortKey) {
				t.Fatalf("GOMAXPROCS %d, %s: not sorted", procs, name)
			}
			samePermutation(t, rs, keys)
		}
	}
}

func TestSortStartsNoGoroutineForShortSlices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	keys := make([]int, 32767)
	for i := range keys {
		keys[i] = r.Int()
	}
	sorts := func(v []int) {
		w := slices.Clone(v)
		par.Sort(v)
		par.SortFunc(w, cmp.Compare[int])
	}
	if n := goroutinesStarted(func() { sorts(slices.Clone(keys)) }); n != 0 {
		t.Errorf("%d elements: %d goroutines were started", len(keys), n)
	}
	keys = append(keys, r.Int())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if n := goroutinesStarted(func() { sorts(slices.Clone(keys)) }); n != 0 {
		t.Errorf("GOMAXPROCS 1: %d goroutines were started", n)
	}
	runtime.GOMAXPROCS(2)
	if n := goroutinesStarted(func() { sorts(slices.Clone(keys)) }); n == 0 {
		t.Errorf("%d elements, GOMAXPROCS 2: no goroutine was started", len(keys))
	}
}

// goroutinesStarted returns how many goroutines f starts: the fewest of some calls,
// because the collector starts some too.
func goroutinesStarted(f func()) uint64 {
	fewest := uint64(math.MaxUint64)
	count := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	for range 5 {
		metrics.Read(count)
		before := count[0].Value.Uint64()
		f()
		metrics.Read(count)
		fewest = min(fewest, count[0].Value.Uint64()-before)
	}
	return fewest
}

func TestSortDoesNotAllocateOnOneGoroutine(t *testing.T) {
	for _, n := range []int{2, 12, 13, 100, 129, 1000, 32767, 100_000} { // AllocsPerRun sets GOMAXPROCS to 1
		r := rand.New(rand.NewPCG(1, 6))
		ints, texts, floats, v := make([]int, n), make([]string, n), make([]float64, n), make([]int, n)
		for i := range ints {
			ints[i] = r.Int()
			texts[i] = strconv.Itoa(r.Int())
			floats[i] = oddFloat(r.IntN(1000))
		}
		vt, vf := make([]string, n), make([]float64, n)
		if a := testing.AllocsPerRun(3, func() {
			copy(v, ints)
			par.Sort(v)
			copy(v, ints)
			par.SortFunc(v, cmp.Compare[int])
			copy(vt, texts)
			par.Sort(vt)
			copy(vf, floats)
			par.Sort(vf)
		}); a != 0 {
			t.Errorf("%d elements: %v allocations", n, a)
		}
	}
}

func TestSortAllocatesLittleOnSeveral(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const n = 1 << 19
	v := make([]int, n)
	r := rand.New(rand.NewPCG(1, 7))
	for i := range v {
		v[i] = r.Int()
	}
	w := slices.Clone(v)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	par.Sort(v)
	par.SortFunc(w, cmp.Compare[int])
	runtime.ReadMemStats(&after)
	// A part that is forked is 8,192 elements or more.
	if a := after.Mallocs - before.Mallocs; a > 2*(10+4*n/8192) {
		t.Errorf("%d allocations", a)
	}
}

func TestSortOfNothing(t *testing.T) {
	par.Sort[[]int](nil)
	par.Sort([]string{})
	par.SortFunc([]int(nil), func(a, b int) int { panic("called") })
	par.SortFunc([]int{1}, func(a, b int) int { panic("called") })
}

func TestSortFuncPanicsWithoutCmp(t *testing.T) {
	for _, v := range [][]int{nil, {}, {1}, {2, 1}} {
		got := func() (v0 any) {
			defer func() { v0 = recover() }()
			par.SortFunc(v, nil)
			return nil
		}()
		if want := "par: SortFunc: cmp is nil"; fmt.Sprint(got) != want {
			t.Errorf("%v: panics with %v, want %q", v, got, want)
		}
	}
}

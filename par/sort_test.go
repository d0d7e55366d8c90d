package par

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stint-go/stint/internal/race"
)

// lengths are those around which the sorts change what they do.
var lengths = []int{
	0, 1, 2, 3, mergeLeaf, mergeLeaf + 1, 2*mergeLeaf + 1, stdMax, stdMax + 1, 300, 1000, grain + 1, 2 * grain, 4*grain + 7,
}

// shapes are the orders in which elements may come, as keys from about 0 to n.
var shapes = map[string]func(r *rand.Rand, i, n int) int{
	"random":     func(r *rand.Rand, i, n int) int { return r.IntN(n + 1) },
	"two":        func(r *rand.Rand, i, n int) int { return r.IntN(2) },
	"sixteen":    func(r *rand.Rand, i, n int) int { return r.IntN(16) },
	"equal":      func(r *rand.Rand, i, n int) int { return n / 2 },
	"sorted":     func(r *rand.Rand, i, n int) int { return i },
	"reversed":   func(r *rand.Rand, i, n int) int { return n - i },
	"falling":    func(r *rand.Rand, i, n int) int { return -i / 3 },
	"organ pipe": func(r *rand.Rand, i, n int) int { return min(i, n-i) },
	"saw":        func(r *rand.Rand, i, n int) int { return i % (n/16 + 1) },
	"saw down":   func(r *rand.Rand, i, n int) int { return -i % (n/16 + 1) },
	"two runs":   func(r *rand.Rand, i, n int) int { return i % (n/2 + 1) / 3 },
	"halves":     func(r *rand.Rand, i, n int) int { return pick(i < n/2, i, r.IntN(n+1)) },
	"appended":   func(r *rand.Rand, i, n int) int { return pick(i < n-n/12, i/3, r.IntN(n/3+1)) },
	"disturbed":  func(r *rand.Rand, i, n int) int { return pick(r.IntN(100) > 0, i, r.IntN(n+1)) },
	"jitter":     func(r *rand.Rand, i, n int) int { return i + r.IntN(4) },
	"last up":    func(r *rand.Rand, i, n int) int { return pick(i < n-1, -i, n) },
	"last first": func(r *rand.Rand, i, n int) int { return pick(i < n-1, i+1, 0) },
	"first last": func(r *rand.Rand, i, n int) int { return pick(i > 0, i, n+1) },
	"one fault":  func(r *rand.Rand, i, n int) int { return pick(i == 0, n, pick(i == n-1, 0, i)) },
}

func pick(first bool, a, b int) int {
	if first {
		return a
	}
	return b
}

// keysOf returns n keys of a shape, which are the same each time.
func keysOf(shape string, n int) []int {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	keys := make([]int, n)
	for i := range keys {
		keys[i] = shapes[shape](r, i, n)
	}
	return keys
}

// inputs yields each shape and length, with GOMAXPROCS set to several numbers. Under the race
// detector, which is slow, that is the one that go test -cpu says, and with -short the inputs are each
// fourth and the last.
func inputs(t *testing.T, shapes []string, lengths ...int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		before := runtime.GOMAXPROCS(0)
		defer runtime.GOMAXPROCS(before)
		all := []int{1, 2, 8}
		if race.Enabled {
			all = []int{before}
		}
		total := len(all) * len(shapes) * len(lengths)
		for i := range total {
			if race.Enabled && testing.Short() && (total-i)%4 != 1 {
				continue
			}
			shape, n := shapes[i%len(shapes)], lengths[i/len(shapes)%len(lengths)]
			procs := all[i/len(shapes)/len(lengths)]
			if n < 2*grain && procs > all[0] {
				continue // it is sorted on one goroutine
			}
			runtime.GOMAXPROCS(procs)
			if !yield(shape, n) || t.Failed() {
				t.Log("GOMAXPROCS", procs, shape, n)
				return
			}
		}
	}
}

var allShapes = slices.Sorted(maps.Keys(shapes))

// asSlicesSort checks that Sort makes of elements what slices.Sort does. NaNs are equal here,
// and so are 0 and -0.
func asSlicesSort[E cmp.Ordered](t *testing.T, keys []int, element func(int) E) {
	t.Helper()
	got := make([]E, len(keys))
	for i, k := range keys {
		got[i] = element(k)
	}
	want := slices.Clone(got)
	slices.Sort(want)
	Sort(got)
	if slices.CompareFunc(got, want, cmp.Compare[E]) != 0 {
		t.Fatalf("%T, %d elements: not what slices.Sort makes", got, len(keys))
	}
}

func TestSortEqualsSlicesSort(t *testing.T) {
	for shape, n := range inputs(t, allShapes, lengths...) {
		keys := keysOf(shape, n)
		asSlicesSort(t, keys, func(k int) int { return k })
		asSlicesSort(t, keys, oddFloat)
		asSlicesSort(t, keys, func(k int) string { return "key-" + strconv.Itoa(k) })
	}
}

func TestSortTakesEveryOrderedType(t *testing.T) {
	type (
		number int
		float  float32
		text   string
	)
	for _, n := range []int{12, 1000, 2 * grain} {
		keys := keysOf("random", n)
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
		asSlicesSort(t, keys, func(k int) number { return number(-k) })
		asSlicesSort(t, keys, func(k int) float { return float(oddFloat(k)) })
		asSlicesSort(t, keys, func(k int) text { return text(strconv.Itoa(k)) })
	}
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
	for shape, n := range inputs(t, []string{"last first", "reversed"}, 2, 12, 13, 129, 1000, 1024, 40_000) {
		for _, at := range []int{0, 1, n / 2, n - 9, n - 2, n - 1} {
			keys := keysOf(shape, n)
			nan := keys[max(at, 0)]
			asSlicesSort(t, keys, func(k int) float64 {
				if k == nan {
					return math.NaN()
				}
				return float64(k)
			})
		}
	}
}

// The elements are the same ones, bit by bit, though NaNs and zeros differ.
func TestSortKeepsEveryNaNAndZero(t *testing.T) {
	for _, n := range lengths {
		floats := make([]float64, n)
		for i, k := range keysOf("random", n) {
			floats[i] = oddFloat(k)
			if floats[i] != floats[i] {
				floats[i] = math.Float64frombits(math.Float64bits(math.NaN()) + uint64(i))
			}
		}
		bits := func() (b []uint64) {
			for _, f := range floats {
				b = append(b, math.Float64bits(f))
			}
			slices.Sort(b)
			return b
		}
		before := bits()
		Sort(floats)
		if !slices.Equal(bits(), before) {
			t.Errorf("%d elements: not the same ones", n)
		}
	}
}

// Partitions that are uneven to the limit leave the rest to package slices.
func TestQuickAtItsLimit(t *testing.T) {
	for shape, n := range inputs(t, []string{"equal", "two", "sixteen", "random"}, 24, 25, 26, 100, 300) {
		for limit := range 5 {
			got := keysOf(shape, n)
			if quick(nil, got, nil, limit); !slices.IsSorted(got) {
				t.Errorf("limit %d: %v", limit, got)
			}
		}
	}
}

// A record is ordered by its key. The tag is where it was.
type record struct {
	key, tag int
	_        [2]int
}

func byKey(a, b record) int { return cmp.Compare(a.key, b.key) }

func recordsOf(shape string, n int) []record {
	s := make([]record, n)
	for i, key := range keysOf(shape, n) {
		s[i] = record{key: key, tag: i}
	}
	return s
}

// sorts are the functions with a comparison.
var sorts = map[string]func(s []record, cmp func(a, b record) int){
	"SortFunc": SortFunc[[]record], "SortStableFunc": SortStableFunc[[]record],
}

// whole checks that s has each of the elements that it had.
func whole(t *testing.T, s, before []record) {
	t.Helper()
	seen := make([]bool, len(before))
	for i, e := range s {
		if e.tag < 0 || e.tag >= len(s) || seen[e.tag] || e != before[e.tag] {
			t.Fatalf("at %d of %d: %+v is there twice or was never", i, len(s), e)
		}
		seen[e.tag] = true
	}
}

// checkSorts checks both functions, with what slices.SortStableFunc makes.
func checkSorts(t *testing.T, before []record) {
	t.Helper()
	want := slices.Clone(before)
	slices.SortStableFunc(want, byKey)
	for name, sort := range sorts {
		got := slices.Clone(before)
		sort(got, byKey)
		whole(t, got, before)
		if !slices.IsSortedFunc(got, byKey) || name == "SortStableFunc" && !slices.Equal(got, want) {
			t.Fatalf("%s of %d elements: wrong", name, len(got))
		}
	}
}

func TestSortFuncsSort(t *testing.T) {
	for shape, n := range inputs(t, allShapes, lengths...) {
		checkSorts(t, recordsOf(shape, n))
	}
}

// Elements are equal across each place where the merge of two runs can be divided.
func TestMergesKeepTheOrderOfEqualElements(t *testing.T) {
	for _, n := range inputs(t, []string{"two runs"}, 4*grain) {
		for _, values := range []int{1, 2, 3, 100, n} {
			for _, mid := range []int{2, 100, n / 4, n / 2, 3 * n / 4, n - 100, n - 1} {
				checkSorts(t, twoRuns(n, mid, values))
			}
		}
	}
}

func twoRuns(n, mid, values int) []record {
	s := make([]record, n)
	for i := range s {
		s[i] = record{key: i * values / mid, tag: i}
		if i >= mid {
			s[i].key = (i - mid) * values / (n - mid)
		}
	}
	return s
}

func TestSortFuncsOfAllKinds(t *testing.T) {
	for shape, n := range inputs(t, []string{"sixteen"}, 20, stdMax+1, 2*grain) {
		records := recordsOf(shape, n)
		ofKind(t, records, cmp.Compare, func(r record) int { return r.key })
		ofKind(t, records, cmp.Compare, func(r record) byte { return byte(r.key) })
		ofKind(t, records, cmp.Compare, func(r record) string { return strconv.Itoa(r.key) })
		ofKind(t, records, cmp.Compare, func(r record) float64 { return oddFloat(r.key) })
		ofKind(t, records, func(a, b *int) int { return *a - *b }, func(r record) *int { return &r.key })
		ofKind(t, records, func(a, b struct{}) int { return -1 }, func(record) struct{} { return struct{}{} })
		ofKind(t, records, func(a, b [25]int) int { return a[24] - b[24] }, func(r record) [25]int { return [25]int{24: r.key} })
	}
}

func ofKind[E comparable](t *testing.T, records []record, cmp func(a, b E) int, element func(record) E) {
	t.Helper()
	want := make([]E, len(records))
	for i, r := range records {
		want[i] = element(r)
	}
	stable, other := slices.Clone(want), slices.Clone(want)
	slices.SortStableFunc(want, cmp)
	SortStableFunc(stable, cmp)
	SortFunc(other, cmp)
	for i, e := range want {
		if cmp(stable[i], e) > 0 || cmp(other[i], e) > 0 || stable[i] != e && e == e {
			t.Errorf("%T of %d: at %d is %v and %v, want %v", stable, len(want), i, stable[i], other[i], e)
			return
		}
	}
}

// Elements beside those that are sorted are not touched.
func TestSortLeavesWhatIsBesides(t *testing.T) {
	for _, n := range lengths {
		v := keysOf("random", n+20)
		before := slices.Clone(v)
		Sort(v[10 : 10+n])
		SortFunc(v[10:10+n], func(a, b int) int { return cmp.Compare(b, a) })
		SortStableFunc(v[10:10+n], cmp.Compare)
		if !slices.Equal(v[:10], before[:10]) || !slices.Equal(v[10+n:], before[10+n:]) {
			t.Fatalf("%d elements: changed outside", n)
		}
	}
}

func TestSortOfNothing(t *testing.T) {
	Sort[[]int](nil)
	Sort([]string{})
	for _, sort := range sorts {
		sort(nil, func(a, b record) int { panic("called") })
		sort([]record{{}}, func(a, b record) int { panic("called") })
	}
}

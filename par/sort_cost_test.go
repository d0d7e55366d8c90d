package par

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// mostCompares is O(n log n), as in package slices.
func mostCompares(n int) int64 { return int64(3*float64(n)*math.Log2(float64(n+1))) + 12*int64(n) }

// compares returns how many compares it takes to sort s.
func compares[E any](sort func([]E, func(a, b E) int), s []E, cmp func(a, b E) int) int64 {
	var calls atomic.Int64
	sort(s, func(a, b E) int { calls.Add(1); return cmp(a, b) })
	return calls.Load()
}

func TestComparesOfSortStableFunc(t *testing.T) {
	for shape, n := range inputs(t, allShapes, 1000, 5000, 40_000) {
		log := math.Log2(float64(n))
		most := log + 6 // a leaf in descending order takes that
		switch shape {
		case "sorted", "reversed", "equal":
			most = 1 - 1/float64(n)
		case "random":
			most = log + 2
		case "two runs", "organ pipe":
			most = 4
		case "appended":
			most = 6
		case "saw":
			most = 8
		}
		calls := compares(SortStableFunc, recordsOf(shape, n), byKey)
		if calls > int64(most*float64(n)) || calls < int64(n-1) {
			t.Errorf("%d compares, want at most %.1f for each element", calls, most)
		}
	}
}

func TestComparesOfSortedSlices(t *testing.T) {
	for shape, n := range inputs(t, []string{"sorted", "reversed", "equal"}, 2, 12, 1000, 2*grain-1, 2*grain, 100_000) {
		s := recordsOf(shape, n)
		c := compares(SortFunc, s, byKey)
		if !slices.IsSortedFunc(s, byKey) || c > max(5*int64(n), 66) { // slices.SortFunc looks twice
			t.Errorf("%d compares", c)
		}
	}
}

// An adversary decides what the elements are when they are compared: as late and as
// unfavourably as it can (McIlroy, A Killer Adversary for Quicksort, 1999).
type adversary struct {
	mu        sync.Mutex
	value     []int
	candidate int
	solid     int
}

func newAdversary(n int) (*adversary, []int) {
	a := &adversary{value: make([]int, n)}
	for i := range a.value {
		a.value[i] = n // gas
	}
	return a, rand.New(rand.NewPCG(1, 8)).Perm(n)
}

func (a *adversary) compare(x, y int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	gas := len(a.value)
	if a.value[x] == gas && a.value[y] == gas {
		freeze := y
		if x == a.candidate {
			freeze = x
		}
		a.value[freeze] = a.solid
		a.solid++
	}
	switch gas {
	case a.value[x]:
		a.candidate = x
	case a.value[y]:
		a.candidate = y
	}
	return cmp.Compare(a.value[x], a.value[y])
}

func TestComparesAgainstAnAdversary(t *testing.T) {
	for _, n := range inputs(t, []string{"random"}, 100, 1000, 2*grain-1, 2*grain, 70_000) {
		for _, sort := range []func([]int, func(a, b int) int){SortFunc[[]int], SortStableFunc[[]int]} {
			a, elements := newAdversary(n)
			if c := compares(sort, elements, a.compare); c > mostCompares(n) {
				t.Errorf("%d compares, want %d at most", c, mostCompares(n))
			}
			if Sort(a.value); !slices.IsSorted(a.value) { // a killer of quicksorts
				t.Error("not sorted")
			}
		}
	}
}

// all sorts copies of ints by each function.
func all(ints []int) {
	Sort(slices.Clone(ints))
	SortFunc(slices.Clone(ints), cmp.Compare[int])
	SortStableFunc(slices.Clone(ints), cmp.Compare[int])
}

// Short slices, and one CPU, take the caller's goroutine alone.
func TestSortsStartGoroutines(t *testing.T) {
	for _, c := range []struct {
		n, procs int
		starts   bool
	}{{2*grain - 1, 8, false}, {2 * grain, 1, false}, {2 * grain, 2, true}} {
		procs(t, c.procs)
		fewest := uint64(math.MaxUint64) // of some calls: the collector starts some too
		count := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
		for range 5 {
			metrics.Read(count)
			before := count[0].Value.Uint64()
			all(keysOf("random", c.n))
			metrics.Read(count)
			fewest = min(fewest, count[0].Value.Uint64()-before)
		}
		if (fewest > 0) != c.starts {
			t.Errorf("%+v: %d goroutines", c, fewest)
		}
	}
}

func TestSortsAllocateLittleOnOneGoroutine(t *testing.T) {
	for _, n := range []int{2, 13, stdMax, stdMax + 1, 1000, 2*grain - 1, 100_000} { // AllocsPerRun sets GOMAXPROCS to 1
		ints, texts, floats := keysOf("random", n), make([]string, n), make([]float64, n)
		for i, k := range ints {
			texts[i], floats[i] = strconv.Itoa(k), oddFloat(k)
		}
		v, vt, vf := slices.Clone(ints), slices.Clone(texts), slices.Clone(floats)
		if a := testing.AllocsPerRun(3, func() {
			copy(v, ints)
			Sort(v)
			copy(v, ints)
			SortFunc(v, cmp.Compare[int])
			copy(vt, texts)
			Sort(vt)
			copy(vf, floats)
			Sort(vf)
		}); a != 0 {
			t.Errorf("%d elements: %v allocations", n, a)
		}
		if a := testing.AllocsPerRun(3, func() { copy(v, ints); SortStableFunc(v, cmp.Compare[int]) }); n <= stdMax && a != 0 || a > float64(5+5*n/grain) {
			t.Errorf("%d elements, stable: %v allocations", n, a)
		}
	}
}

// allocated returns how much f allocates.
func allocated(f func()) (objects, bytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
}

func TestSortsAllocateLittleOnSeveral(t *testing.T) {
	const n = 1 << 18
	for _, c := range []struct {
		shape string
		sort  func(v []int)
		bytes uint64 // for the buffer
	}{
		{"random", Sort[[]int], 0},
		{"random", func(v []int) { SortFunc(v, cmp.Compare) }, 0},
		{"random", func(v []int) { SortStableFunc(v, cmp.Compare) }, 8 * n},
		{"sorted", func(v []int) { SortStableFunc(v, cmp.Compare) }, 0},
		{"appended", func(v []int) { SortStableFunc(v, cmp.Compare) }, 8 * n / 12},
	} {
		procs(t, 2)
		v := keysOf(c.shape, n)
		objects, bytes := allocated(func() { c.sort(v) })
		if objects > 10+20*n/grain || bytes > c.bytes+200_000 {
			t.Errorf("%s: %d objects, %d bytes beside %d", c.shape, objects, bytes, c.bytes)
		}
	}
}

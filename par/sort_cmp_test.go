package par_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/par"
)

// cmpLengths are the lengths around the thresholds of SortFunc.
var cmpLengths = []int{2, 3, 12, 13, 100, 32767, 32768, 32769, 70_000}

func randomKeys(n int, seed uint64) []int {
	r := rand.New(rand.NewPCG(uint64(n), seed))
	keys := make([]int, n)
	for i := range keys {
		keys[i] = r.IntN(n)
	}
	return keys
}

// atCompare returns cmp that calls f instead, at compare k.
func atCompare(k int64, f func()) func(a, b sortRecord) int {
	var calls atomic.Int64
	return func(a, b sortRecord) int {
		if calls.Add(1) == k {
			f()
		}
		return bySortKey(a, b)
	}
}

// compares returns how many compares it takes to sort keys.
func compares(keys []int) int64 {
	var calls atomic.Int64
	par.SortFunc(sortRecords(keys), func(a, b sortRecord) int {
		calls.Add(1)
		return bySortKey(a, b)
	})
	return calls.Load()
}

// rounds are how often a sort is interrupted: less often where -cpu repeats it, and
// it takes long.
var rounds = map[bool]int{false: 12, true: 3}[race.Enabled]

// somewhere returns which compare fails in a round, of so many: also those that
// several goroutines make. Which ones come last differs from time to time.
func somewhere(round int, total int64) int64 {
	switch round {
	case 0:
		return 1
	case 1:
		return max(1, total*9/10)
	}
	return 1 + rand.New(rand.NewPCG(uint64(round), uint64(total))).Int64N(max(1, total*9/10))
}

func TestPanicInCmpReachesTheCallerAndLosesNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	oops := errors.New("oops")
	for _, n := range cmpLengths {
		keys := randomKeys(n, 1)
		total := compares(keys)
		for round := range rounds {
			rs := sortRecords(keys)
			k := somewhere(round, total)
			got := func() (v any) {
				defer func() { v = recover() }()
				par.SortFunc(rs, atCompare(k, func() { panic(oops) }))
				return nil
			}()
			if p, ok := got.(*stint.PanicError); !ok || p.Value != any(oops) || len(p.Stack) == 0 {
				t.Fatalf("n = %d, compare %d of %d: panics with %v", n, k, total, got)
			}
			samePermutation(t, rs, keys)
		}
	}
}

func TestGoexitInCmpEndsTheCaller(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, n := range cmpLengths {
		keys := randomKeys(n, 2)
		total := compares(keys)
		for round := range rounds {
			rs := sortRecords(keys)
			returned := false
			var recovered any
			var wg sync.WaitGroup
			wg.Go(func() {
				defer func() { recovered = recover() }()
				par.SortFunc(rs, atCompare(somewhere(round, total), runtime.Goexit))
				returned = true
			})
			wg.Wait()
			if returned || recovered != nil {
				t.Fatalf("n = %d: returned: %t, panicked: %v", n, returned, recovered)
			}
			samePermutation(t, rs, keys)
		}
	}
}

// After a panic the goroutines finish what they partition, and a part each.
func TestSortFuncStopsAfterAPanic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const n = 500_000
	const part = 1 << 14 // fewer elements are left to package slices
	keys := randomKeys(n, 4)
	total := compares(keys)
	for _, procs := range []int{2, 8} {
		runtime.GOMAXPROCS(procs)
		rs := sortRecords(keys)
		calls, panicked := par.StopAt(t, total/2, func(step func()) {
			par.SortFunc(rs, func(a, b sortRecord) int {
				step()
				return bySortKey(a, b)
			})
		})
		if p, ok := panicked.(*stint.PanicError); !ok || p.Value != "stop" {
			t.Errorf("GOMAXPROCS %d: panics with %v", procs, panicked)
		}
		if most := total/2 + n + int64(procs)*part*14*5/4; calls > most {
			t.Errorf("GOMAXPROCS %d: %d compares, want %d at most of %d", procs, calls, most, total)
		}
		samePermutation(t, rs, keys)
	}
}

// After a panic no other goroutine calls cmp any more.
func TestNothingIsComparedAfterSortFunc(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for round := range 10 {
		rs := sortRecords(randomKeys(80_000, 3))
		var calls atomic.Int64
		var over atomic.Bool
		func() {
			defer func() { recover() }()
			par.SortFunc(rs, func(a, b sortRecord) int {
				if over.Load() {
					t.Error("called after the end")
				}
				if calls.Add(1) == int64(80_000*(round+1)) {
					panic("stop")
				}
				return bySortKey(a, b)
			})
		}()
		over.Store(true)
	}
}

func TestContradictingCmpTerminates(t *testing.T) {
	var state atomic.Uint64
	liars := map[string]func(a, b sortRecord) int{
		"random":   func(a, b sortRecord) int { return int(state.Add(0x9e3779b97f4a7c15)>>40%3) - 1 },
		"less":     func(a, b sortRecord) int { return -1 },
		"greater":  func(a, b sortRecord) int { return 1 },
		"equal":    func(a, b sortRecord) int { return 0 },
		"circular": func(a, b sortRecord) int { return (a.key-b.key+3)%3 - 1 },
		"extreme":  func(a, b sortRecord) int { return math.MinInt * (a.key & 1) },
	}
	for name, liar := range liars {
		for _, n := range cmpLengths {
			keys := randomKeys(n, 4)
			rs := sortRecords(keys)
			var calls atomic.Int64
			par.SortFunc(rs, func(a, b sortRecord) int { calls.Add(1); return liar(a, b) })
			samePermutation(t, rs, keys)
			if c := calls.Load(); c > 2*mostCompares(n) { // which is promised for an order only
				t.Errorf("%s, n = %d: %d compares", name, n, c)
			}
		}
	}
}

// mostCompares is what is promised, with 12 n for O(n).
func mostCompares(n int) int64 {
	return int64(2*float64(n)*math.Log2(float64(n))) + 12*int64(n)
}

func TestComparesOfSortedSlices(t *testing.T) {
	for _, n := range []int{2, 12, 1000, 32767, 32768, 100_000} {
		for name, key := range map[string]func(i int) int{
			"sorted": func(i int) int { return i }, "reversed": func(i int) int { return -i }, "equal": func(int) int { return 1 },
		} {
			v := make([]int, n)
			for i := range v {
				v[i] = key(i)
			}
			var calls atomic.Int64
			par.SortFunc(v, func(a, b int) int { calls.Add(1); return cmp.Compare(a, b) })
			// Insertion reverses what is tiny; slices.SortFunc looks twice.
			if c := calls.Load(); !slices.IsSorted(v) || c > max(3*int64(n), 66) || n >= 32768 && runtime.GOMAXPROCS(0) > 1 && c > int64(n) {
				t.Errorf("%s, n = %d: %d compares", name, n, c)
			}
		}
	}
}

// What is equal is dropped: the compares depend on the number of keys.
func TestComparesOfFewKeys(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2} {
		runtime.GOMAXPROCS(procs)
		for keys, most := range map[int]int64{1: 2, 2: 5, 16: 12} {
			const n = 1 << 17
			r := rand.New(rand.NewPCG(1, uint64(keys)))
			v := make([]int, n)
			for i := range v {
				v[i] = r.IntN(keys)
			}
			var calls atomic.Int64
			par.SortFunc(v, func(a, b int) int { calls.Add(1); return cmp.Compare(a, b) })
			if c := calls.Load(); c > most*n {
				t.Errorf("GOMAXPROCS %d, %d keys: %d compares, want %d at most", procs, keys, c, most*n)
			}
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
	compares  int64
}

func newAdversary(n int) (*adversary, []int) {
	a := &adversary{value: make([]int, n)}
	elements := rand.New(rand.NewPCG(1, 8)).Perm(n)
	for i := range a.value {
		a.value[i] = n // gas
	}
	return a, elements
}

func (a *adversary) compare(x, y int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.compares++
	gas := len(a.value)
	if a.value[x] == gas && a.value[y] == gas {
		if x == a.candidate {
			a.freeze(x)
		} else {
			a.freeze(y)
		}
	}
	switch gas {
	case a.value[x]:
		a.candidate = x
	case a.value[y]:
		a.candidate = y
	}
	return cmp.Compare(a.value[x], a.value[y])
}

func (a *adversary) freeze(x int) {
	a.value[x] = a.solid
	a.solid++
}

func TestComparesAgainstAnAdversary(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		for _, n := range []int{100, 1000, 32767, 32768, 70_000} {
			a, elements := newAdversary(n)
			par.SortFunc(elements, a.compare)
			if a.compares > mostCompares(n) {
				t.Errorf("GOMAXPROCS %d, n = %d: %d compares, want %d at most", procs, n, a.compares, mostCompares(n))
			}
			killer := make([]int, n) // the same for Sort, which would take minutes
			for i := range killer {
				killer[i] = a.value[i]
			}
			par.Sort(killer)
			if !slices.IsSorted(killer) {
				t.Errorf("n = %d: not sorted", n)
			}
		}
	}
}

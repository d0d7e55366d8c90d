package par

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint"
)

// A stableRecord is ordered by its key. The tag is where it was, so two orders
// that are equal hold equal elements in the same order.
type stableRecord struct {
	key, tag int
	_        [2]int
}

func stableCompare(a, b stableRecord) int { return cmp.Compare(a.key, b.key) }

// stablePatterns give the keys of n elements.
var stablePatterns = map[string]func(r *rand.Rand, i, n int) int{
	"random":      func(r *rand.Rand, i, n int) int { return int(r.Int64() >> 32) }, // in the same order on 32 bits
	"two values":  func(r *rand.Rand, i, n int) int { return r.IntN(2) },
	"few values":  func(r *rand.Rand, i, n int) int { return r.IntN(16) },
	"equal":       func(r *rand.Rand, i, n int) int { return 7 },
	"sorted":      func(r *rand.Rand, i, n int) int { return i },
	"reversed":    func(r *rand.Rand, i, n int) int { return -i },
	"descending":  func(r *rand.Rand, i, n int) int { return -i / 3 },
	"organ pipe":  func(r *rand.Rand, i, n int) int { return min(i, n-i) },
	"saw":         func(r *rand.Rand, i, n int) int { return i % (n/16 + 1) },
	"falling saw": func(r *rand.Rand, i, n int) int { return -i % (n/16 + 1) },
	"jitter":      func(r *rand.Rand, i, n int) int { return i + r.IntN(4) },
	"much jitter": func(r *rand.Rand, i, n int) int { return (i + r.IntN(24)) / 2 },
	"two runs":    func(r *rand.Rand, i, n int) int { return i % (n/2 + 1) / 3 },
	"two halves":  func(r *rand.Rand, i, n int) int { return stableEither(i < n/2, r.IntN(n), n+r.IntN(n)) },
	"appended":    func(r *rand.Rand, i, n int) int { return stableEither(i < n-n/12, i/3, r.IntN(n/3+1)) },
	"disturbed":   func(r *rand.Rand, i, n int) int { return stableEither(r.IntN(100) > 0, i, r.IntN(n)) },
}

func stableEither[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func stableKeys(pattern string, n int) []int {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	keys := make([]int, n)
	for i := range keys {
		keys[i] = stablePatterns[pattern](r, i, n)
	}
	return keys
}

func stableRecords(pattern string, n int) []stableRecord {
	s := make([]stableRecord, n)
	for i, key := range stableKeys(pattern, n) {
		s[i] = stableRecord{key: key, tag: i}
	}
	return s
}

// stableProcs calls f with GOMAXPROCS set to 1, 2 and 8.
func stableProcs(t *testing.T, f func(t *testing.T)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range EveryProcs() {
		runtime.GOMAXPROCS(procs)
		t.Run(fmt.Sprintf("procs=%d", procs), f)
	}
}

// stableSame sorts s and compares with slices.SortStableFunc.
func stableSame[E comparable](t *testing.T, s []E, cmp func(a, b E) int) {
	t.Helper()
	want := slices.Clone(s)
	slices.SortStableFunc(want, cmp)
	SortStableFunc(s, cmp)
	for i := range s {
		if s[i] != want[i] {
			t.Errorf("%d elements: at %d is %v, want %v", len(s), i, s[i], want[i])
			return
		}
	}
}

var stableSizes = []int{
	0, 1, 2, 3, 5,
	stableStd - 1, stableStd, stableStd + 1,
	4*mergeLeaf - 1, 4 * mergeLeaf, 4*mergeLeaf + 1,
	100, 1000,
	stableAlone - 1, stableAlone, stableAlone + 1,
	3*stableAlone + 7,
}

func TestSortStableFuncIsThatOfSlices(t *testing.T) {
	stableProcs(t, func(t *testing.T) {
		for pattern := range stablePatterns {
			for _, n := range stableSizes {
				s := stableRecords(pattern, n)
				stableSame(t, s, stableCompare)
				if t.Failed() {
					t.Fatal(pattern)
				}
			}
		}
	})
}

func TestSortStableFuncOfAllKinds(t *testing.T) {
	type large struct {
		stableRecord
		_ [21]int
	}
	stableProcs(t, func(t *testing.T) {
		for _, n := range []int{20, stableStd, stableStd + 1, 300, stableAlone + 1} {
			records := stableRecords("few values", n)
			ints, texts, bytes := make([]int, n), make([]string, n), make([]byte, n)
			larges, pointers, floats := make([]large, n), make([]*stableRecord, n), make([]float64, n)
			for i, r := range records {
				ints[i] = r.key<<20 | r.tag
				texts[i] = fmt.Sprintf("%02d %d", r.key, r.tag)
				bytes[i] = byte(r.key<<4 | i&15)
				larges[i].stableRecord = r
				pointers[i] = &records[i]
				floats[i] = []float64{math.Inf(-1), math.Copysign(0, -1), 0, float64(r.key)}[i%4]
			}
			stableSame(t, ints, func(a, b int) int { return cmp.Compare(a>>20, b>>20) })
			stableSame(t, texts, func(a, b string) int { return strings.Compare(a[:2], b[:2]) })
			stableSame(t, bytes, func(a, b byte) int { return cmp.Compare(a>>4, b>>4) })
			stableSame(t, larges, func(a, b large) int { return stableCompare(a.stableRecord, b.stableRecord) })
			stableSame(t, pointers, func(a, b *stableRecord) int { return stableCompare(*a, *b) })
			stableSame(t, floats, cmp.Compare[float64])
			stableSame(t, make([]struct{}, n), func(a, b struct{}) int { return -1 })
		}
	})
}

func TestSortStableFuncOfNaN(t *testing.T) {
	s := make([]float64, 3*stableAlone)
	for i := range s {
		s[i] = stableEither(i%3 == 0, math.NaN(), float64(i*7919%1000))
	}
	SortStableFunc(s, cmp.Compare[float64])
	if !slices.IsSortedFunc(s, cmp.Compare[float64]) || !math.IsNaN(s[len(s)/3-1]) || math.IsNaN(s[len(s)/3]) {
		t.Error("the numbers that are none are not in front")
	}
}

// Sides of any lengths, with elements that are equal across each place where a
// merge can be divided.
func TestPiecesOfMergeKeepTheOrderOfEqualElements(t *testing.T) {
	const n = 10_000
	stableProcs(t, func(t *testing.T) {
		for _, values := range []int{1, 2, 3, 100, n} {
			for _, mid := range []int{1, 100, n / 4, n / 2, 3 * n / 4, n - 100, n - 1} {
				src, want := make([]stableRecord, n), make([]stableRecord, n)
				for i := range src {
					src[i] = stableRecord{key: i % mid * values / n, tag: i}
					if i >= mid {
						src[i].key = (i - mid) * values / n
					}
				}
				slices.SortStableFunc(src[:mid], stableCompare)
				copy(want, src)
				slices.SortStableFunc(want, stableCompare)
				m := &mergers[stableRecord]{merger: merger[stableRecord]{cmp: stableCompare}, team: newTeam(runtime.GOMAXPROCS(0)), grain: 100}
				got := make([]stableRecord, n)
				m.team.run(func() {
					if !m.pieces(got, src, 0, mid, mid, n) {
						t.Error("not all was merged")
					}
				})
				if !slices.Equal(got, want) {
					t.Errorf("sides of %d and %d with %d values: wrong", mid, n-mid, values)
				}
			}
		}
	})
}

func TestSortStableFuncCompares(t *testing.T) {
	stableProcs(t, func(t *testing.T) {
		for pattern := range stablePatterns {
			for _, n := range []int{stableStd + 1, 160, 161, 1000, 5000, 40_000} {
				s := stableRecords(pattern, n)
				var calls atomic.Int64
				SortStableFunc(s, func(a, b stableRecord) int {
					calls.Add(1)
					return stableCompare(a, b)
				})
				most := float64(n) * (math.Log2(float64(n)) + 6) // a leaf in descending order takes that
				switch {
				case pattern == "sorted" || pattern == "reversed" || pattern == "equal":
					most = float64(n - 1)
				case n < 1000:
				case pattern == "random":
					most = float64(n) * (math.Log2(float64(n)) + 2)
				case pattern == "appended":
					most = 6 * float64(n)
				case pattern == "two runs" || pattern == "organ pipe":
					most = 4 * float64(n)
				case pattern == "saw" || pattern == "falling saw":
					most = 8 * float64(n)
				}
				if float64(calls.Load()) > most || calls.Load() < int64(n-1) {
					t.Errorf("%d elements, %s: %d compares, want at most %.0f", n, pattern, calls.Load(), most)
				}
			}
		}
	})
}

// stableWhole checks that s has each of the elements that it had.
func stableWhole(t *testing.T, s, before []stableRecord) {
	t.Helper()
	seen := make([]bool, len(s))
	for i, e := range s {
		if e.tag < 0 || e.tag >= len(s) || seen[e.tag] || e != before[e.tag] {
			t.Fatalf("at %d of %d: %+v is there twice or was never", i, len(s), e)
		}
		seen[e.tag] = true
	}
}

// stableInterrupted sorts pattern with a cmp that calls end in its calls from first to
// last. It checks that the caller sees the panic or Goexit, that all elements are there and
// that no call is running. It reports whether there were as many calls.
func stableInterrupted(t *testing.T, pattern string, n int, first, last int64, end func()) bool {
	t.Helper()
	before := stableRecords(pattern, n)
	s := slices.Clone(before)
	var calls, running atomic.Int64
	ended := make(chan any)
	go func() {
		var raised any = "Goexit"
		defer func() {
			if v := recover(); v != nil {
				raised = v
			}
			if r := running.Load(); r != 0 {
				t.Errorf("%d calls are still running", r)
			}
			ended <- raised
		}()
		SortStableFunc(s, func(a, b stableRecord) int {
			running.Add(1)
			defer running.Add(-1)
			if k := calls.Add(1); first <= k && k <= last {
				end()
			}
			return stableCompare(a, b)
		})
		raised = nil
	}()
	raised := <-ended
	stableWhole(t, s, before)
	if calls.Load() < first {
		if raised != nil || !slices.IsSortedFunc(s, stableCompare) {
			t.Fatalf("%d elements, %s: ended with %v after %d calls, which all returned", n, pattern, raised, calls.Load())
		}
		return false
	}
	if p, ok := raised.(*stint.PanicError); raised != "Goexit" && !(ok && p.Value == "stop" && len(p.Stack) > 0) {
		t.Fatalf("%d elements, %s: call %d ended with %#v", n, pattern, first, raised)
	}
	return true
}

func stablePanic() { panic("stop") }

func TestSortStableFuncIsWholeAfterEachPanic(t *testing.T) {
	for _, pattern := range []string{"random", "two runs", "few values", "disturbed", "reversed", "falling saw", "appended", "jitter", "much jitter"} {
		for _, n := range []int{2, 3, 21, stableStd + 1, 150} {
			for k := int64(1); stableInterrupted(t, pattern, n, k, k, stablePanic); k++ {
			}
			for k := int64(1); stableInterrupted(t, pattern, n, k, k, runtime.Goexit); k++ {
			}
		}
	}
}

// The compares of two runs are nearly all in the last merge, which is into s and
// by pieces.
func TestSortStableFuncIsWholeAfterPanicsOfSeveral(t *testing.T) {
	const n = stableAlone + 5
	stableProcs(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, pattern := range []string{"random", "two runs", "disturbed", "appended", "much jitter"} {
			var calls atomic.Int64
			SortStableFunc(stableRecords(pattern, n), func(a, b stableRecord) int {
				calls.Add(1)
				return stableCompare(a, b)
			})
			const parts = 8 // one call in each, so also in the last merge
			for part := range int64(parts) {
				k := calls.Load()*part/parts + r.Int64N(calls.Load()/parts) + 1
				for _, last := range []int64{k, math.MaxInt64} {
					stableInterrupted(t, pattern, n, k, last, stablePanic)
					stableInterrupted(t, pattern, n, k, last, runtime.Goexit)
				}
			}
		}
	})
}

// A goroutine of the team is in the middle of a grain when cmp does not return.
func TestSortStableFuncStopsSoonAfterAPanic(t *testing.T) {
	const n = 64 * stableGrain
	stableProcs(t, func(t *testing.T) {
		procs := runtime.GOMAXPROCS(0)
		if procs == 1 {
			return
		}
		calls, panicked := StopAt(t, 1000, func(step func()) {
			SortStableFunc(stableRecords("random", n), func(a, b stableRecord) int {
				step()
				return stableCompare(a, b)
			})
		})
		if p, ok := panicked.(*stint.PanicError); !ok || p.Value != "stop" {
			t.Errorf("panics with %v", panicked)
		}
		grain := float64(max(n/(8*procs), stableGrain)) // each goroutine finishes one
		if most := float64(procs) * grain * (math.Log2(grain) + 2); float64(calls) > most {
			t.Errorf("%d calls, want at most %.0f", calls, most)
		}
	})
}

func TestBothSeesThatTheOtherSideDidNotReturn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for i := range 2000 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			team := newTeam(2)
			var near atomic.Bool
			team.run(func() {
				if team.both(
					func() { // returns while the other is about to end
						for spins := 1; !near.Load(); spins++ {
							if spins%1000 == 0 {
								runtime.Gosched()
							}
						}
						for range i % 1000 {
							near.Load()
						}
					},
					func() { near.Store(true); runtime.Goexit() },
				) {
					t.Error("both goes on")
				}
			})
		}()
		<-done
	}
}

func TestSortStableFuncWithContradictions(t *testing.T) {
	var calls atomic.Int64
	lies := map[string]func(a, b stableRecord) int{
		"before":      func(a, b stableRecord) int { return -1 },
		"after":       func(a, b stableRecord) int { return 1 },
		"least":       func(a, b stableRecord) int { return math.MinInt },
		"random":      func(a, b stableRecord) int { return rand.IntN(3) - 1 },
		"alternating": func(a, b stableRecord) int { return int(calls.Add(1)%2)*2 - 1 },
		"rarely":      func(a, b stableRecord) int { return stableEither(rand.IntN(1000) == 0, -1, stableCompare(a, b)) },
		"cycle":       func(a, b stableRecord) int { return (a.key-b.key)%3 - 1 },
	}
	stableProcs(t, func(t *testing.T) {
		for name, lie := range lies {
			for _, n := range stableSizes {
				before := stableRecords("random", n)
				s := slices.Clone(before)
				SortStableFunc(s, lie)
				stableWhole(t, s, before)
				if t.Failed() {
					t.Fatal(name)
				}
			}
		}
	})
}

func TestSortStableFuncStaysOnTheCallersGoroutine(t *testing.T) {
	alone := func(t *testing.T, n int) {
		s := stableRecords("random", n)
		before, most := runtime.NumGoroutine(), 0
		SortStableFunc(s, func(a, b stableRecord) int { // not at the same time, or it is a race
			most = max(most, runtime.NumGoroutine())
			return stableCompare(a, b)
		})
		if most > before {
			t.Errorf("%d elements: %d goroutines, %d before", n, most, before)
		}
	}
	stableProcs(t, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			alone(t, stableAlone)
			if runtime.GOMAXPROCS(0) == 1 {
				alone(t, 2*stableAlone)
			}
		})
	})
}

// A bubble fails when a goroutine of it is left.
func TestSortStableFuncLeavesNoGoroutine(t *testing.T) {
	stableProcs(t, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stableInterrupted(t, "random", 3*stableAlone, math.MaxInt64, math.MaxInt64, nil)
			stableInterrupted(t, "random", 3*stableAlone, 1000, math.MaxInt64, stablePanic)
			stableInterrupted(t, "two runs", 3*stableAlone, 5*stableAlone, math.MaxInt64, runtime.Goexit)
		})
	})
}

func TestSortStableFuncCallsAtTheSameTime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var now, most atomic.Int64
	s := stableRecords("random", 4*stableAlone)
	SortStableFunc(s, func(a, b stableRecord) int {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		if a.tag&255 == 0 {
			runtime.Gosched()
		}
		return stableCompare(a, b)
	})
	if m := most.Load(); m < 2 || m > 4 {
		t.Errorf("%d calls at the same time, want 2 to 4", m)
	}
}

func TestSortStableFuncAllocates(t *testing.T) {
	for _, n := range []int{1, stableStd, stableStd + 1, 1000, 2 * stableAlone} {
		before := stableKeys("random", n)
		s := slices.Clone(before)
		want := 0.0
		if n > stableStd {
			want = 1
		}
		if got := testing.AllocsPerRun(5, func() { copy(s, before); SortStableFunc(s, cmp.Compare[int]) }); got != want {
			t.Errorf("%d elements: %v allocations, want %v", n, got, want)
		}
		slices.Sort(s)
		if got := testing.AllocsPerRun(5, func() { slices.Reverse(s); SortStableFunc(s, cmp.Compare[int]) }); got != 0 {
			t.Errorf("%d elements in order: %v allocations, want none", n, got)
		}
	}
}

func TestSortStableFuncAllocatesTogether(t *testing.T) {
	stableProcs(t, func(t *testing.T) {
		const n = 1 << 18
		s := stableKeys("random", n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		SortStableFunc(s, cmp.Compare[int])
		runtime.ReadMemStats(&after)
		if count := after.Mallocs - before.Mallocs; count > 8000 {
			t.Errorf("%d allocations", count)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 8*n+400_000 {
			t.Errorf("%d bytes allocated, want 8 for each of %d elements", bytes, n)
		}
	})
}

// What is appended to a sorted slice takes a buffer of its own size.
func TestSortStableFuncOfAppendedAllocates(t *testing.T) {
	const n = 100_000
	s := stableKeys("appended", n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	SortStableFunc(s, cmp.Compare[int])
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 8*n/4 {
		t.Errorf("%d bytes allocated to merge %d elements into %d", bytes, n/12, n)
	}
}

func TestSortStableFuncWithoutCmp(t *testing.T) {
	for _, s := range [][]int{nil, {1}, {2, 1}} {
		func() {
			defer func() {
				if v := recover(); v != "par: SortStableFunc: cmp is nil" {
					t.Errorf("panic of %v", v)
				}
			}()
			SortStableFunc(s, nil)
		}()
	}
}

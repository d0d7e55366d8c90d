package par

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint"
)

func stop() { panic("stop") }

// interrupted sorts with a cmp that calls end in its calls from first to last. It checks that
// the caller sees the panic or Goexit, that all elements are there, and that no call is
// running or comes later. It returns how many calls there were.
func interrupted(t *testing.T, name, shape string, n int, first, last int64, end func()) int64 {
	t.Helper()
	before := recordsOf(shape, n)
	s := slices.Clone(before)
	var calls, running atomic.Int64
	var over atomic.Bool
	how := ending(func() {
		defer func() {
			over.Store(true)
			if r := running.Load(); r != 0 {
				t.Errorf("%s: %d calls are still running", name, r)
			}
		}()
		sorts[name](s, func(a, b record) int {
			if over.Load() {
				t.Error("called after the end")
			}
			running.Add(1)
			defer running.Add(-1)
			if k := calls.Add(1); first <= k && k <= last {
				end()
			}
			return byKey(a, b)
		})
	})
	whole(t, s, before)
	want := "Goexit"
	switch {
	case calls.Load() < first:
		want = "return"
	case how != "Goexit":
		want = "panic of stop"
	}
	if how != want || how == "return" && !slices.IsSortedFunc(s, byKey) {
		t.Fatalf("%s of %d elements, %s: %s after %d calls, want %s", name, n, shape, how, calls.Load(), want)
	}
	return calls.Load()
}

// each calls f with each function and with several shapes.
func eachSort(f func(name, shape string)) {
	for name := range sorts {
		for _, shape := range []string{"random", "two runs", "disturbed", "saw down", "appended"} {
			f(name, shape)
		}
	}
}

func TestPanicInCmpReachesTheCallerAndLosesNothing(t *testing.T) {
	eachSort(func(name, shape string) {
		for _, n := range []int{2, 3, 21, stdMax + 1} {
			for k := int64(1); interrupted(t, name, shape, n, k, k, stop) >= k; k++ {
			}
			for k := int64(1); interrupted(t, name, shape, n, k, k, runtime.Goexit) >= k; k++ {
			}
		}
	})
}

// So it is on several goroutines, of which one or all do not return. The compares of two runs
// are nearly all in the last merge, which is in pieces.
func TestPanicsOfSeveralLoseNothing(t *testing.T) {
	const n = 2*grain + 5
	r := rand.New(rand.NewPCG(1, 2))
	everyProcs(t, func(t *testing.T) {
		eachSort(func(name, shape string) {
			total := interrupted(t, name, shape, n, math.MaxInt64, 0, nil)
			const parts = 3 // one call in each, so also in the last merge
			for part := range int64(parts) {
				k := total*part/parts + r.Int64N(total/parts) + 1
				for _, last := range []int64{k, math.MaxInt64} {
					interrupted(t, name, shape, n, k, last, stop)
					interrupted(t, name, shape, n, k, last, runtime.Goexit)
				}
			}
		})
	})
}

// A bubble fails when a goroutine of it is left.
func TestSortFuncsLeaveNoGoroutine(t *testing.T) {
	everyProcs(t, func(t *testing.T) {
		for name := range sorts {
			synctest.Test(t, func(t *testing.T) {
				interrupted(t, name, "random", 4*grain, math.MaxInt64, 0, nil)
				interrupted(t, name, "random", 4*grain, 1000, math.MaxInt64, stop)
				interrupted(t, name, "two runs", 4*grain, 5*grain, math.MaxInt64, runtime.Goexit)
			})
		}
	})
}

// A goroutine is in the middle of a part when cmp does not return.
func TestSortFuncsStopSoonAfterAPanic(t *testing.T) {
	const n = 64 * grain
	for _, p := range []int{2, 8} {
		procs(t, p)
		for name, sort := range sorts {
			calls, panicked := stopAt(t, 1000, func(step func()) {
				sort(recordsOf("random", n), func(a, b record) int {
					step()
					return byKey(a, b)
				})
			})
			if e, ok := panicked.(*stint.PanicError); !ok || e.Value != "stop" {
				t.Errorf("%s, GOMAXPROCS %d: panics with %v", name, p, panicked)
			}
			if most := float64(p) * grain * (math.Log2(grain) + 2); float64(calls) > most {
				t.Errorf("%s, GOMAXPROCS %d: %d calls, want at most %.0f", name, p, calls, most)
			}
		}
	}
}

// stopAt calls sort in a bubble, with a step that its cmp calls first. Call k of step panics
// with "stop"; later calls wait until the goroutine that has panicked waits or has ended,
// since otherwise they would go on if it lost its CPU just then. stopAt returns how many
// calls there were, and what sort panicked with.
func stopAt(t *testing.T, k int64, sort func(step func())) (calls int64, panicked any) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		var n atomic.Int64
		told, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			defer func() { panicked = recover() }()
			sort(func() {
				switch c := n.Add(1); {
				case c == k:
					panic("stop")
				case c > k:
					<-told
				}
			})
		}()
		synctest.Wait()
		close(told)
		<-ended
		calls = n.Load()
	})
	return calls, panicked
}

func TestContradictingCmpTerminates(t *testing.T) {
	var state atomic.Uint64
	lies := map[string]func(a, b record) int{
		"less":        func(a, b record) int { return -1 },
		"greater":     func(a, b record) int { return 1 },
		"equal":       func(a, b record) int { return 0 },
		"least":       func(a, b record) int { return math.MinInt },
		"random":      func(a, b record) int { return int(state.Add(0x9e3779b97f4a7c15)>>40%3) - 1 },
		"alternating": func(a, b record) int { return int(state.Add(1)%2)*2 - 1 },
		"rarely":      func(a, b record) int { return pick(rand.IntN(1000) == 0, -1, byKey(a, b)) },
		"circular":    func(a, b record) int { return (a.key-b.key)%3 - 1 },
		"extreme":     func(a, b record) int { return math.MinInt * (a.key & 1) },
	}
	everyProcs(t, func(t *testing.T) {
		for lie, cmp := range lies {
			for name, sort := range sorts {
				for _, n := range lengths {
					before := recordsOf("random", n)
					s := slices.Clone(before)
					var calls atomic.Int64
					sort(s, func(a, b record) int { calls.Add(1); return cmp(a, b) })
					whole(t, s, before)
					if c := calls.Load(); c > 2*mostCompares(n) { // which is promised for an order only
						t.Error(fmt.Sprint(name, ", ", lie, ": ", c, " compares of ", n))
					}
				}
			}
		}
	})
}

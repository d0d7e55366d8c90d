package par

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/testkit"
)

func stop() { panic("stop") }

// interrupted sorts a copy with a cmp that calls end in its calls from first to last. It
// checks that the caller sees the panic or Goexit, that all elements are there, and that no
// call is running or comes later. It returns how many calls there were.
func interrupted(t *testing.T, name string, before []record, first, last int64, end func()) int64 {
	t.Helper()
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
		t.Fatalf("%s: %s after %d calls, want %s", name, how, calls.Load(), want)
	}
	return calls.Load()
}

var interruptedShapes = []string{"random", "two runs", "appended", "disturbed", "saw down"}

func TestPanicInCmpReachesTheCallerAndLosesNothing(t *testing.T) {
	step := int64(1)
	if race.Enabled { // slow
		step = 29
	}
	for shape, n := range inputs(t, interruptedShapes, 2, 3, 21, stdMax+1) {
		before := recordsOf(shape, n)
		for name := range sorts {
			for k := int64(1); interrupted(t, name, before, k, k, stop) >= k; k += step {
			}
			for k := int64(1); interrupted(t, name, before, k, k, runtime.Goexit) >= k; k += step {
			}
		}
	}
}

// So it is on several goroutines, of which one or all do not return. The compares of two runs
// are nearly all in the last merge, which is in pieces.
func TestPanicsOfSeveralLoseNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for shape, n := range inputs(t, interruptedShapes[:3], 2*grain+5) {
		before := recordsOf(shape, n)
		for name := range sorts {
			total := interrupted(t, name, before, math.MaxInt64, 0, nil)
			const parts = 3 // one call in each, so also in the last merge
			for part := range int64(parts) {
				k := total*part/parts + r.Int64N(total/parts) + 1
				interrupted(t, name, before, k, k, stop)
				interrupted(t, name, before, k, k, runtime.Goexit)
				interrupted(t, name, before, k, math.MaxInt64, stop)
				interrupted(t, name, before, k, math.MaxInt64, runtime.Goexit)
			}
		}
	}
}

// A goroutine is in the middle of a part, or of a partition or merge of more elements, when cmp
// does not return.
func TestSortFuncsStopSoonAfterAPanic(t *testing.T) {
	size := map[bool]int{false: 64 * grain, true: 16 * grain}[race.Enabled]
	for shape, n := range inputs(t, []string{"random"}, size) {
		parts := int64(runtime.GOMAXPROCS(0) * grain * (bits.Len(grain) + 2))
		for name := range sorts {
			for k, most := range map[int]int64{1000: parts, 5 * n: int64(6*n) + parts} {
				calls, panicked := stopAt(t, int64(k), name, recordsOf(shape, n))
				if e, ok := panicked.(*stint.PanicError); !ok || e.Value != "stop" {
					t.Errorf("%s: panics with %v", name, panicked)
				}
				if calls > most {
					t.Errorf("%s: %d calls after %d, want at most %d", name, calls, k, most)
				}
			}
		}
	}
}

// stopAt sorts s in a bubble. Call k of cmp panics with "stop"; later calls wait until the
// goroutine that has panicked waits or has ended, since otherwise they would go on if it lost
// its CPU just then. stopAt returns how many calls there were, and what the caller recovered.
func stopAt(t *testing.T, k int64, name string, s []record) (calls int64, panicked any) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		var n atomic.Int64
		told, ended := make(chan struct{}), make(chan struct{})
		cmp := func(a, b record) int {
			if c := n.Add(1); c == k {
				panic("stop")
			} else if c > k {
				<-told
			}
			return byKey(a, b)
		}
		go func() {
			defer close(ended)
			panicked = testkit.Recovered(func() { sorts[name](s, cmp) })
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
	lies := []func(a, b record) int{
		func(a, b record) int { return -1 },
		func(a, b record) int { return 1 },
		func(a, b record) int { return 0 },
		func(a, b record) int { return math.MinInt },
		func(a, b record) int { return int(state.Add(0x9e3779b97f4a7c15)>>40%3) - 1 },
		func(a, b record) int { return int(state.Add(1)%2)*2 - 1 },
		func(a, b record) int { return pick(rand.IntN(1000) == 0, -1, byKey(a, b)) },
		func(a, b record) int { return (a.key-b.key)%3 - 1 },
		func(a, b record) int { return math.MinInt * (a.key & 1) },
	}
	for shape, n := range inputs(t, []string{"random"}, 2, 3, 21, stdMax+1, 300, 2*grain, 4*grain+7) {
		before := recordsOf(shape, n)
		for i := range len(lies) * len(sorts) {
			name := []string{"SortFunc", "SortStableFunc"}[i%2]
			s := slices.Clone(before)
			calls := compares(sorts[name], s, lies[i/2])
			whole(t, s, before)
			if calls > 2*mostCompares(n) { // which is promised for an order only
				t.Errorf("%s, lie %d: %d compares", name, i/2, calls)
			}
		}
	}
}

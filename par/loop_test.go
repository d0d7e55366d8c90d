package par

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/testkit"
)

func init() { splits = false } // it is what TestShortLoopsAreSplit is about

// procs sets GOMAXPROCS for a test.
func procs(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// An entryPoint is an exported function of this package, as a loop over indexes.
type entryPoint struct {
	name string
	loop func(n int, f func(i int))
}

// entryPoints are all of them.
var entryPoints = []entryPoint{
	{"Range", func(n int, f func(i int)) {
		Range(n, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				f(i)
			}
		})
	}},
	{"RangeWith", func(n int, f func(i int)) {
		RangeWith(n, func() any { return nil }, func(_ any, lo, hi int) {
			for i := lo; i < hi; i++ {
				f(i)
			}
		})
	}},
	{"Each", func(n int, f func(i int)) { Each(numbers(n), func(i *int) { f(*i) }) }},
	{"Map", func(n int, f func(i int)) { Map(numbers(n), func(i int) bool { f(i); return true }) }},
	{"Find", func(n int, f func(i int)) { Find(numbers(n), func(i int) bool { f(i); return false }) }},
	{"Reduce", func(n int, f func(i int)) {
		Reduce(numbers(n), func() int { return 0 }, func(a, i int) int { f(i); return a }, func(a, b int) int { return a })
	}},
}

// divides reports whether a long part of a call can be shared: a piece of Range or RangeWith
// cannot, and Reduce cuts its blocks before.
func (d entryPoint) divides() bool { return d.name == "Each" || d.name == "Map" || d.name == "Find" }

func numbers(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// each runs a test for every entry point on several numbers of CPUs.
func each(t *testing.T, test func(t *testing.T, d entryPoint)) {
	for _, d := range entryPoints {
		for _, p := range []int{1, 2, 3, 8} {
			t.Run(fmt.Sprintf("%s/%d", d.name, p), func(t *testing.T) {
				procs(t, p)
				test(t, d)
			})
		}
	}
}

// once calls loop for n items, with counters that the race detector watches, and checks that
// it calls each of them once.
func once(t *testing.T, d entryPoint, n int, item func(i int)) {
	t.Helper()
	calls := make([]int, n)
	d.loop(n, func(i int) {
		calls[i]++
		item(i)
	})
	if i := slices.IndexFunc(calls, func(c int) bool { return c != 1 }); i >= 0 {
		t.Errorf("%s, n = %d: %d calls for index %d", d.name, n, calls[i], i)
	}
}

// Every index is called once, for none, one, few and many.
func TestExactlyOnce(t *testing.T) {
	each(t, func(t *testing.T, d entryPoint) {
		for _, n := range []int{0, 1, 2, 3, 7, 8, 16, 17, 127, 128, 129, 1023, 1025, 4097, 100_000} {
			once(t, d, n, func(i int) {
				if i%1024 == 7 {
					runtime.Gosched()
				}
			})
		}
	})
}

// So it is for loops of random sizes and costs from several goroutines at once, while
// GOMAXPROCS changes.
func TestExactlyOnceAtRandom(t *testing.T) {
	procs(t, 4)
	var wg sync.WaitGroup
	for c := range uint64(4) {
		r := rand.New(rand.NewPCG(1, c))
		wg.Go(func() {
			for range 100 {
				d, n, at := entryPoints[r.IntN(len(entryPoints))], 1+r.IntN(1<<r.IntN(14)), r.IntN(1000)
				runtime.GOMAXPROCS(1 + r.IntN(8))
				once(t, d, n, func(i int) {
					for k := 0; i%1000 == at && k < 100; k++ {
						runtime.Gosched()
					}
				})
			}
		})
	}
	wg.Wait()
}

// At no time are there more calls than CPUs, nor goroutines after the last.
func TestAtMostOneCallAProcessor(t *testing.T) {
	each(t, func(t *testing.T, d entryPoint) {
		before := runtime.NumGoroutine()
		var g testkit.Gauge
		d.loop(40, func(int) { g.Hold(20 * time.Microsecond) })
		if p := runtime.GOMAXPROCS(0); g.Max() > p {
			t.Errorf("%d calls at once on %d processors", g.Max(), p)
		}
		goroutinesEnd(t, before)
	})
}

// goroutinesEnd checks that the goroutines of a loop have ended, after a few more instructions.
func goroutinesEnd(t *testing.T, before int) {
	t.Helper()
	for range 10_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, before the loop there were %d", runtime.NumGoroutine(), before)
}

// A timing is how long a loop takes in virtual time, in which only sleeps take time.
type timing struct {
	what     string
	procs, n int
	cost     func(i int) time.Duration
	most     time.Duration
	least    time.Duration // if not 0: for Each, which calls no helper, for example
	divides  bool          // only for entry points that divide long parts
}

func same(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// change returns costs that are early before index at, and late from there on.
func change(at int, early, late time.Duration) func(int) time.Duration {
	return func(i int) time.Duration {
		if i < at {
			return early
		}
		return late
	}
}

const (
	µs = time.Microsecond
	ms = time.Millisecond
)

// timings are loops and how long they take. Few long items are distributed from the first on;
// of many the first runs alone. A helper is called for 60 µs of work.
func timings() []timing {
	ts := []timing{
		{what: "two long items", procs: 8, n: 2, cost: same(ms), most: ms},
		{what: "8 long items", procs: 8, n: 8, cost: same(ms), most: ms},
		{what: "64 long items", procs: 8, n: 64, cost: same(ms), most: 9 * ms},
		{what: "1024 long items", procs: 8, n: 1024, cost: same(ms), most: 129 * ms},
		{what: "two items of 50 µs", procs: 2, n: 2, cost: same(50 * µs), most: 50 * µs},
		{what: "three items of 1 µs", procs: 2, n: 3, cost: same(µs), most: 2 * µs},
		{what: "7 items", procs: 2, n: 7, cost: same(ms), most: 4 * ms, least: 4 * ms},
		{what: "8 items", procs: 2, n: 8, cost: same(ms), most: 5 * ms, least: 5 * ms},
		{what: "50 µs in all", procs: 2, n: 200, cost: same(250), most: 50 * µs, least: 50 * µs},
		{what: "80 µs in all", procs: 2, n: 200, cost: same(400), most: 70 * µs, divides: true},
		{what: "55 µs in all", procs: 2, n: 5000, cost: same(11), most: 55 * µs, least: 55 * µs},
		{what: "75 µs in all", procs: 2, n: 5000, cost: same(15), most: 70 * µs, divides: true},
		{what: "uneven", procs: 2, n: 20_000, cost: func(i int) time.Duration { return time.Duration(i / 10) }, most: 10_100 * µs},
		{what: "uneven, falling", procs: 2, n: 20_000, cost: func(i int) time.Duration { return time.Duration(2000 - i/10) }, most: 10_100 * µs},
		{what: "the first is slow", procs: 2, n: 1000, cost: change(1, 900, 2), most: 2898, least: 2898},
	}
	const n, giant = 10_000, 5 * ms
	for _, at := range []int{0, n / 2, n - 1} {
		want := giant + n*µs/2 // it runs before the others are called, or when all others are done
		if at == n/2 {
			want = (n*µs + giant) / 2
		}
		cost := func(i int) time.Duration { return change(at, µs, giant)(i) - change(at+1, 0, giant-µs)(i) }
		ts = append(ts, timing{what: fmt.Sprint("a giant at ", at), procs: 2, n: n, cost: cost, most: want * 11 / 10})
	}
	for k := range 20 { // short items, then long items
		for _, short := range []time.Duration{0, 100} {
			at := k * 150
			sum := time.Duration(at)*short + time.Duration(3000-at)*100*µs
			ts = append(ts, timing{what: fmt.Sprint("long from ", at, " on, before ", short), procs: 2, n: 3000,
				cost: change(at, short, 100*µs), most: sum * 7 / 10, divides: true})
		}
	}
	for _, n := range []int{2, 5, 21, 85, 127} { // short until the caller looks at the clock
		most := time.Duration(n-n/5+1) / 2 * 10 * ms * 16 / 10
		ts = append(ts, timing{what: fmt.Sprint("long from a fifth of ", n, " on"), procs: 2, n: n, cost: change(n/5, 0, 10*ms), most: most, divides: true})
	}
	// long items inside a long batch: who has it returns a part of it
	return append(ts, timing{what: "a cluster", procs: 2, n: 16_000, divides: true, most: 12 * ms,
		cost: func(i int) time.Duration { return 10 + change(5000, 0, 100*µs)(i) - change(5200, 0, 100*µs)(i) }})
}

func TestTimings(t *testing.T) {
	for _, c := range timings() {
		for _, d := range entryPoints {
			if c.divides && !d.divides() || c.least > 0 && d.name != "Each" {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				procs(t, c.procs)
				began := time.Now()
				d.loop(c.n, func(i int) { time.Sleep(c.cost(i)) })
				if got := time.Since(began); got > c.most || got < c.least {
					t.Errorf("%s, %s: %v, want from %v to %v", d.name, c.what, got, c.least, c.most)
				}
			})
		}
	}
}

// Short loops stay on the caller's goroutine, unless they have few items. In a bubble no time
// passes, so all are short.
func TestShortLoopsStayAlone(t *testing.T) {
	for _, d := range entryPoints {
		for _, n := range []int{0, 1, 8, 10, 127, 128, 1000, 10_000} {
			synctest.Test(t, func(t *testing.T) {
				procs(t, 2)
				before, most := runtime.NumGoroutine(), 0
				d.loop(n, func(int) { most = max(most, runtime.NumGoroutine()-before) })
				if most > 0 {
					t.Errorf("%s: n = %d: %d more goroutines", d.name, n, most)
				}
			})
		}
	}
}

// Under the race detector, short loops run on two goroutines.
func TestShortLoopsAreSplit(t *testing.T) {
	if !race.Enabled {
		t.Skip("the race detector is not there: go test -race")
	}
	splits = true
	defer func() { splits = false }()
	procs(t, 2)
	for _, d := range entryPoints {
		for _, n := range []int{2, 3, 100, 128, 300, 10_000} {
			seen := make([]int, n)
			once(t, d, n, func(i int) { seen[i] = goroutine.ID() })
			slices.Sort(seen)
			if got := len(slices.Compact(seen)); seen[0] == 0 || got < 2 {
				t.Errorf("%s: %d items on %d goroutines", d.name, n, got)
			}
		}
	}
}

// Map returns the results in the order of the items, and Each gives the items themselves.
func TestPositions(t *testing.T) {
	procs(t, 3)
	for _, n := range []int{0, 1, 100, 50_000} {
		got, s := Map(numbers(n), func(i int) int { return i + 1 }), numbers(n)
		Each(s, func(v *int) { *v++ })
		if got == nil || !slices.Equal(got, s) || n > 0 && (got[0] != 1 || got[n-1] != n) {
			t.Errorf("%d items: nil: %v; the results of Map and Each differ, or are wrong", n, got == nil)
		}
	}
}

// Pieces of Range are not empty and follow the indexes.
func TestPiecesOfRange(t *testing.T) {
	procs(t, 2)
	var sum atomic.Int64
	Range(100_000, func(lo, hi int) {
		if lo < 0 || lo >= hi || hi > 100_000 {
			t.Errorf("a piece from %d to %d", lo, hi)
		}
		sum.Add(int64(hi - lo))
		runtime.Gosched()
	})
	if sum.Load() != 100_000 {
		t.Errorf("%d indexes", sum.Load())
	}
}

func TestBadArguments(t *testing.T) {
	one := func() int { return 1 }
	two := func(a, b int) int { return a }
	for want, f := range map[string]func(){
		"par: Range: n is -1, want 0 or more":     func() { Range(-1, func(lo, hi int) {}) },
		"par: Range: f is nil":                    func() { Range(0, nil) },
		"par: RangeWith: n is -1, want 0 or more": func() { RangeWith(-1, one, func(_, lo, hi int) {}) },
		"par: RangeWith: new is nil":              func() { RangeWith(0, nil, func(_, lo, hi int) {}) },
		"par: RangeWith: f is nil":                func() { RangeWith(0, one, nil) },
		"par: Each: f is nil":                     func() { Each([]int{}, nil) },
		"par: Map: f is nil":                      func() { Map[int, int](nil, nil) },
		"par: Find: f is nil":                     func() { Find([]int{}, nil) },
		"par: Reduce: zero is nil":                func() { Reduce([]int{}, nil, two, two) },
		"par: Reduce: fold is nil":                func() { Reduce([]int{}, one, nil, two) },
		"par: Reduce: merge is nil":               func() { Reduce([]int{}, one, two, nil) },
		"par: SortFunc: cmp is nil":               func() { SortFunc([]int{}, nil) },
		"par: SortStableFunc: cmp is nil":         func() { SortStableFunc([]int{}, nil) },
	} {
		testkit.Equal(t, "panic", testkit.Recovered(f), any(want))
	}
}

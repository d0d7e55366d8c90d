package par

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/race"
)

func init() { splits = false } // it is what TestShortLoopsAreSplit is about

// Under the race detector, short loops run on two goroutines, and end as others do.
func TestShortLoopsAreSplit(t *testing.T) {
	if !race.Enabled {
		t.Skip("the race detector is not there: go test -race")
	}
	splits = true
	defer func() { splits = false }()
	procs(t, 2)
	for _, d := range entryPoints {
		if d.name == "Find" {
			continue // is done in order
		}
		for _, n := range []int{2, 3, 100, 128, 300, 10_000} {
			seen := make([]int, n)
			d.loop(n, func(i int) { seen[i] = goroutine.ID() })
			slices.Sort(seen)
			if got := len(slices.Compact(seen)); seen[0] == 0 || got < 2 {
				t.Errorf("%s: %d items on %d goroutines", d.name, n, got)
			}
			for _, at := range []int{0, n - 1} {
				func() {
					defer func() {
						if p, ok := recover().(*stint.PanicError); !ok || p.Value != at || !strings.Contains(string(p.Stack), "bang") {
							t.Errorf("%s: %d items, panic at %d: %v", d.name, n, at, p)
						}
					}()
					d.loop(n, func(i int) {
						if i == at {
							bang(at)
						}
					})
				}()
				ended := make(chan bool)
				go func() {
					returned := false
					defer func() { ended <- returned }()
					d.loop(n, func(i int) {
						if i == at {
							runtime.Goexit()
						}
					})
					returned = true
				}()
				if <-ended {
					t.Errorf("%s: %d items, Goexit at %d: the loop returned", d.name, n, at)
				}
			}
		}
	}
}

// A split loop makes all calls, even if GOMAXPROCS has become 1 since it was read.
func TestSplitLoopIsWhole(t *testing.T) {
	procs(t, 1)
	for _, n := range []int{2, 3, itemsPerHelper, itemsPerHelper + 1} {
		calls := make([]int, n)
		s := start{n: n, procs: 2}
		s.split(func(lo, hi int) {
			for i := range calls[lo:hi] {
				calls[lo+i]++
			}
		})
		for i, c := range calls {
			if want := max(0, min(1, s.begun-i)); c != want || s.begun == 0 {
				t.Errorf("%d items: %d calls for index %d, begun are %d", n, c, i, s.begun)
			}
		}
	}
}

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

// Every index is called once, for none, one, few and many, with counters that the race
// detector watches.
func TestExactlyOnce(t *testing.T) {
	each(t, func(t *testing.T, d entryPoint) {
		for _, n := range []int{0, 1, 2, 3, 7, 8, 16, 17, 127, 128, 129, 1023, 1025, 4097, 100_000} {
			calls := make([]int, n)
			d.loop(n, func(i int) {
				calls[i]++
				if i%1024 == 7 {
					runtime.Gosched()
				}
			})
			for i, c := range calls {
				if c != 1 {
					t.Fatalf("n = %d: %d calls for index %d", n, c, i)
				}
			}
		}
	})
}

// Loops from several goroutines at once, of random sizes and costs, with counters
// that the race detector watches.
func TestExactlyOnceAtRandom(t *testing.T) {
	procs(t, 4)
	var wg sync.WaitGroup
	for c := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, c))
			for range 100 {
				d, n, at := entryPoints[r.IntN(len(entryPoints))], 1+r.IntN(1<<r.IntN(14)), r.IntN(1000)
				calls := make([]int, n)
				d.loop(n, func(i int) {
					calls[i]++
					if i%1000 == at {
						for range 10_000 {
							calls[i]++
						}
						calls[i] -= 10_000
						runtime.Gosched()
					}
				})
				if i := slices.IndexFunc(calls, func(c int) bool { return c != 1 }); i >= 0 {
					t.Errorf("%s, n = %d: %d calls for index %d", d.name, n, calls[i], i)
				}
			}
		})
	}
	wg.Wait()
}

// At no time are there more calls than CPUs, nor goroutines after the last.
func TestAtMostOneCallAProcessor(t *testing.T) {
	each(t, func(t *testing.T, d entryPoint) {
		before := runtime.NumGoroutine()
		var now, most atomic.Int32
		d.loop(40, func(int) {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(20 * time.Microsecond)
			now.Add(-1)
		})
		if p := int32(runtime.GOMAXPROCS(0)); most.Load() > p {
			t.Errorf("%d calls at once on %d processors", most.Load(), p)
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

// In virtual time, which only sleeps take, a loop takes exactly the expected time: few long
// items are distributed from the first on, and of many the first runs alone.
func TestLongItemsAreShared(t *testing.T) {
	for _, d := range entryPoints {
		for _, n := range []int{2, 8, 64, 1024} {
			synctest.Test(t, func(t *testing.T) {
				procs(t, 8)
				began := time.Now()
				d.loop(n, func(int) { time.Sleep(time.Millisecond) })
				got, want := time.Since(began), time.Duration((n+7)/8)*time.Millisecond
				if got != want && !(n >= 7*itemsPerHelper && got == want+time.Millisecond) { // the first of many runs alone
					t.Errorf("%s: %d items of 1 ms: %v, want %v", d.name, n, got, want)
				}
			})
		}
	}
}

// Short items, then long items, with the change at any position: a piece that rests on an
// estimate is bounded, so no loop is left to one worker.
func TestPhasesAreShared(t *testing.T) {
	const n = 3000
	for _, d := range entryPoints[2:] { // a piece of Range or RangeWith cannot be divided
		if d.name == "Reduce" {
			continue // its blocks are cut before
		}
		for _, short := range []time.Duration{0, 100 * time.Nanosecond} {
			for change := range 20 {
				synctest.Test(t, func(t *testing.T) {
					procs(t, 2)
					change := change * n / 20
					cost := func(i int) time.Duration {
						if i < change {
							return short
						}
						return 100 * time.Microsecond
					}
					sum := time.Duration(0)
					for i := range n {
						sum += cost(i)
					}
					began := time.Now()
					d.loop(n, func(i int) { time.Sleep(cost(i)) })
					if got, want := time.Since(began), sum/2; got > want*14/10 {
						t.Errorf("%s: long from %d on, %v before: %v, ideal are %v", d.name, change, short, got, want)
					}
				})
			}
		}
	}
}

// Items that are short until the caller looks at the clock, and long from then on: what the
// caller does alone before it looks again is bounded.
func TestLongAfterShort(t *testing.T) {
	for _, n := range []int{2, 5, 21, 85, 127} {
		synctest.Test(t, func(t *testing.T) {
			procs(t, 2)
			const cost = 10 * time.Millisecond
			began := time.Now()
			Each(numbers(n), func(v *int) {
				if *v >= n/5 {
					time.Sleep(cost)
				}
			})
			long := n - n/5
			if got, want := time.Since(began), time.Duration((long+1)/2)*cost; got > want*16/10 {
				t.Errorf("n = %d: %v, want about %v", n, got, want)
			}
		})
	}
}

// Two items that are worth help together, though one is not.
func TestTwoItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		procs(t, 2)
		began := time.Now()
		Each([]int{1, 2}, func(*int) { time.Sleep(50 * time.Microsecond) })
		if got := time.Since(began); got != 50*time.Microsecond {
			t.Errorf("%v", got)
		}
	})
}

// A loop calls for help when 60 µs or more are left, after a microsecond; a loop of few
// items calls at once. In virtual time a loop with helpers takes less than
// the sum of its items.
func TestWhenHelpIsCalled(t *testing.T) {
	for _, c := range []struct {
		n    int
		cost time.Duration
		want time.Duration // 0: less than the sum
	}{
		{200, 250 * time.Nanosecond, 50 * time.Microsecond},
		{200, 400 * time.Nanosecond, 0},
		{5000, 11 * time.Nanosecond, 55 * time.Microsecond},
		{5000, 15 * time.Nanosecond, 0},
		{7, time.Millisecond, 4 * time.Millisecond},
		{8, time.Millisecond, 5 * time.Millisecond}, // the first alone
		{128, time.Millisecond, 65 * time.Millisecond},
		{3, time.Microsecond, 2 * time.Microsecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			procs(t, 2)
			began := time.Now()
			Each(make([]int, c.n), func(*int) { time.Sleep(c.cost) })
			got, sum := time.Since(began), time.Duration(c.n)*c.cost
			if c.want > 0 && got != c.want || c.want == 0 && got >= sum {
				t.Errorf("%d items of %v: %v, want %v", c.n, c.cost, got, c.want)
			}
		})
	}
}

// Nothing is concluded from the first microsecond: a first item that misses the cache does
// not make a loop long.
func TestSlowFirstItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		procs(t, 2)
		began := time.Now()
		Each(numbers(1000), func(v *int) {
			switch *v {
			case 0:
				time.Sleep(900 * time.Nanosecond)
			default:
				time.Sleep(2 * time.Nanosecond)
			}
		})
		if got, want := time.Since(began), 900*time.Nanosecond+999*2*time.Nanosecond; got != want {
			t.Errorf("%v, want %v: help was called", got, want)
		}
	})
}

// One long item among many does not hold up the others.
func TestGiantIsNotInTheWay(t *testing.T) {
	const n, giant = 10_000, 5 * time.Millisecond
	for _, d := range entryPoints {
		for _, at := range []int{0, n / 2, n - 1} {
			synctest.Test(t, func(t *testing.T) {
				procs(t, 2)
				began := time.Now()
				d.loop(n, func(i int) {
					time.Sleep(time.Microsecond)
					if i == at {
						time.Sleep(giant)
					}
				})
				want := (n*time.Microsecond + giant) / 2
				switch at {
				case 0:
					want = giant + n*time.Microsecond/2 // it runs before the others are called
				case n - 1:
					want = giant + n*time.Microsecond/2 // it comes when all others are done
				}
				if got := time.Since(began); got > want*11/10 {
					t.Errorf("%s: giant at %d: %v, want %v", d.name, at, got, want)
				}
			})
		}
	}
}

// Short loops stay on the caller's goroutine, unless they have few items. In a bubble no time
// passes, so all are short.
func TestShortLoopsStayAlone(t *testing.T) {
	for _, d := range entryPoints {
		for _, n := range []int{0, 1, 8, 10, 127, 128, 1000, maxUntimed} {
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

// Without a tick of the clock, as in a bubble or where clocks are coarse, a loop
// of many items gets its helpers all the same.
func TestBlindLoopIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		procs(t, 2)
		var others atomic.Int32
		caller := goroutine.ID()
		Each(make([]int, 20*maxUntimed), func(*int) {
			if goroutine.ID() != caller {
				others.Add(1)
			}
			runtime.Gosched()
		})
		if others.Load() == 0 {
			t.Error("the caller did everything")
		}
	})
}

// Short loops allocate nothing: one item, and many that the caller does alone. The clock of
// a bubble stands still, so no loop looks long because the machine held it up.
func TestShortLoopsAllocateNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("what splits short loops for the race detector allocates")
	}
	procs(t, 2)
	s := make([]int, 200)
	double := func(v *int) { *v *= 2 }
	is := func(v int) bool { return v == 1 }
	over := func(lo, hi int) {}
	same := func(v int) int { return v }
	for _, c := range []struct {
		name string
		f    func()
		want uint64
	}{
		{"Range of none", func() { Range(0, over) }, 0},
		{"Range of one", func() { Range(1, over) }, 0},
		{"Range of few", func() { Range(10, over) }, 0},
		{"Range", func() { Range(200, over) }, 0},
		{"Each of none", func() { Each(s[:0], double) }, 0},
		{"Each of one", func() { Each(s[:1], double) }, 0},
		{"Each of few", func() { Each(s[:10], double) }, 0},
		{"Each", func() { Each(s, double) }, 0},
		{"Find", func() { Find(s, is) }, 0},
		{"Map", func() { Map(s, same) }, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			const runs = 1000
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range runs {
				c.f()
			}
			runtime.ReadMemStats(&after)
			if made := after.Mallocs - before.Mallocs; made > c.want*runs+runs/2 {
				t.Errorf("%s: %d allocations in %d calls", c.name, made, runs)
			}
		})
	}
}

func TestMapKeepsPositions(t *testing.T) {
	procs(t, 3)
	for _, n := range []int{0, 1, 100, 50_000} {
		got := Map(numbers(n), func(i int) string { return fmt.Sprint(i) })
		if got == nil || len(got) != n {
			t.Fatalf("%d results of %d items, nil: %v", len(got), n, got == nil)
		}
		for i, s := range got {
			if s != fmt.Sprint(i) {
				t.Fatalf("result %d is %s", i, s)
			}
		}
	}
}

func TestEachGivesTheElements(t *testing.T) {
	procs(t, 3)
	s := numbers(50_000)
	Each(s, func(v *int) { *v++ })
	for i, v := range s {
		if v != i+1 {
			t.Fatalf("element %d is %d", i, v)
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

// Find returns what slices.IndexFunc does, wherever the elements are and however
// long they take.
func TestFindReturnsTheLowest(t *testing.T) {
	for _, p := range []int{1, 2, 8} {
		procs(t, p)
		r := rand.New(rand.NewPCG(1, uint64(p)))
		for range 300 {
			n := 1 + r.IntN(1<<r.IntN(15))
			s := make([]int32, n)
			for range r.IntN(4) {
				s[r.IntN(n)] = 1
			}
			slow := r.IntN(n + 1)
			is := func(v int32) bool { return v == 1 }
			var calls atomic.Int64
			got := Find(s, func(v int32) bool {
				if calls.Add(1) == int64(slow) {
					time.Sleep(10 * time.Microsecond)
				}
				return is(v)
			})
			if want := slices.IndexFunc(s, is); got != want {
				t.Fatalf("n = %d: %d, want %d", n, got, want)
			}
			if c := int(calls.Load()); c > n {
				t.Fatalf("n = %d: %d calls", n, c)
			}
		}
	}
}

// Items after the found one are not called once it is known. The items are long, so at most
// the two that run at that time are superfluous.
func TestFindStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		procs(t, 2)
		calls := 0
		var mu sync.Mutex
		s := numbers(1 << 20)
		got := Find(s, func(i int) bool {
			mu.Lock()
			calls++
			mu.Unlock()
			time.Sleep(time.Millisecond)
			return i == 100
		})
		if got != 100 || calls > 101+2 {
			t.Errorf("index %d after %d calls", got, calls)
		}
	})
}

// Short items, of which many are claimed at once: what comes after the one found is
// not called, except for those in hand.
func TestFindStopsInAChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		procs(t, 2)
		const at = 30_000
		calls := 0
		var mu sync.Mutex
		got := Find(numbers(1<<20), func(i int) bool {
			mu.Lock()
			calls++
			mu.Unlock()
			time.Sleep(time.Nanosecond)
			return i == at
		})
		if got != at || calls > 2*at+100 {
			t.Errorf("index %d after %d calls", got, calls)
		}
	})
}

// naive is the tree of Reduce as its comment has it, built level by level.
func naive[T, A any](s []T, zero func() A, fold func(A, T) A, merge func(A, A) A) A {
	var level []A
	for block := range slices.Chunk(s, (len(s)+1023)/1024) {
		a := zero()
		for _, v := range block {
			a = fold(a, v)
		}
		level = append(level, a)
	}
	for len(level) > 1 {
		var next []A
		for pair := range slices.Chunk(level, 2) {
			if len(pair) == 2 {
				pair[0] = merge(pair[0], pair[1])
			}
			next = append(next, pair[0])
		}
		level = next
	}
	return level[0]
}

// A sum of floats has the same bits for every number of CPUs and schedule:
// those of the tree that the comment describes.
func TestReduceIsTheSameToTheLastBit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	zero := func() float64 { return 0 }
	add := func(a, b float64) float64 { return a + b }
	for _, n := range []int{1, 2, 3, 5, 100, 1023, 1024, 1025, 2047, 100_003} {
		s := make([]float64, n)
		for i := range s {
			s[i] = r.NormFloat64() * float64(uint64(1)<<r.IntN(60))
		}
		want := naive(s, zero, add, add)
		for p := 1; p <= 16; p++ {
			procs(t, p)
			for range 6 {
				slow := r.Float64()
				got := Reduce(s, zero, func(a, b float64) float64 {
					if b == s[int(slow*float64(n))] {
						time.Sleep(5 * time.Microsecond)
					}
					return a + b
				}, add)
				if math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("n = %d on %d processors: %x, want %x", n, p, got, want)
				}
			}
		}
	}
}

// Neighbours are merged, the lower one first, and every result of zero is used for one
// block.
func TestReduceKeepsTheOrder(t *testing.T) {
	for _, p := range []int{1, 2, 8} {
		procs(t, p)
		for _, n := range []int{0, 1, 2, 7, 1000, 5000} {
			var zeros atomic.Int32
			got := Reduce(numbers(n),
				func() []int { zeros.Add(1); return nil },
				func(a []int, i int) []int { return append(a, i) },
				func(a, b []int) []int { return append(a, b...) })
			if !slices.Equal(got, numbers(n)) {
				t.Errorf("n = %d: the elements are out of order", n)
			}
			if z := int(zeros.Load()); z > max(1, min(n, 1024)) {
				t.Errorf("n = %d: %d calls of zero", n, z)
			}
		}
	}
}

// Loops in loops, four deep, end on any number of CPUs.
func TestNested(t *testing.T) {
	each(t, func(t *testing.T, d entryPoint) {
		var calls atomic.Int32
		var nest func(depth int)
		nest = func(depth int) {
			if depth == 0 {
				calls.Add(1)
				return
			}
			d.loop(5, func(int) { nest(depth - 1) })
		}
		nest(4)
		if calls.Load() != 5*5*5*5 {
			t.Errorf("%d calls", calls.Load())
		}
	})
}

// GOMAXPROCS may change between calls and while one runs.
func TestProcessorsChange(t *testing.T) {
	procs(t, 4)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for p := 1; ; p = p%8 + 1 {
			select {
			case <-done:
				return
			default:
				runtime.GOMAXPROCS(p)
			}
		}
	})
	for _, d := range entryPoints {
		for range 20 {
			calls := make([]int, 3000)
			d.loop(len(calls), func(i int) { calls[i]++ })
			if i := slices.IndexFunc(calls, func(c int) bool { return c != 1 }); i >= 0 {
				t.Errorf("%s: %d calls for index %d", d.name, calls[i], i)
			}
		}
	}
	close(done)
	wg.Wait()
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
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

// A panic reaches the caller with value and stack, when all other calls have
// returned, at every place and number of items.
func TestPanicsReachTheCaller(t *testing.T) {
	boom := errors.New("boom")
	each(t, func(t *testing.T, d entryPoint) {
		for _, n := range []int{1, 2, 17, 200, 5000} {
			for _, at := range []int{0, n / 2, n - 1} {
				before := runtime.NumGoroutine()
				var running atomic.Int32
				var started atomic.Int32
				func() {
					defer func() {
						p, ok := recover().(*stint.PanicError)
						if !ok || p.Value != boom || !errors.Is(p, boom) || !strings.Contains(string(p.Stack), "bang") {
							t.Errorf("n = %d, at %d: got %v", n, at, p)
						}
						if running.Load() != 0 {
							t.Errorf("n = %d, at %d: %d calls still run", n, at, running.Load())
						}
					}()
					d.loop(n, func(i int) {
						running.Add(1)
						defer running.Add(-1)
						started.Add(1)
						if i == at {
							bang(boom)
						}
						runtime.Gosched()
					})
					t.Errorf("n = %d, at %d: the loop returned", n, at)
				}()
				if int(started.Load()) > n {
					t.Errorf("n = %d: %d calls", n, started.Load())
				}
				goroutinesEnd(t, before)
			}
		}
	})
}

func bang(v any) { panic(v) }

// The first panic is raised, and its Also has the others.
func TestSeveralPanics(t *testing.T) {
	procs(t, 2)
	var both sync.WaitGroup
	both.Add(2)
	defer func() {
		p := recover().(*stint.PanicError)
		other := p.Also()
		if other == nil || p.Value == nil || !strings.Contains(p.Error(), "and in the same call") {
			t.Errorf("got %v, and %v", p.Value, other)
		}
	}()
	Each([]int{1, 2}, func(v *int) { // few, so both at once
		both.Done()
		both.Wait()
		panic(*v)
	})
}

// A panic that passes through several loops is not wrapped again.
func TestPanicsPassThroughLoops(t *testing.T) {
	procs(t, 2)
	for _, n := range []int{1, 2, 300} {
		func() {
			defer func() {
				p := recover().(*stint.PanicError)
				if p.Value != "inner" {
					t.Errorf("n = %d: %v", n, p.Value)
				}
			}()
			Each(make([]int, n), func(*int) { Range(n, func(lo, hi int) { panic("inner") }) })
		}()
	}
}

// Also where there is no element.
func TestPanicOfZero(t *testing.T) {
	defer func() {
		if p, ok := recover().(*stint.PanicError); !ok || p.Value != "x" {
			t.Errorf("got %v", p)
		}
	}()
	Reduce([]int{}, func() int { panic("x") }, func(a, v int) int { return a }, func(a, b int) int { return a })
}

// A Goexit ends the caller's goroutine when all other calls have returned.
func TestGoexitEndsTheCaller(t *testing.T) {
	each(t, func(t *testing.T, d entryPoint) {
		for _, n := range []int{1, 2, 17, 200, 5000} {
			for _, at := range []int{0, n / 2, n - 1} {
				before := runtime.NumGoroutine()
				var running atomic.Int32
				ended, returned := make(chan struct{}), false
				go func() {
					defer close(ended)
					defer func() {
						if running.Load() != 0 {
							t.Errorf("n = %d, at %d: %d calls still run", n, at, running.Load())
						}
					}()
					d.loop(n, func(i int) {
						running.Add(1)
						defer running.Add(-1)
						if i == at {
							runtime.Goexit()
						}
						runtime.Gosched()
					})
					returned = true
				}()
				if <-ended; returned {
					t.Errorf("n = %d, at %d: the loop returned", n, at)
				}
				goroutinesEnd(t, before)
			}
		}
	})
}

// A panic is raised also when another call has ended its goroutine.
func TestPanicBesideGoexit(t *testing.T) {
	procs(t, 2)
	beside := func() {
		var both sync.WaitGroup
		both.Add(2)
		Each([]int{0, 1}, func(v *int) {
			both.Done()
			both.Wait()
			if *v == 0 {
				runtime.Goexit()
			}
			panic("x")
		})
	}
	for name, f := range map[string]func(){
		"in a loop":          beside,
		"in a loop in loops": func() { Each([]int{0}, func(*int) { Each([]int{0}, func(*int) { beside() }) }) },
	} {
		got := make(chan any, 1)
		go func() {
			defer func() { got <- recover() }()
			f()
		}()
		if p, ok := (<-got).(*stint.PanicError); !ok || p.Value != "x" {
			t.Errorf("%s: got %v", name, p)
		}
	}
}

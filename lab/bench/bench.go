// Package bench is what the benchmarks of the laboratory share: their TestMain, the check of their results, and
// measurements beside time and allocations.
package bench

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Main is the TestMain of a package of benchmarks.
//
// With -bench it first prints the package's own flags and GOGC as configuration lines of the Go benchmark format, so
// that every result says how it was made. Without, as in a plain go test, it runs each benchmark once, with -short: a
// benchmark that fails or gives a wrong result fails the test.
func Main(m *testing.M) {
	flag.Parse()
	set := func(name string) bool { return flag.Lookup("test."+name).Value.String() != "" }
	if set("list") || set("run") && !set("bench") {
		os.Exit(m.Run())
	}
	if !set("bench") {
		for name, value := range map[string]string{"bench": ".", "benchtime": "1x", "short": "true"} {
			if err := flag.Set("test."+name, value); err != nil {
				panic(err)
			}
		}
	}
	flag.VisitAll(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			fmt.Printf("%s: %s\n", f.Name, f.Value)
		}
	})
	if testing.Short() {
		fmt.Println("short: true")
	}
	fmt.Printf("gogc: %s\ngo: %s\n", cmp.Or(os.Getenv("GOGC"), "100"), runtime.Version())
	os.Exit(m.Run())
}

// Run measures op, which must return want each time. Beside time and allocations it reports CPU time, how much of the
// machine other programs used, and the peak of the memory of ops that take a millisecond or longer, which takes one more
// op. What the measured ops have left, also reports before that one.
func Run[R comparable](b *testing.B, want R, op func() R, also ...func(*testing.B)) {
	b.Helper()
	measure(b, func() {
		if got := op(); got != want {
			b.Fatalf("the result is %v, want %v", got, want)
		}
	})
	for _, report := range also {
		report(b) // before the op of the peak
	}
	if b.Elapsed() >= time.Duration(b.N)*time.Millisecond {
		Peak(b, func() { op() })
	}
}

// Scheduled is Run, and also reports how often goroutines and threads were switched.
func Scheduled[R comparable](b *testing.B, want R, op func() R, also ...func(*testing.B)) {
	b.Helper()
	FirstCPUs(b)
	Run(b, want, op, append(also, per("scheduled/op", scheduled), per("switches/op", switches))...)
}

// Sample is Run for ops of about a second. The peak is that of the measured ops, since one more would take too long.
func Sample(b *testing.B, op func() error) {
	b.Helper()
	most := 0.0
	measure(b, func() {
		most = max(most, peak(func() {
			if err := op(); err != nil {
				b.Error(err)
			}
		}))
	})
	b.ReportMetric(most, "peak-B/op")
}

// Process measures op, whose work is done by other processes: this one's allocations and memory are not reported. After
// each op, outside of the time, check looks at what it has left.
func Process(b *testing.B, op, check func() error) {
	b.Helper()
	start := now()
	for b.Loop() {
		err := op()
		b.StopTimer()
		before := now()
		if err == nil {
			err = check()
		}
		if err != nil {
			b.Fatal(err)
		}
		spent := now().own - before.own
		start.at, start.own, start.everyone = start.at.Add(time.Since(before.at)), start.own+spent, start.everyone+spent
		b.StartTimer()
	}
	start.report(b)
}

func measure(b *testing.B, op func()) {
	b.Helper()
	FirstCPUs(b)
	b.ReportAllocs()
	start := now()
	for b.Loop() {
		op()
	}
	start.report(b)
}

// Warm runs an op that is not measured, on as many CPUs as the next one.
func Warm(b *testing.B, op func()) {
	FirstCPUs(b)
	op()
}

// ran are the benchmarks that have run.
var ran = map[string]bool{}

// FirstCPUs sets GOMAXPROCS to the first number of -cpu when a benchmark runs for the first time. Package testing does so
// only after that first time, which is all that it runs of a benchmark with b.Loop (Go issue 49980): with -cpu=1,2 the
// result for 1 would be measured with 2.
func FirstCPUs(b *testing.B) {
	first, _, _ := strings.Cut(flag.Lookup("test.cpu").Value.String(), ",")
	if n, err := strconv.Atoi(strings.TrimSpace(first)); err == nil && !ran[b.Name()] {
		runtime.GOMAXPROCS(n)
	}
	ran[b.Name()] = true
}

// Round returns the number of the round of lab run, which shuffles by it, or 0.
func Round() int {
	n, _ := strconv.Atoi(flag.Lookup("test.shuffle").Value.String())
	return n
}

// Peak reports the peak of the memory of an op more, in the first six rounds of lab run: they are enough for an interval. It
// replaces that of Run for ops that leave something behind for the next, such as a pool that is kept: op makes it, uses it
// and closes it.
func Peak(b *testing.B, op func()) {
	if Round() <= 6 {
		b.ReportMetric(peak(op), "peak-B/op")
	}
}

// Order returns the models of a list in another order in each round, so that none is always the first, or behind the same
// one: -test.shuffle alone leaves sub-benchmarks as they are.
func Order[T any](list []T) []T {
	out := slices.Clone(list)
	if seed := Round(); seed > 0 {
		// With this stream, each of two models is the first in about half of 6, 7, or 10 rounds.
		rand.New(rand.NewPCG(uint64(seed), 8)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// Latencies reports percentiles of times, which it sorts.
func Latencies(b *testing.B, times []time.Duration) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	for name, part := range map[string]float64{"p50-ns": 0.5, "p99-ns": 0.99} {
		b.ReportMetric(float64(times[int(part*float64(len(times)-1))]), name)
	}
}

// A Gauge counts the goroutines between Enter and Leave, and the most at once.
type Gauge struct{ now, most atomic.Int64 }

// Enter counts the goroutine.
func (g *Gauge) Enter() {
	n := g.now.Add(1)
	for m := g.most.Load(); n > m && !g.most.CompareAndSwap(m, n); m = g.most.Load() {
	}
}

// Leave ends what Enter began.
func (g *Gauge) Leave() { g.now.Add(-1) }

// Report reports the most goroutines at once.
func (g *Gauge) Report(b *testing.B) { b.ReportMetric(float64(g.most.Load()), "at-once") }

// Spin computes for the given number of steps, about a nanosecond each, and
// returns the result. Each step needs the result of the step before.
//
//go:noinline
func Spin(steps int) uint64 {
	x := uint64(steps) | 1
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// Steps returns how many steps of Spin take d on this machine.
func Steps(d time.Duration) int {
	return max(1, int(float64(d.Nanoseconds())/stepCost()))
}

// stepCost returns the time of one step in nanoseconds. It is measured once, as
// the fastest of several tries, since every disturbance makes a try slower.
var stepCost = sync.OnceValue(func() float64 {
	const steps = 200_000
	best := time.Hour
	for range 20 {
		began := time.Now()
		runtime.KeepAlive(Spin(steps))
		best = min(best, time.Since(began))
	}
	return max(float64(best.Nanoseconds()), 1) / steps
})

// Short returns n, or at most another number in a short test.
func Short[N int | time.Duration](n, most N) N {
	if testing.Short() {
		return min(n, most)
	}
	return n
}

// Check ends this program, and therefore its children, if there is an error.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Must returns v. An error ends this program, and therefore its children.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

package conformance_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/workload"
)

// Calls that are too short to measure anything in one of them teach a shared limiter together,
// also with pauses between them: the window of the search survives the end of a call.
func TestSmallCallsTeachTheSearch(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("1,500 calls")
	}
	collapse := workload.Workload{
		Procs: 2, Until: 1e9,
		Rate: func(n int) float64 { return min(1, 4/float64(n)) * min(1, 6/float64(n)) },
		Next: func(_ float64, r *rand.Rand) (compute, wait, serve float64) { return 0.01, 0, 10 * r.ExpFloat64() },
	}
	wait := collapse
	wait.Rate = nil
	wait.Next = func(_ float64, r *rand.Rand) (compute, wait, serve float64) { return 0.01, 10 * r.ExpFloat64(), 0 }
	const seeds = 5
	for _, c := range []struct {
		name     string
		workload workload.Workload
		best     int
		pause    time.Duration
		share    float64 // of the best throughput, on average over the seeds
	}{{"collapse", collapse, 4, 0, 0.85}, {"collapse", collapse, 4, 2 * time.Second, 0.85}, {"wait", wait, 60, 300 * time.Millisecond, 0.95}} {
		sum := 0.0
		for seed := range uint64(seeds) {
			best := smallCalls(t, &c.workload, seed, c.pause, stint.Limit(c.best))
			sum += best.Seconds() / smallCalls(t, &c.workload, seed, c.pause, stint.Auto(1, 256)).Seconds()
		}
		if sum/seeds < c.share {
			t.Errorf("%s, pauses of %v: %.2f of the best throughput, want %.2f", c.name, c.pause, sum/seeds, c.share)
		}
	}
}

// smallCalls returns how long 50 calls of 60 tasks take in total, pauses left out.
func smallCalls(t *testing.T, w *workload.Workload, seed uint64, pause time.Duration, l *stint.Limiter) (busy time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		live := workload.NewLive(w, seed)
		for range 50 {
			start := time.Now()
			equal(t, "Range", stint.Range(bg, 60, func(ctx context.Context, _ int) error { return live.Task(ctx) }, l), nil)
			busy += time.Since(start)
			time.Sleep(pause)
		}
	})
	return busy
}

// manyCalls makes calls of n tasks, one after the other, with pauses, on a limiter of its own, and
// returns the median of the limit after the later half of the calls. A task takes so many
// milliseconds, up to a share of spread more or less, and longer where more than best run.
func manyCalls(t *testing.T, e entryPoint, calls, n int, pause time.Duration, took, spread, best float64, opts ...stint.Option) (median int) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Auto(1, 256, opts...)
		w := workload.Workload{Procs: 2, Next: func(_ float64, r *rand.Rand) (compute, wait, serve float64) {
			return 0.01, 0, took * (1 + spread*(2*r.Float64()-1))
		}}
		w.Rate = func(n int) float64 { return min(1, best/float64(n)) * min(1, 1.25*best/float64(n)) }
		live := workload.NewLive(&w, 1)
		var limits []int
		for range calls {
			equal(t, e.name, e.run(t.Context(), n, func(ctx context.Context, _ int) error { return live.Task(ctx) }, l), nil)
			time.Sleep(pause)
			limits = append(limits, l.Current())
		}
		limits = limits[calls/2:]
		slices.Sort(limits)
		median = limits[len(limits)/2]
	})
	return median
}

// Calls of n tasks come one after the other on one limiter. After twenty of them the limit lets all
// tasks of a call run at once, where the server takes any number; and where the server does most
// with 8 tasks, the limit is found if the first one is lower than n. No two tasks take exactly as
// long: those that do end in an order that the scheduler chooses, which the search then depends on.
func TestSmallCallsFindTheLimit(t *testing.T) {
	for i, burst := range []int{1, 2, 4, 42} {
		for j, n := range []int{3, 8, 14, 20, 50, 100} {
			spread, pause := []float64{0.01, 0.2}[i%2], []time.Duration{0, time.Second}[(i/2+j)%2]
			findsTheLimit(t, entryPoints[2], n, burst, spread, pause)
		}
	}
	for _, e := range append(searching(), entryPoint{"Pool", pooled}) { // each call with a group, sequence or pool of its own
		findsTheLimit(t, e, 20, 4, 0.2, 0)
	}
}

func findsTheLimit(t *testing.T, e entryPoint, n, burst int, spread float64, pause time.Duration) {
	what := fmt.Sprintf("%s, Burst(%d), calls of %d, spread %v, pauses of %v", e.name, burst, n, spread, pause)
	if got := manyCalls(t, e, 40, n, pause, 1000, spread, math.Inf(1), stint.Burst(burst)); got < n {
		t.Errorf("%s: limit %d", what, got)
	}
	got := manyCalls(t, e, 60, n, pause, 10, spread, 8, stint.Burst(burst))
	if n > 14 && (got < 6 || got > 12) || got < min(n, 6) {
		t.Errorf("%s, best 8: limit %d", what, got)
	}
}

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
	"github.com/stint-go/stint/internal/workload"
)

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
	onlySearches(t)
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

package conformance_test

import (
	"context"
	"math/rand/v2"
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
	if testing.Short() {
		t.Skip("-short: 3,000 calls")
	}
	collapse := workload.Workload{
		Procs: 2, Until: 1e9,
		Rate: func(n int) float64 { return min(1, 4/float64(n)) * min(1, 6/float64(n)) },
		Next: func(_ float64, r *rand.Rand) (compute, wait, serve float64) { return 0.01, 0, 10 * r.ExpFloat64() },
	}
	wait := collapse
	wait.Rate = nil
	wait.Next = func(_ float64, r *rand.Rand) (compute, wait, serve float64) { return 0.01, 10 * r.ExpFloat64(), 0 }
	seeds := uint64(5)
	if race.Enabled {
		seeds = 1
	}
	for _, c := range []struct {
		name     string
		workload workload.Workload
		best     *stint.Limiter
		share    float64 // of the best throughput, on average over the seeds
	}{{"collapse", collapse, stint.Limit(4), 0.85}, {"wait", wait, stint.Limit(60), 0.95}} {
		for _, pause := range []time.Duration{0, 300 * time.Millisecond, 2 * time.Second} {
			sum := 0.0
			for seed := range seeds {
				best := smallCalls(t, &c.workload, seed, pause, stint.Limit(c.best.Current()))
				sum += best.Seconds() / smallCalls(t, &c.workload, seed, pause, stint.Auto(1, 256)).Seconds()
			}
			mean := sum / float64(seeds)
			t.Logf("%s, pauses of %v: %.2f of the best throughput", c.name, pause, mean)
			if !race.Enabled && mean < c.share {
				t.Errorf("%s, pauses of %v: %.2f of the best throughput, want %.2f", c.name, pause, mean, c.share)
			}
		}
	}
}

// smallCalls returns how long 50 calls of 60 tasks take in total, pauses left out.
func smallCalls(t *testing.T, w *workload.Workload, seed uint64, pause time.Duration, l *stint.Limiter) (busy time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		live := workload.NewLive(w, seed)
		for range 50 {
			start := time.Now()
			err := stint.Range(context.Background(), 60, func(ctx context.Context, _ int) error { return live.Task(ctx) }, l)
			equal(t, "Range", err, nil)
			busy += time.Since(start)
			time.Sleep(pause)
		}
	})
	return busy
}

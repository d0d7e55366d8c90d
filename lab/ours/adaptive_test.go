package ours

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
)

const ms = time.Millisecond

// times returns n times with a mean, by a distribution of the mean 1, the same each time.
func times(n int, mean time.Duration, of func(*rand.Rand) float64) []time.Duration {
	out, random := make([]time.Duration, n), rand.New(rand.NewPCG(1, 2))
	for i := range out {
		out[i] = time.Duration(of(random) * float64(mean))
	}
	return out
}

func uniform(r *rand.Rand) float64 { return 2 * r.Float64() }

func spin(d time.Duration) { runtime.KeepAlive(bench.Spin(bench.Steps(d))) }

// BenchmarkAdaptive is lists of tasks with limits around the best, up to 256, and with the adaptive limit, which is that of a
// call without one and at most 256. steady-ns is the time of a task after the first quarter: what finding a limit costs is
// in ns/op. Tasks wait 0 to 9 ms, compute for a tenth of 5 ms, compute for half of 100 µs under one lock, wait for 5 ms in
// 20 slots, or wait for 100 ms.
func BenchmarkAdaptive(b *testing.B) {
	bench.FirstCPUs(b)
	most, p := size(5000), min(runtime.GOMAXPROCS(0), 32) // 8 p is a limit
	waits := times(most, 9*ms/2, uniform)
	short, long := times(most, ms/2, (*rand.Rand).ExpFloat64), times(most, 9*ms/2, (*rand.Rand).ExpFloat64)
	slots, mu := make(chan struct{}, 20), new(sync.Mutex)
	wait := func(i int) { time.Sleep(waits[i]) }
	shared := func(int) { slots <- struct{}{}; time.Sleep(5 * ms); <-slots }
	for _, w := range []struct {
		name   string
		n      int
		limits []int // up to 256
		task   func(i int)
	}{
		{"wait", 5000, []int{64, 128, 256}, wait}, {"wait", 100, []int{25, 50, 100}, wait},
		{"slots", 600, []int{10, 20, 40}, shared}, {"slots", 100, []int{10, 20, 40}, shared},
		{"long", 100, []int{50, 100}, func(int) { time.Sleep(100 * ms) }},
		{"half", 300, []int{8 * p, 16 * p, 32 * p, 64 * p}, func(i int) { spin(short[i]); time.Sleep(long[i]) }},
		{"lock", 1000, []int{p, 4 * p, 16 * p, 64 * p}, func(int) { spin(ms / 20); mu.Lock(); spin(ms / 20); mu.Unlock() }},
	} {
		for _, limit := range bench.Order(append(w.limits, 0)) {
			n, g, name, opts := size(w.n), new(bench.Gauge), "adaptive", []stint.Option(nil)
			if limit > 256 {
				continue
			} else if limit > 0 {
				name, opts = fmt.Sprintf("limit=%d", limit), []stint.Option{stint.Limit(limit)}
			}
			ends := make([]time.Time, n)
			b.Run(fmt.Sprintf("work=%s/tasks=%d/%s", w.name, w.n, name), func(b *testing.B) {
				bench.Run(b, false, func() (missing bool) {
					clear(ends)
					bench.Check(stint.Range(context.Background(), n, func(_ context.Context, i int) error {
						g.Enter()
						w.task(i)
						g.Leave()
						ends[i] = time.Now()
						return nil
					}, opts...))
					return slices.ContainsFunc(ends, time.Time.IsZero)
				}, g.Report, func(b *testing.B) {
					slices.SortFunc(ends, time.Time.Compare)
					b.ReportMetric(float64(ends[n-1].Sub(ends[n/4]))/float64(max(1, n-1-n/4)), "steady-ns")
				})
			})
		}
	}
}

// BenchmarkWait is a hundred tasks that wait 0 to 9 ms, by stint without an option, and by others with the limits that
// programs often have: the pool a worker for each CPU, libraries ten; and by an errgroup without a limit.
func BenchmarkWait(b *testing.B) {
	bench.FirstCPUs(b)
	var list []float64
	for _, t := range times(size(100), 9*ms/2, uniform) {
		list = append(list, float64(t))
	}
	result := func(wait float64) uint64 { return uint64(wait) }
	ways := append(models.Libraries(10), models.Named{Name: "sequential", Model: models.Sequential},
		models.Named{Name: "pool", Model: models.Pool(runtime.GOMAXPROCS(0))})
	for _, m := range models.Libraries(-1) {
		if m.Name == "errgroup" {
			ways = append(ways, models.Named{Name: "errgroup-no-limit", Model: m.Model})
		}
	}
	var all []model[uint64]
	for _, m := range ways {
		all = append(all, model[uint64]{m.Name, func() uint64 {
			return m.Model(list, func(wait float64) uint64 { time.Sleep(time.Duration(wait)); return result(wait) })
		}})
	}
	compare(b, "", len(list), models.Sequential(list, result), all...)
}

package ours

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	"golang.org/x/sync/semaphore"
)

const permits = 8

// BenchmarkPermit calls a function with one of eight permits: an empty one by one caller, and one that sleeps for 20 µs by
// 64. With Do the function gets a context of its own, for nested calls.
func BenchmarkPermit(b *testing.B) {
	s := semaphore.NewWeighted(permits)
	weighted := func(ctx context.Context, f func(context.Context) error) error {
		if err := s.Acquire(ctx, 1); err != nil {
			return err
		}
		defer s.Release(1)
		return f(ctx)
	}
	measure := func(prefix string, callers, calls int, f func()) {
		op := func(do func(context.Context, func(context.Context) error) error) func() uint64 {
			return func() uint64 {
				return models.Sum(callers, func(int) (ran uint64) {
					for range calls {
						bench.Check(do(context.Background(), func(context.Context) error { f(); ran++; return nil }))
					}
					return ran
				})
			}
		}
		compare(b, prefix, callers*calls, uint64(callers*calls),
			model[uint64]{"semaphore", op(weighted)}, model[uint64]{"stint.Limit", op(stint.Limit(permits).Do)})
	}
	measure("callers=1/", 1, size(2000), func() {})
	measure("callers=64/", 64, size(100), func() { time.Sleep(20 * time.Microsecond) })
}

// BenchmarkPriority has 64 callers of background tasks of 5 ms, which hold all permits or wait for one. Latencies are
// those of other tasks, called now and then, until they run. background-ns is the time for each background task.
func BenchmarkPriority(b *testing.B) {
	for _, background := range bench.Order([][]stint.Option{nil, {stint.LowPriority()}}) {
		b.Run("model="+[]string{"stint.Limit", "stint.LowPriority"}[len(background)], func(b *testing.B) {
			var waits []time.Duration
			var each float64
			asks := size(30)
			bench.Run(b, asks, func() int { waits, each = ask(asks, background...); return len(waits) }, func(b *testing.B) {
				bench.Latencies(b, waits)
				b.ReportMetric(each, "background-ns")
			})
		})
	}
}

// ask returns how long each of n tasks waited, and the time for each background task.
func ask(n int, background ...stint.Option) (waits []time.Duration, each float64) {
	ctx, cancel := context.WithCancel(context.Background())
	limit := stint.Limit(permits)
	call := func(f func(), opts ...stint.Option) error {
		return stint.Range(ctx, 1, func(context.Context, int) error { f(); return nil }, append(opts, limit)...)
	}
	var ran atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for ctx.Err() == nil { // a call that ctx ends returns an error
				_ = call(func() { ran.Add(1); time.Sleep(5 * ms) }, background...)
			}
		})
	}
	time.Sleep(25 * ms) // until all wait
	began, before := time.Now(), ran.Load()
	for _, pause := range times(n, 5*ms/2, uniform) {
		time.Sleep(pause)
		came := time.Now()
		bench.Check(call(func() { waits = append(waits, time.Since(came)); time.Sleep(ms / 2) }))
	}
	each = float64(time.Since(began)) / float64(max(1, ran.Load()-before))
	cancel()
	all.Wait()
	return waits, each
}

package ours

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
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
		op := func(do func(context.Context, func(context.Context) error) error) func() int64 {
			return func() int64 {
				var ran atomic.Int64
				together(callers, func(int) {
					n := int64(0)
					for range calls {
						must(do(context.Background(), func(context.Context) error { f(); n++; return nil }))
					}
					ran.Add(n)
				})
				return ran.Load()
			}
		}
		compare(b, prefix, callers*calls, int64(callers*calls),
			model[int64]{"semaphore", op(weighted)}, model[int64]{"stint.Limit", op(stint.Limit(permits).Do)})
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
		must(call(func() { waits = append(waits, time.Since(came)); time.Sleep(ms / 2) }))
	}
	each = float64(time.Since(began)) / float64(max(1, ran.Load()-before))
	cancel()
	all.Wait()
	return waits, each
}

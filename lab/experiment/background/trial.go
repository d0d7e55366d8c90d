package background

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"golang.org/x/sync/semaphore"
)

// A call runs f so many times, each with a permit, until ctx ends.
type call = func(ctx context.Context, n int, f func())

// loop runs f with stint.Range.
func loop(opts ...stint.Option) call {
	return func(ctx context.Context, n int, f func()) {
		stint.Range(ctx, n, func(context.Context, int) error { f(); return nil }, opts...)
	}
}

// weighted runs f with a semaphore.
func weighted(permits int) call {
	s := semaphore.NewWeighted(int64(permits))
	return func(ctx context.Context, n int, f func()) {
		for range n {
			if s.Acquire(ctx, 1) != nil {
				return
			}
			f()
			s.Release(1)
		}
	}
}

// trial returns how long it took, how many background tasks began, and the sorted waits of the
// others in nanoseconds.
func (z sizes) trial(flood, ask call) (took time.Duration, began int64, waits []float64) {
	ctx, cancel := context.WithCancel(context.Background())
	var ran atomic.Int64
	var callers sync.WaitGroup
	for range z.callers {
		callers.Go(func() {
			flood(ctx, math.MaxInt, func() {
				ran.Add(1)
				time.Sleep(z.long)
			})
		})
	}
	time.Sleep(5 * z.long)                // until all wait
	random := rand.New(rand.NewPCG(1, 2)) // the same pauses in each trial
	start, before := time.Now(), ran.Load()
	for range z.asks {
		time.Sleep(time.Duration(random.Int64N(int64(z.long))))
		came := time.Now()
		ask(ctx, 1, func() {
			waits = append(waits, float64(time.Since(came)))
			time.Sleep(z.short)
		})
	}
	took, began = time.Since(start), ran.Load()-before
	cancel()
	callers.Wait()
	slices.Sort(waits)
	return took, began, waits
}

// quantile returns what the given part of the sorted values is at most; 0 of none.
func quantile(values []float64, part float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return values[max(0, int(math.Ceil(part*float64(len(values))))-1)]
}

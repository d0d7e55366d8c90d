package stream_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// taking returns a function of a ParMap that takes a time.
func taking(d time.Duration) call {
	return func(_ context.Context, v int) (int, error) { time.Sleep(d); return v, nil }
}

// A task is calls of 20 µs together, at most 64, and one call that takes longer.
func TestParMapBatches(t *testing.T) {
	const n = 6400
	for _, c := range []struct {
		call        time.Duration
		least, most int
	}{
		{time.Nanosecond, n / 64, n / 32}, {time.Microsecond, n / 20, n / 10}, {10 * time.Microsecond, n / 2, n/2 + n/10},
		{15 * time.Microsecond, n, n}, {20 * time.Microsecond, n, n}, {time.Second, n, n},
	} {
		for _, limit := range []int{1, 2, 5} {
			bothOrders(t, fmt.Sprint(c.call, "/", limit), func(t *testing.T, order ...stint.Option) {
				for _, s := range []ints{stream.From(indexes(n)), stream.FromSeq(count(n))} {
					l := stint.Limit(limit)
					complete(t, stream.ParMap(s, taking(c.call), append(order, l)...), n)
					if tasks := int(l.Stats().Completed); tasks < c.least || tasks > c.most {
						t.Errorf("%d tasks, want %d to %d", tasks, c.least, c.most)
					}
				}
			})
		}
	}
	bubble(t, "with keys", func(t *testing.T) {
		l := stint.Limit(2)
		complete(t, stream.ParMapKey(stream.From(indexes(n)), func(v int) int { return v }, taking(1), l), n)
		equal(t, "tasks", l.Stats().Completed, n)
	})
}

// A record waits at most one linger for others of its task, and after a silence not at all.
func TestParMapBatchDoesNotWait(t *testing.T) {
	const each, together = time.Microsecond, 20 * time.Microsecond
	for _, c := range []struct{ pace, most time.Duration }{
		{20 * time.Microsecond, linger + together}, {100 * time.Microsecond, linger + together}, {700 * time.Microsecond, linger + together},
		{10 * time.Millisecond, each},
	} {
		for _, o := range sourcesOf[at]() {
			bothOrders(t, fmt.Sprint(o.name, "/", c.pace), func(t *testing.T, order ...stint.Option) {
				short := func(_ context.Context, v at) (at, error) { time.Sleep(each); return v, nil }
				s := o.open(t, timed(300, func(int) { time.Sleep(c.pace) }))
				inTime(t, stream.ParMap(s, short, append(order, stint.Limit(2))...), 300, c.most, nothing)
			})
		}
	}
	bothOrders(t, "silence", func(t *testing.T, order ...stint.Option) { // of a source that waits for the results
		got := make(chan struct{}, 1000)
		s := stream.FromSeq(func(yield func(int) bool) {
			for i := 0; i < 1000 && yield(i); i++ {
				if i%7 == 6 {
					for range 7 {
						<-got
					}
				}
			}
		})
		n := 0
		for _, err := range stream.ParMap(s, taking(each), append(order, stint.Limit(2))...).All(t.Context()) {
			equal(t, "error", err, nil)
			if n++; n <= 994 {
				got <- struct{}{}
			}
		}
		equal(t, "records", n, 1000)
	})
}

// Long calls behind short ones are all made, and those behind them one by one.
func TestParMapLongCallsAfterShortOnes(t *testing.T) {
	bothOrders(t, "long", func(t *testing.T, order ...stint.Option) {
		var g gauge
		f := func(_ context.Context, v int) (int, error) {
			if v < 1000 {
				time.Sleep(1)
			} else {
				g.Hold(time.Second)
			}
			return v, nil
		}
		complete(t, stream.ParMap(stream.FromSeq(count(3000)), f, append(order, stint.Limit(8))...), 3000)
		g.Is(t, 0, 8, 2000)
		if most := 2000*time.Second/8 + 64*time.Second; sinceBubble() > most {
			t.Errorf("took %v, want at most %v", sinceBubble(), most)
		}
	})
}

// The results before an error are passed on, and no call starts behind it, also of tasks that run.
func TestParMapErrorInABatch(t *testing.T) {
	ends := map[string]struct {
		end  func() error
		want error
	}{
		"error":  {func() error { return errBoom }, errBoom},
		"Goexit": {func() error { runtime.Goexit(); return nil }, stint.ErrGoexit},
	}
	for name, e := range ends {
		for _, limit := range []int{1, 2, 5} {
			for _, k := range []int{0, 1, 130, 131, 150, 191, 192} {
				bubble(t, fmt.Sprint(name, "/", limit, "/", k), func(t *testing.T) {
					var mu sync.Mutex
					failed := time.Duration(-1)
					s := stream.ParMap(stream.From(indexes(2000)), func(_ context.Context, v int) (int, error) {
						mu.Lock()
						if failed >= 0 && failed < sinceBubble() && v > k {
							t.Errorf("record %d starts at %v, %d has failed at %v", v, sinceBubble(), k, failed)
						}
						mu.Unlock()
						time.Sleep(10)
						if v == k {
							mu.Lock()
							failed = sinceBubble()
							mu.Unlock()
							return 0, e.end()
						}
						return v, nil
					}, stint.Limit(limit))
					gives(t, s, e.want, indexes(k))
				})
			}
		}
	}
}

// No call starts when the context has ended, and each task that has begun is counted.
func TestParMapBatchIsCancelled(t *testing.T) {
	bothOrders(t, "cancel", func(t *testing.T, order ...stint.Option) {
		ctx, cancel := context.WithCancelCause(context.Background())
		var late atomic.Int64
		s := stream.ParMap(stream.FromSeq(naturals), func(ctx context.Context, v int) (int, error) {
			if ctx.Err() != nil {
				late.Add(1)
			}
			if time.Sleep(1); v == 1000 {
				cancel(errGone)
			}
			return v, nil
		}, append(order, stint.Limit(2))...)
		_, err := stream.Collect(ctx, s)
		equal(t, "error", err, errGone)
		if late.Load() > 2 { // of tasks that were about to start
			t.Errorf("%d calls have started", late.Load())
		}
	})
}

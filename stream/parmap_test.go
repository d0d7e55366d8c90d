package stream_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/stream"
)

// A call is a function of a ParMap.
type call = func(context.Context, int) (int, error)

// holding is a function of a ParMap that holds the gauge for a second.
func holding(g *gauge) call {
	return func(_ context.Context, v int) (int, error) { g.Hold(time.Second); return v, nil }
}

// aSecond returns a function of a second, which returns its value unless its context ends.
func aSecond(g *gauge) call {
	return func(ctx context.Context, v int) (int, error) {
		g.Enter()
		defer g.Leave()
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Second):
			return v, nil
		}
	}
}

// bothOrders runs a test for an ordered and for an unordered ParMap, each in a bubble.
func bothOrders(t *testing.T, name string, test func(t *testing.T, order ...stint.Option)) {
	t.Helper()
	bubble(t, name+"/ordered", func(t *testing.T) { test(t) })
	bubble(t, name+"/unordered", func(t *testing.T) { test(t, stint.Unordered()) })
}

// complete fails the test unless s has 0 to n-1, in any order.
func complete(t *testing.T, s ints, n int) {
	t.Helper()
	givesSorted(t, s, nil, indexes(n))
}

// The limit is reached and never exceeded, with every source, and calls start as soon as there is
// a permit.
func TestParMapLimitIsExact(t *testing.T) {
	from := source[int]{"From", func(_ *testing.T, seq iter.Seq[int]) ints { return stream.From(slices.Collect(seq)) }}
	for _, limit := range []int{1, 2, 7, 300} {
		for _, src := range append(sources, from) {
			bothOrders(t, fmt.Sprint(src.name, "/", limit), func(t *testing.T, order ...stint.Option) {
				var g gauge
				s := src.open(t, count(4*limit))
				complete(t, stream.ParMap(s, holding(&g), append(order, stint.Limit(limit))...), 4*limit)
				g.Is(t, 0, limit, 4*limit)
				equal(t, "time passed", sinceBubble(), 4*time.Second)
			})
		}
	}
}

// Calls start in the order of the input, also after fast ones: under Limit(1) one by one.
func TestParMapBeginsInOrder(t *testing.T) {
	for _, limit := range []int{1, 2, 8, 100} {
		bothOrders(t, fmt.Sprint(limit), func(t *testing.T, order ...stint.Option) {
			// A call starts after all calls of an earlier time.
			var mu sync.Mutex
			latest := map[time.Duration]int{}
			var last time.Duration
			s := stream.ParMap(stream.From(indexes(2500)), func(_ context.Context, v int) (int, error) {
				mu.Lock()
				now := sinceBubble()
				if now > last && v < latest[last] || limit == 1 && v != latest[last]+min(v, 1) {
					t.Errorf("%d starts at %v, %d started at %v", v, now, latest[last], last)
				}
				latest[now] = max(latest[now], v)
				last = now
				mu.Unlock()
				if v >= 2000 {
					time.Sleep(time.Duration(1+v%7) * time.Second)
				}
				return v, nil
			}, append(order, stint.Limit(limit))...)
			complete(t, s, 2500)
		})
	}
}

// A raised limit applies at once, even if no call returns and none is queued.
func TestParMapLimitIsRaised(t *testing.T) {
	for _, c := range []struct {
		name string
		open func() (opt stint.Option, set func(int), shut func())
	}{
		{"Limiter", func() (stint.Option, func(int), func()) { l := stint.Limit(1); return l, l.Set, func() {} }},
		{"Pool", func() (stint.Option, func(int), func()) {
			p := stint.NewPool(stint.Limit(1))
			return p, p.SetLimit, p.Close
		}},
	} {
		for i, queue := range []int{-1, 0, 3, -1, 0, 3} {
			bothOrders(t, fmt.Sprint(c.name, "/queue=", queue), func(t *testing.T, order ...stint.Option) {
				opt, set, shut := c.open()
				defer shut()
				if queue >= 0 {
					order = append(order, stint.Queue(queue))
				}
				set(i / 3) // 0: a pause
				var g gauge
				time.AfterFunc(time.Second/2, func() { equal(t, "records that run", g.Now(), i/3) })
				time.AfterFunc(time.Second, func() { set(10) })
				s := stream.ParMap(stream.FromSeq(count(10)), func(_ context.Context, v int) (int, error) {
					g.Hold(time.Hour)
					return v, nil
				}, append(order, opt)...)
				complete(t, s, 10)
				g.Is(t, 0, 10, 10)
				about(t, sinceBubble(), time.Hour+time.Second)
			})
		}
	}
}

// On a Pool the calls run on its workers, within its limit, beside its other tasks.
func TestParMapOnAPool(t *testing.T) {
	bothOrders(t, "workers", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool(stint.Limit(3))
		var g gauge
		me := goroutine.ID()
		own := stream.ParMap(stream.From(indexes(12)), func(_ context.Context, v int) (int, error) {
			if goroutine.ID() == me {
				t.Error("on the caller's goroutine")
			}
			g.Hold(time.Second)
			return v, nil
		}, append(order, p)...)
		for range 6 {
			p.Go(func(context.Context) { g.Hold(time.Second) })
		}
		complete(t, own, 12)
		p.Close()
		g.Is(t, 0, 3, 18)
		equal(t, "time passed", sinceBubble(), 6*time.Second)
	})
	bothOrders(t, "closed", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool()
		p.Close()
		s := stream.ParMap(stream.From(indexes(12)), func(context.Context, int) (int, error) { t.Error("was run"); return 0, nil }, append(order, p)...)
		gives(t, s, stint.ErrClosed, nil)
		gives(t, stream.Buffer(s, 3), stint.ErrClosed, nil)
	})
	bothOrders(t, "shut down in the middle", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool(stint.Limit(2))
		time.AfterFunc(2500*time.Millisecond, func() { shutDown(p) })
		var g gauge
		s := stream.ParMap(stream.FromSeq(count(100)), aSecond(&g), append(order, p)...)
		givesSorted(t, s, stint.ErrClosed, indexes(4))
		g.Is(t, 0, 2, 6)
		equal(t, "time passed", sinceBubble(), 2500*time.Millisecond)
	})
	bothOrders(t, "strangers have every worker", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool(stint.Limit(1))
		defer p.Close()
		p.Go(func(context.Context) { time.Sleep(time.Hour) })
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, errGone)
		defer cancel()
		s := stream.ParMap(stream.From(indexes(12)), func(context.Context, int) (int, error) { t.Error("was run"); return 0, nil }, append(order, p)...)
		_, err := stream.Collect(ctx, s)
		equal(t, "error", err, errGone)
		equal(t, "time passed", sinceBubble(), time.Second)
	})
}

// shutDown ends a pool without waiting for its tasks.
func shutDown(p *stint.Pool) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.Shutdown(ctx)
}

// With a short queue no record waits for a permit: a source that is held back counts as
// waiting.
func TestParMapShortQueue(t *testing.T) {
	for _, queue := range []int{0, 1, 3} {
		bothOrders(t, fmt.Sprint(queue), func(t *testing.T, order ...stint.Option) {
			const n = 20_000
			l := stint.Auto(1, 256)
			unchanged := n / time.Duration(l.Current()) * 10 * time.Millisecond
			complete(t, stream.ParMap(stream.FromSeq(count(n)), func(_ context.Context, v int) (int, error) {
				time.Sleep(10 * time.Millisecond)
				return v, nil
			}, append(order, l, stint.Queue(queue))...), n)
			if sinceBubble() > unchanged/10 {
				t.Errorf("took %v of %v under the first limit, and the limit is %d", sinceBubble(), unchanged, l.Current())
			}
		})
	}
}

// Calls of one ParMap may wait for each other, if they are no more than the limit.
func TestParMapCallsMayWaitForEachOther(t *testing.T) {
	for _, src := range sources {
		for _, queue := range []int{0, 5, 1000} {
			bothOrders(t, fmt.Sprint(src.name, "/queue=", queue), func(t *testing.T, order ...stint.Option) {
				const fast, n = 100, 20
				var barrier sync.WaitGroup
				barrier.Add(n)
				complete(t, stream.ParMap(src.open(t, count(fast+n)), func(_ context.Context, v int) (int, error) {
					if v >= fast {
						barrier.Done()
						barrier.Wait()
					}
					return v, nil
				}, append(order, stint.Limit(n), stint.Queue(queue))...), fast+n)
			})
		}
	}
}

package stream_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// Records of different keys are handled at once, and those of one key one after the other.
func TestParMapKeyIsConcurrent(t *testing.T) {
	bothOrders(t, "4 keys", func(t *testing.T, order ...stint.Option) {
		var g gauge
		s := stream.ParMapKey(stream.FromSeq(count(40)), func(v int) int { return v % 4 }, holding(&g), append(order, stint.Limit(8))...)
		complete(t, s, 40)
		equal(t, "at once", g.Max(), 4)
	})
}

// The order within a key is that of the stream, whatever the limit, the queue and the pool
// are; so is the order of the results, or within a key under Unordered.
func TestParMapKeyOrder(t *testing.T) {
	for seed := range uint64(20) {
		bothOrders(t, fmt.Sprint(seed), func(t *testing.T, order ...stint.Option) {
			r := rand.New(rand.NewPCG(seed, 2))
			n, distinct := 1+r.IntN(300), 1+r.IntN(30)
			keys, next := make([]int, n), map[int][]int{}
			for i := range keys {
				keys[i] = r.IntN(distinct) * r.IntN(2)
				next[keys[i]] = append(next[keys[i]], i)
			}
			want := maps.Clone(next)
			limit := stint.Limit(1 + r.IntN(8))
			opts := append(order, limit)
			switch r.IntN(3) {
			case 0:
				opts = append(opts, stint.Queue(r.IntN(20)))
			case 1:
				p := stint.NewPool(limit)
				defer p.Close()
				opts[len(opts)-1] = p
			}
			var mu sync.Mutex
			busy := map[int]bool{}
			f := func(_ context.Context, v int) (int, error) {
				k := keys[v]
				mu.Lock()
				if busy[k] || next[k][0] != v {
					t.Errorf("record %d of key %d, busy %v, want %d", v, k, busy[k], next[k][0])
				}
				busy[k], next[k] = true, next[k][1:]
				mu.Unlock()
				time.Sleep(time.Duration(v%4) * time.Millisecond)
				if v%5 == 0 {
					limit.Set(1 + v%7)
				}
				mu.Lock()
				busy[k] = false
				mu.Unlock()
				return v, nil
			}
			out, err := stream.Collect(context.Background(), stream.ParMapKey(stream.FromSeq(count(n)), func(v int) int { return keys[v] }, f, opts...))
			equal(t, "error", err, nil)
			if len(order) == 0 {
				same(t, "records", out, indexes(n))
			}
			for k, records := range want {
				of := func(v int) bool { return keys[v] != k }
				same(t, fmt.Sprint("records of key ", k), slices.DeleteFunc(slices.Clone(out), of), records)
			}
		})
	}
}

// Of the records that may be handled, the earliest is: one permit handles them in the order
// of the stream, and several are in use, or the most frequent key is, for 0.9 of the time.
func TestParMapKeySkew(t *testing.T) {
	const n = 2000
	zipf, keys := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, 9999), make([]int, n)
	numbers, most := map[int]int{}, 0
	for i := range keys {
		keys[i] = int(zipf.Uint64())
		numbers[keys[i]]++
		most = max(most, numbers[keys[i]])
	}
	for _, limit := range []int{1, 4, 8} {
		bothOrders(t, fmt.Sprint("limit ", limit), func(t *testing.T, order ...stint.Option) {
			next, start := 0, time.Now()
			f := func(_ context.Context, v int) (int, error) {
				if limit == 1 {
					equal(t, "record", v, next)
					next++
				}
				time.Sleep(time.Millisecond)
				return v, nil
			}
			s := stream.ParMapKey(stream.FromSeq(count(n)), func(v int) int { return keys[v] }, f, append(order, stint.Limit(limit), stint.Queue(n))...)
			complete(t, s, n)
			if ratio := float64(max(most, n/limit)) / float64(time.Since(start).Milliseconds()); ratio < 0.9 {
				t.Errorf("%.2f of the ideal", ratio)
			}
		})
	}
}

// The first error, in the order of the records, ends the stream at its position.
func TestParMapKeyErrors(t *testing.T) {
	bubble(t, "error", func(t *testing.T) {
		s := stream.ParMapKey(stream.FromSeq(count(100)), func(v int) int { return v % 3 }, func(_ context.Context, v int) (int, error) {
			time.Sleep(time.Second)
			if v == 7 {
				return 0, errBoom
			}
			return v, nil
		}, stint.Limit(5))
		gives(t, s, errBoom, indexes(7))
	})
	for name, key := range map[string]func(v int) any{
		"key that cannot be compared": func(v int) any { return []int{v} },
		"panic of key":                func(int) any { panic("key") },
	} {
		bubble(t, name, func(t *testing.T) {
			raised(t, func() {
				stream.Collect(context.Background(), stream.ParMapKey(stream.FromSeq(count(100)), key, itselfErr))
			})
		})
	}
}

// A pool that is closed runs what it has accepted, and takes no more of a key without end.
func TestParMapKeyOnAClosedPool(t *testing.T) {
	bothOrders(t, "closed", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool(stint.Limit(2))
		done := make(chan error)
		go func() {
			_, err := stream.Collect(context.Background(), stream.ParMapKey(stream.FromSeq(count(math.MaxInt)), func(int) int { return 0 },
				func(_ context.Context, v int) (int, error) { time.Sleep(time.Second); return v, nil }, append(order, p)...))
			done <- err
		}()
		time.Sleep(time.Second / 2)
		p.Close()
		equal(t, "error", <-done, stint.ErrClosed)
	})
}

// Shutdown of the pool ends the stream: the tasks that run see the end of their context, and
// those behind them of the same key do not run.
func TestParMapKeyOnAPoolThatIsShutDown(t *testing.T) {
	bothOrders(t, "shut down", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool(stint.Limit(2))
		time.AfterFunc(2500*time.Millisecond, func() { shutDown(p) })
		var g gauge
		s := stream.ParMapKey(stream.FromSeq(count(100)), func(v int) int { return v % 2 }, aSecond(&g), append(order, p)...)
		givesSorted(t, s, stint.ErrClosed, indexes(4))
		g.Is(t, 0, 2, 6)
		equal(t, "time passed", sinceBubble(), 2500*time.Millisecond)
	})
}

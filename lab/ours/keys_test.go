package ours

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/stream"
	"golang.org/x/sync/errgroup"
)

// A message is the n-th of its key.
type message struct{ key, n int }

const keys, workers = 100, 16

// BenchmarkKeys handles messages that wait for 1 ms: those of one key one after the other, 16 keys at once. They come ten of
// a key in a row. disorder counts those that were handled after a later one of their key.
func BenchmarkKeys(b *testing.B) {
	messages, next, random := make([]message, size(2000)), [keys]int{}, rand.New(rand.NewPCG(4, 5))
	for i, key := 0, 0; i < len(messages); i++ {
		if i%10 == 0 {
			key = random.IntN(keys)
		}
		next[key]++
		messages[i] = message{key, next[key]}
	}
	for _, m := range bench.Order([]named[func([]message, func(context.Context, message) (int, error))]{
		{"mutex", byMutex}, {"hash", byHash}, {"stint.MapKey", byMapKey()}, {"stint.MapKey+Queue", byMapKey(stint.Queue(1000))},
		{"stream.ParMapKey+Queue", byParMapKey},
	}) {
		b.Run("row=10/model="+m.name, func(b *testing.B) {
			var late atomic.Int64
			bench.Run(b, int64(len(messages)), func() int64 {
				var handled atomic.Int64
				var last [keys]atomic.Int64
				late.Store(0)
				m.run(messages, func(_ context.Context, m message) (int, error) {
					time.Sleep(ms)
					if last[m.key].Swap(int64(m.n)) > int64(m.n) {
						late.Add(1)
					}
					handled.Add(1)
					return m.n, nil
				})
				return handled.Load()
			}, func(b *testing.B) { b.ReportMetric(float64(late.Load()), "disorder") })
		})
	}
}

func keyOf(m message) int { return m.key }

// byMapKey pulls 32 messages at once unless a queue says otherwise.
func byMapKey(opts ...stint.Option) func([]message, func(context.Context, message) (int, error)) {
	return func(messages []message, f func(context.Context, message) (int, error)) {
		for _, err := range stint.MapKey(context.Background(), slices.Values(messages), keyOf, f, append(opts, stint.Limit(workers))...) {
			bench.Check(err)
		}
	}
}

func byParMapKey(messages []message, handle func(context.Context, message) (int, error)) {
	s := stream.ParMapKey(stream.From(messages), keyOf, handle, stint.Limit(workers), stint.Queue(1000))
	bench.Check(stream.Each(context.Background(), s, func(int) error { return nil }))
}

// byMutex is tasks that lock the key of their message. The order within a key is not certain.
func byMutex(messages []message, handle func(context.Context, message) (int, error)) {
	var g errgroup.Group
	g.SetLimit(workers)
	var locks [keys]sync.Mutex
	for _, m := range messages {
		g.Go(func() error {
			locks[m.key].Lock()
			defer locks[m.key].Unlock()
			_, err := handle(context.Background(), m)
			return err
		})
	}
	bench.Check(g.Wait())
}

// byHash is workers for some keys each, whose messages are there from the start.
func byHash(messages []message, handle func(context.Context, message) (int, error)) {
	models.Together(workers, func(w int) {
		for _, m := range messages {
			if m.key%workers == w {
				_, err := handle(context.Background(), m)
				bench.Check(err)
			}
		}
	})
}

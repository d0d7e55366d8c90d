package stream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/stream"
)

// Every source and stage keeps all records in order, for numbers of records around the sizes of
// batches.
func TestOrderOfEveryStage(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 7, 255, 256, 257, 1025, 3000}
	if race.Enabled {
		sizes = sizes[:9]
	}
	for _, n := range sizes {
		everyTerminal(t, func(t *testing.T, run func(context.Context, ints) ([]int, error)) {
			for _, st := range stages {
				out, err := run(context.Background(), st.add(stream.From(indexes(n))))
				equal(t, st.name+": error", err, nil)
				same(t, st.name, out, indexes(n))
				for _, src := range sources {
					out, err := run(context.Background(), st.add(src.open(t, count(n))))
					equal(t, src.name+" "+st.name+": error", err, nil)
					same(t, src.name+" "+st.name, out, indexes(n))
				}
			}
		})
	}
}

// An ordered ParMap has the results of the sequential program for any limit, queue and duration
// of the calls, and an unordered one the same results in any order.
func TestParMapOrder(t *testing.T) {
	square := func(v int) int { return v * v }
	var want []int
	for i := range 700 {
		want = append(want, square(i))
	}
	for _, limit := range []int{1, 2, 3, 8, 100, 2000} {
		for _, queue := range []int{-1, 0, 1, 5, 300} {
			opts := func(more ...stint.Option) []stint.Option {
				if queue >= 0 {
					more = append(more, stint.Queue(queue))
				}
				return append(more, stint.Limit(limit))
			}
			for name, wait := range map[string]func(r *rand.Rand) time.Duration{
				"none":     func(*rand.Rand) time.Duration { return 0 },
				"random":   func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(2_000_000)) },
				"some":     func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(20) / 19 * int(time.Second)) },
				"tiny":     func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(20_000)) },
				"changing": func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(1 << (r.IntN(30) + 1))) },
			} {
				bubble(t, fmt.Sprintf("limit=%d/queue=%d/%s", limit, queue, name), func(t *testing.T) {
					f := func(_ context.Context, v int) (int, error) {
						if d := wait(rand.New(rand.NewPCG(uint64(v), 1))); d > 0 {
							time.Sleep(d)
						}
						return square(v), nil
					}
					ctx := context.Background()
					out, err := stream.Collect(ctx, stream.ParMap(stream.From(indexes(700)), f, opts()...))
					equal(t, "error", err, nil)
					same(t, "ordered", out, want)
					out, err = stream.Collect(ctx, stream.ParMap(stream.FromSeq(count(700)), f, opts(stint.Unordered())...))
					equal(t, "error", err, nil)
					same(t, "unordered", sorted(out), want)
				})
			}
		}
	}
}

// The order also holds if calls really run in parallel.
func TestParMapOrderWithoutABubble(t *testing.T) {
	f := func(_ context.Context, v int) (int, error) {
		for range v % 7 {
			runtime.Gosched()
		}
		return v + 1, nil
	}
	const n = 20_000
	want := indexes(n + 1)[1:]
	for _, opt := range []stint.Option{stint.Limit(1), stint.Limit(2), stint.Limit(16), stint.Auto(1, 64)} {
		s := stream.ParMap(stream.From(indexes(n)), f, opt)
		out, err := stream.Collect(context.Background(), s)
		equal(t, "error", err, nil)
		same(t, "ordered", out, want)
		s = stream.ParMap(stream.From(indexes(n)), f, opt, stint.Unordered())
		out, err = stream.Collect(context.Background(), s)
		equal(t, "error", err, nil)
		same(t, "unordered", sorted(out), want)
	}
}

// Unordered passes on results as they arrive.
func TestUnorderedDoesNotWait(t *testing.T) {
	bubble(t, "slow head", func(t *testing.T) {
		s := stream.ParMap(stream.FromSeq(count(10)), func(_ context.Context, v int) (int, error) {
			time.Sleep(time.Duration(10-v) * time.Second)
			return v, nil
		}, stint.Limit(10), stint.Unordered())
		want := indexes(10)
		slices.Reverse(want)
		var out []int
		err := stream.Each(context.Background(), s, func(v int) error {
			equal(t, "time of the record", sinceBubble(), time.Duration(10-v)*time.Second)
			out = append(out, v)
			return nil
		})
		equal(t, "error", err, nil)
		same(t, "records", out, want)
	})
}

package stream_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A bad argument panics at once, where it enters, with package, name and value.
func TestBadArgumentsPanic(t *testing.T) {
	ctx := context.Background()
	var none context.Context
	one := stream.From([]int{1})
	key := func(int) uint64 { return 0 }
	var nilLimiter *stint.Limiter
	for _, c := range []struct {
		call func()
		want string // of the message; the function's own words follow
	}{
		{func() { stream.FromSeq[int](nil) }, "stream: FromSeq: nil sequence"},
		{func() { stream.FromSeq2[int](nil) }, "stream: FromSeq2: nil sequence"},
		{func() { stream.FromChan[int](nil) }, "stream: FromChan: nil channel"},
		{func() { stream.Generate[int](nil) }, "stream: Generate: nil function"},
		{func() { stream.Map[int, int](one, nil) }, "stream: Map: nil function"},
		{func() { stream.MapErr[int, int](one, nil) }, "stream: MapErr: nil function"},
		{func() { stream.Filter(one, nil) }, "stream: Filter: nil function"},
		{func() { stream.FlatMap[int, int](one, nil) }, "stream: FlatMap: nil function"},
		{func() { stream.ParMap[int, int](one, nil) }, "stream: ParMap: nil function"},
		{func() { stream.ParMap(one, itselfErr, stint.KeepGoing()) }, "stream: ParMap: KeepGoing does not apply"},
		{func() { stream.ParMap(one, itselfErr, stint.OnPanic(func(*stint.PanicError) {})) }, "stream: ParMap: OnPanic does not apply"},
		{func() { stream.ParMap(one, itselfErr, nil) }, "stream: ParMap: nil Option"},
		{func() { stream.ParMap(one, itselfErr, nilLimiter) }, "stream: ParMap: nil Limiter"},
		{func() { stream.ParMap(one, itselfErr, stint.Limit(1), stint.NewPool()) }, "stream: ParMap: a Pool and a Limiter"},
		{func() { stream.ParMap(one, itselfErr, stint.Limit(1), stint.Burst(3)) }, "stream: ParMap: Burst and a Limiter"},
		{func() { stream.Buffer(one, 0) }, "stream: Buffer(0): want 1 or more"},
		{func() { stream.Buffer(one, -7) }, "stream: Buffer(-7): want 1 or more"},
		{func() { stream.Chunk(one, 0, time.Second) }, "stream: Chunk: size is 0, want 1 or more"},
		{func() { stream.Chunk(one, -1, 0) }, "stream: Chunk: size is -1, want 1 or more"},
		{func() { stream.Partition(one, 0, key) }, "stream: Partition: n is 0, want 1 or more"},
		{func() { stream.Partition(one, -2, key) }, "stream: Partition: n is -2, want 1 or more"},
		{func() { stream.Partition(one, 2, nil) }, "stream: Partition: nil function"},
		{func() { stream.Take(one, -1) }, "stream: Take(-1"},
		{func() { one.All(none) }, "stream: All: nil context"},
		{func() { stream.Collect(none, one) }, "stream: Collect: nil context"},
		{func() { stream.Each(none, one, func(int) error { return nil }) }, "stream: Each: nil context"},
		{func() { stream.Each(ctx, one, nil) }, "stream: Each: nil function"},
		{func() { stream.Reduce(none, one, 0, func(a, v int) int { return a }) }, "stream: Reduce: nil context"},
		{func() { stream.Reduce(ctx, one, 0, nil) }, "stream: Reduce: nil function"},
	} {
		t.Run(c.want, func(t *testing.T) {
			got := fmt.Sprint(recovered(c.call))
			if !strings.Contains(got, c.want) || !strings.HasPrefix(got, "stream: ") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Nothing is made for the most that they take.
func TestLargestArguments(t *testing.T) {
	bubble(t, "all", func(t *testing.T) {
		s := stream.Buffer(stream.From(indexes(10)), math.MaxInt)
		s = parMap(s, stint.Limit(math.MaxInt), stint.Queue(math.MaxInt))
		s = parMap(stream.Take(s, math.MaxInt), stint.Queue(1<<30), stint.Unordered())
		s = flat(stream.Chunk(s, math.MaxInt, math.MaxInt64))
		s = flat(stream.Chunk(s, math.MaxInt, 0))
		complete(t, stream.Merge(branch(s, 1000)...), 10)
	})
}

// The least that the functions take.
func TestLeastArguments(t *testing.T) {
	bubble(t, "all", func(t *testing.T) {
		ctx := context.Background()
		s := stream.Buffer(stream.From(indexes(10)), 1)
		s = flat(stream.Chunk(s, 1, -time.Second))
		s = stream.Partition(s, 1, func(int) uint64 { return 1<<64 - 1 })[0]
		s = parMap(s, stint.Limit(1), stint.Queue(0))
		s = stream.FlatMap(s, func(v int) iter.Seq[int] { return alone(v) })
		out, err := stream.Collect(ctx, stream.Take(s, 10))
		equal(t, "error", err, nil)
		same(t, "records", out, indexes(10))
	})
}

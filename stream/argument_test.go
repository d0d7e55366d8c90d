package stream_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A bad argument panics at once, with package, name and value.
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
		{func() { stream.FromChan[int](nil) }, "stream: FromChan: nil channel"},
		{func() { stream.Generate[int](nil) }, "stream: Generate: nil function"},
		{func() { stream.Map[int, int](one, nil) }, "stream: Map: nil function"},
		{func() { stream.MapErr[int, int](one, nil) }, "stream: MapErr: nil function"},
		{func() { stream.Filter(one, nil) }, "stream: Filter: nil function"},
		{func() { stream.FlatMap[int, int](one, nil) }, "stream: FlatMap: nil function"},
		{func() { stream.ParMap[int, int](one, nil) }, "stream: ParMap: nil function"},
		{func() { stream.ParMapKey(one, key, itselfErr, stint.KeepGoing()) }, "stream: ParMapKey: KeepGoing does not apply"},
		{func() { stream.ParMapKey[int, uint64, int](one, key, nil) }, "stream: ParMapKey: nil function"},
		{func() { stream.ParMapKey[int, int](one, nil, itselfErr) }, "stream: ParMapKey: nil key function"},
		{func() { stream.ParMap(one, itselfErr, stint.KeepGoing()) }, "stream: ParMap: KeepGoing does not apply"},
		{func() { stream.ParMap(one, itselfErr, stint.OnPanic(func(*stint.PanicError) {})) }, "stream: ParMap: OnPanic does not apply"},
		{func() { stream.ParMap(one, itselfErr, nil) }, "stream: ParMap: nil Option"},
		{func() { stream.ParMap(one, itselfErr, nilLimiter) }, "stream: ParMap: nil Limiter"},
		{func() { stream.Buffer(one, 0) }, "stream: Buffer(0): want 1 or more"},
		{func() { stream.Buffer(one, -7) }, "stream: Buffer(-7): want 1 or more"},
		{func() { stream.Chunk(one, 0, time.Second) }, "stream: Chunk: size is 0, want 1 or more"},
		{func() { stream.Chunk(one, -1, 0) }, "stream: Chunk: size is -1, want 1 or more"},
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

// The largest arguments allocate nothing of that size.
func TestLargestArguments(t *testing.T) {
	bubble(t, "all", func(t *testing.T) {
		s := stream.Buffer(stream.From(indexes(10)), math.MaxInt)
		s = parMap(s, stint.Limit(math.MaxInt), stint.Queue(math.MaxInt))
		s = parMap(stream.Take(s, math.MaxInt), stint.Queue(1<<30), stint.Unordered())
		s = flat(stream.Chunk(s, math.MaxInt, math.MaxInt64))
		s = flat(stream.Chunk(s, math.MaxInt, 0))
		complete(t, s, 10)
	})
}

// Limits and queues near the largest int do not overflow.
func TestLargestLimits(t *testing.T) {
	changed := stint.Limit(1)
	changed.Set(math.MaxInt)
	for name, opts := range map[string][]stint.Option{
		"Limit(MaxInt/2+1)":       {stint.Limit(math.MaxInt/2 + 1)},
		"Limit(1), Queue(MaxInt)": {stint.Limit(1), stint.Queue(math.MaxInt)},
		"Limit(MaxInt), Queue(0)": {stint.Limit(math.MaxInt), stint.Queue(0)},
		"Set(MaxInt)":             {changed},
		"Auto(1, MaxInt), Burst":  {stint.Auto(1, math.MaxInt, stint.Burst(math.MaxInt)), stint.Queue(math.MaxInt)},
	} {
		bothOrders(t, name, func(t *testing.T, order ...stint.Option) {
			complete(t, parMap(stream.FromSeq(count(3000)), append(order, opts...)...), 3000)
		})
	}
}

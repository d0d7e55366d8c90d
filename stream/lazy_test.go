package stream_test

import (
	"context"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/stream"
)

// Nothing runs before the terminal. Fails: rill, lo and go-streams, which start goroutines when a
// stage is made, and leak them if nobody consumes.
func TestNothingRunsBeforeTheTerminal(t *testing.T) {
	bubble(t, "made", func(t *testing.T) {
		started := 0
		var seq iter.Seq[int] = func(func(int) bool) { started++ }
		f := func(v int) int { started++; return v }
		c := make(chan int, 1)
		c <- 1
		s := stream.Merge(
			stream.FromSeq(seq),
			stream.Generate(func(context.Context, func(int) bool) error { started++; return nil }),
			stream.Map(stream.From(indexes(9)), f),
			stream.FromChan(c),
		)
		s = stream.MapErr(s, func(_ context.Context, v int) (int, error) { return f(v), nil })
		s = stream.Filter(s, func(v int) bool { return f(v) == v })
		s = stream.ParMap(s, func(_ context.Context, v int) (int, error) { return f(v), nil }, stint.Limit(3))
		s = stream.Buffer(s, 3)
		s = stream.ParMapKey(stream.Merge(s), f, func(_ context.Context, v int) (int, error) { return f(v), nil })
		s = stream.FlatMap(stream.Chunk(s, 3, time.Second), func([]int) iter.Seq[int] { started++; return seq })
		s = stream.Take(s, 3)
		all := s.All(context.Background())
		time.Sleep(time.Hour)
		equal(t, "goroutines", len(goroutine.Ours()), 0)
		equal(t, "functions called", started, 0)
		equal(t, "records in the channel", len(c), 1)
		_ = all
	})
	bubble(t, "of no records", func(t *testing.T) {
		s := stream.Take(stream.FromSeq(func(func(int) bool) { t.Error("pulled") }), 0)
		out, err := stream.Collect(context.Background(), s)
		equal(t, "error", err, nil)
		equal(t, "records", len(out), 0)
	})
}

// A stream can be run again, also concurrently, and stages made from it do not change it.
func TestStreamRunsManyTimes(t *testing.T) {
	over(t, stages, "", func(t *testing.T, st stage) {
		s := stream.Map(st.add(stream.From(indexes(600))), func(v int) int { return v + 5 })
		other := stream.Take(st.add(s), 10)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { gives(t, s, nil, indexes(605)[5:]) })
		}
		wg.Wait()
		gives(t, other, nil, indexes(15)[5:])
		seq := s.All(context.Background())
		for range 2 {
			n := 5
			for v, err := range seq {
				if err != nil || v != n {
					t.Fatalf("record %d is %d, error %v", n-5, v, err)
				}
				n++
			}
			equal(t, "records of one All", n, 605)
		}
	})
}

// The last chain runs on the caller's goroutine: a pipeline without a boundary starts none.
func TestFusedStagesStartNoGoroutine(t *testing.T) {
	everyTerminal(t, func(t *testing.T, run func(context.Context, ints) ([]int, error)) {
		me := goroutine.ID()
		here := func(v int) int {
			if goroutine.ID() != me {
				t.Error("on another goroutine")
			}
			return v
		}
		for _, p := range callSites {
			if strings.HasPrefix(p.name, "ParMap") || p.name == "Unordered" {
				continue
			}
			s := p.open(func(v int) { here(v) })
			for _, st := range fused {
				s = stream.Map(st.add(s), here)
			}
			out, err := run(context.Background(), s)
			equal(t, "error", err, nil)
			same(t, "records", out, indexes(10))
		}
	})
}

// The zero Stream has no records, and so do stages behind it.
func TestZeroStreamIsEmpty(t *testing.T) {
	everyTerminal(t, func(t *testing.T, run func(context.Context, ints) ([]int, error)) {
		for _, st := range stages {
			var zero ints
			for _, s := range []ints{zero, st.add(zero), st.add(st.add(zero)), stream.Merge(zero, st.add(zero)), stream.Merge[int](), stream.From[int](nil)} {
				out, err := run(context.Background(), s)
				equal(t, st.name+": error", err, nil)
				equal(t, st.name+": records", len(out), 0)
			}
		}
	})
}

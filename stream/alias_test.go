package stream_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// Chunks belong to the receiver, which may keep them, write to them and append to them.
func TestChunksBelongToTheReceiver(t *testing.T) {
	const n = 3000
	for _, size := range []int{1, 7, 1000} {
		over(t, stages, fmt.Sprint(size), func(t *testing.T, b stage) {
			input := indexes(n)
			var kept [][]int
			s := stream.Chunk(b.add(stream.From(input)), size, time.Duration(size%2)*time.Millisecond)
			err := stream.Each(context.Background(), stream.Buffer(s, 3), func(c []int) error {
				whole := append(c, -1, -1, -1)
				for i := range c {
					c[i] += n
					whole[i] += 0
				}
				kept = append(kept, c)
				return nil
			})
			equal(t, "error", err, nil)
			same(t, "records", slices.Concat(kept...), indexes(2 * n)[n:])
			same(t, "the input", input, indexes(n))
		})
	}
}

// The slice given to From is only read, even by stages that change or drop records.
func TestInputSliceIsNotWritten(t *testing.T) {
	over(t, stages, "", func(t *testing.T, st stage) {
		input := indexes(1000)
		odd := func(v int) bool { return v%2 == 1 }
		double := func(v int) int { return 2 * v }
		add := func(s ints) ints {
			s = stream.Filter(stream.Map(stream.Filter(st.add(s), odd), double), anyway)
			return stream.Map(parMap(s, stint.Limit(2)), double)
		}
		s := stream.From(input)
		out, err := stream.Collect(context.Background(), stream.Merge(add(s), add(s)))
		equal(t, "error", err, nil)
		equal(t, "records", len(out), 1000)
		if len(out) > 0 {
			out[0] = -1
		}
		same(t, "the input", input, indexes(1000))
	})
	bubble(t, "Collect", func(t *testing.T) { // nor is it what Collect returns
		input := indexes(10)
		out, _ := stream.Collect(context.Background(), stream.From(input))
		out[3] = -1
		same(t, "the input", input, indexes(10))
	})
}

// A large is a record whose memory is watched.
type large = *[64]int

// Records that the consumer has dropped can be garbage collected while the stream runs.
func TestDroppedRecordsAreCollected(t *testing.T) {
	type larges = stream.Stream[large]
	pass := func(_ context.Context, r large) (large, error) { return r, nil }
	for name, add := range map[string]func(s larges) larges{
		"none":      func(s larges) larges { return s },
		"Map":       func(s larges) larges { return stream.Map(s, func(r large) large { return r }) },
		"Buffer":    func(s larges) larges { return stream.Map(stream.Buffer(s, 1000), func(r large) large { return r }) },
		"Buffers":   func(s larges) larges { return stream.Buffer(stream.Buffer(s, 10), 300) },
		"ParMap":    func(s larges) larges { return stream.ParMap(s, pass, stint.Limit(3)) },
		"Unordered": func(s larges) larges { return stream.ParMap(s, pass, stint.Limit(3), stint.Unordered()) },
		"ParMapKey": func(s larges) larges { return stream.ParMapKey(s, func(r large) int { return r[0] % 3 }, pass) },
		"Merge":     func(s larges) larges { return stream.Merge(s) },
		"Chunk": func(s larges) larges {
			return stream.FlatMap(stream.Chunk(s, 8, time.Millisecond), slices.Values[[]large])
		},
	} {
		bubble(t, name, func(t *testing.T) {
			const n = 2000
			weaks := make([]weak.Pointer[[64]int], n)
			source := stream.Generate(func(ctx context.Context, emit func(large) bool) error {
				for i := range n {
					r := &[64]int{i}
					weaks[i] = weak.Make(r)
					emit(r)
				}
				<-ctx.Done()
				return nil
			})
			got := 0
			ctx, cancel := context.WithCancelCause(context.Background())
			time.AfterFunc(time.Second, func() { // when all have been consumed and the consumer waits for more
				synctest.Wait()
				runtime.GC()
				runtime.GC()
				alive := slices.ContainsFunc(weaks, func(w weak.Pointer[[64]int]) bool { return w.Value() != nil })
				equal(t, "a record is still reachable", alive, false)
				cancel(errGone)
			})
			err := stream.Each(ctx, add(source), func(large) error { got++; return nil })
			equal(t, "error", err, errGone)
			equal(t, "records", got, n)
		})
	}
}

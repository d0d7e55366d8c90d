package stream_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// Records that the consumer has received are not overwritten: it may keep them.
func TestRecordsMayBeKept(t *testing.T) {
	const n = 3000
	for _, b := range boundaries {
		bubble(t, b.name, func(t *testing.T) {
			keep := func(s ints) (kept []*int) {
				stream.Each(context.Background(), stream.Map(b.add(s), func(v int) *int { return &v }), func(p *int) error {
					kept = append(kept, p)
					return nil
				})
				return kept
			}
			var values []int
			for _, p := range keep(stream.From(indexes(n))) {
				values = append(values, *p)
			}
			same(t, "records", values, indexes(n))
			for _, size := range []int{1, 3, 256, 1000} {
				var kept [][]int
				s := b.add(stream.FromSeq(count(n)))
				err := stream.Each(context.Background(), stream.Chunk(s, size, time.Duration(size%2)), func(c []int) error {
					kept = append(kept, c)
					return nil
				})
				equal(t, "error", err, nil)
				same(t, "records", slices.Concat(kept...), indexes(n))
			}
		})
	}
}

// Chunks belong to the receiver, which may write to them and append to them.
func TestChunksBelongToTheReceiver(t *testing.T) {
	for _, linger := range []time.Duration{0, time.Millisecond} {
		for _, b := range stages {
			bubble(t, fmt.Sprint(linger, "/", b.name), func(t *testing.T) {
				input := indexes(1000)
				var kept [][]int
				s := stream.Chunk(b.add(stream.From(input)), 7, linger)
				err := stream.Each(context.Background(), stream.Buffer(s, 3), func(c []int) error {
					whole := append(c, -1, -1, -1)
					for i := range c {
						c[i] += 1000
						whole[i] += 0
					}
					kept = append(kept, c)
					return nil
				})
				equal(t, "error", err, nil)
				same(t, "records", slices.Concat(kept...), indexes(2000)[1000:])
				same(t, "the input", input, indexes(1000))
			})
		}
	}
}

// The slice given to From is only read, even by stages that change or drop records.
func TestInputSliceIsNotWritten(t *testing.T) {
	for _, st := range stages {
		bubble(t, st.name, func(t *testing.T) {
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
	}
	bubble(t, "Collect", func(t *testing.T) { // nor is it what Collect returns
		input := indexes(10)
		out, _ := stream.Collect(context.Background(), stream.From(input))
		out[3] = -1
		same(t, "the input", input, indexes(10))
	})
}

// Records that the consumer has dropped can be garbage collected while the stream runs.
func TestDroppedRecordsAreCollected(t *testing.T) {
	type record = *[64]int
	pass := func(_ context.Context, r record) (record, error) { return r, nil }
	for name, add := range map[string]func(s stream.Stream[record]) stream.Stream[record]{
		"none": func(s stream.Stream[record]) stream.Stream[record] { return s },
		"Map": func(s stream.Stream[record]) stream.Stream[record] {
			return stream.Map(s, func(r record) record { return r })
		},
		"Buffer":    func(s stream.Stream[record]) stream.Stream[record] { return stream.Buffer(s, 1000) },
		"Buffers":   func(s stream.Stream[record]) stream.Stream[record] { return stream.Buffer(stream.Buffer(s, 10), 300) },
		"ParMap":    func(s stream.Stream[record]) stream.Stream[record] { return stream.ParMap(s, pass, stint.Limit(3)) },
		"ParMap(1)": func(s stream.Stream[record]) stream.Stream[record] { return stream.ParMap(s, pass, stint.Limit(1)) },
		"Unordered": func(s stream.Stream[record]) stream.Stream[record] {
			return stream.ParMap(s, pass, stint.Limit(3), stint.Unordered())
		},
		"Merge": func(s stream.Stream[record]) stream.Stream[record] { return stream.Merge(s) },
		"Chunk": func(s stream.Stream[record]) stream.Stream[record] {
			return stream.Map(stream.Chunk(s, 8, time.Millisecond), func(c []record) record { return c[0] })
		},
	} {
		bubble(t, name, func(t *testing.T) {
			const n = 2000
			weaks := make([]weak.Pointer[[64]int], n)
			source := stream.Generate(func(ctx context.Context, emit func(record) bool) error {
				for i := range n {
					r := &[64]int{i}
					weaks[i] = weak.Make(r)
					if !emit(r) {
						return nil
					}
				}
				<-ctx.Done()
				return nil
			})
			var got atomic.Int64
			ctx, cancel := context.WithCancelCause(context.Background())
			go func() { // when all have been consumed and the consumer waits for more
				time.Sleep(time.Second)
				synctest.Wait()
				for range 2 {
					runtime.GC()
				}
				alive := 0
				for _, w := range weaks {
					if w.Value() != nil {
						alive++
					}
				}
				equal(t, "records that are still reachable", alive, 0)
				cancel(errGone)
			}()
			err := stream.Each(ctx, add(source), func(record) error { got.Add(1); return nil })
			equal(t, "error", err, errGone)
			if want := int64(n); name != "Chunk" {
				equal(t, "records", got.Load(), want)
			}
		})
	}
}

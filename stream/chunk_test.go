package stream_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint/stream"
)

// Without a linger all chunks but the last are full, for every source.
func TestChunkSizes(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 1000} {
		for _, size := range []int{1, 10, 257, 5000} {
			for _, linger := range []time.Duration{0, -1, time.Hour} {
				bubble(t, fmt.Sprint(n, "/", size, "/", linger), func(t *testing.T) {
					check := func(name string, s ints) {
						got, err := stream.Collect(context.Background(), stream.Chunk(s, size, linger))
						equal(t, name+": error", err, nil)
						equal(t, name+": chunks", len(got), (n+size-1)/size)
						for i, c := range got {
							equal(t, fmt.Sprint(name, ": size of chunk ", i), len(c), min(size, n-i*size))
						}
						same(t, name, slices.Concat(got...), indexes(n))
					}
					check("From", stream.From(indexes(n)))
					for _, src := range sources {
						check(src.name, src.open(t, count(n)))
					}
					for _, b := range boundaries {
						check(b.name, b.add(stream.From(indexes(n))))
					}
					equal(t, "time passed", sinceBubble() < 100*time.Millisecond, true)
				})
			}
		}
	}
}

// With a linger a chunk is passed on when it is full, or that long after its first record.
func TestChunkLinger(t *testing.T) {
	bubble(t, "paced", func(t *testing.T) {
		s := stream.Map(stream.FromSeq(count(14)), func(v int) int { time.Sleep(time.Second); return v })
		var got [][]int
		var times []time.Duration
		err := stream.Each(context.Background(), stream.Chunk(s, 100, 3500*time.Millisecond), func(c []int) error {
			got = append(got, c)
			times = append(times, sinceBubble())
			return nil
		})
		equal(t, "error", err, nil)
		equal(t, "chunks", len(got), 4)
		for i, c := range got {
			same(t, fmt.Sprint("chunk ", i), c, indexes(14)[4*i:min(4*i+4, 14)])
			want := time.Duration(4*i+1)*time.Second + 3500*time.Millisecond // its first record came at 4i+1
			if i == 3 {
				want = 14 * time.Second // the end
			}
			if times[i] < want || times[i] > want+linger {
				t.Errorf("chunk %d at %v, want %v", i, times[i], want)
			}
		}
	})
	bubble(t, "slow consumer", func(t *testing.T) { // no record is twice in a chunk, none is lost
		s := stream.Map(stream.FromSeq(count(500)), func(v int) int { time.Sleep(time.Millisecond); return v })
		var got []int
		err := stream.Each(context.Background(), stream.Chunk(s, 7, 3*time.Millisecond), func(c []int) error {
			if len(c) < 1 || len(c) > 7 {
				t.Errorf("%d records", len(c))
			}
			got = append(got, c...)
			time.Sleep(5 * time.Millisecond)
			return nil
		})
		equal(t, "error", err, nil)
		same(t, "records", got, indexes(500))
	})
}

package stream_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint/stream"
)

// A tagged record has the index of the input that it came from.
type tagged struct{ input, v int }

// Merge returns the records of all inputs, each input in order, and ends when all have.
func TestMergeEndsWhenAllEnd(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 20} {
		bubble(t, fmt.Sprint(n), func(t *testing.T) {
			var ss []stream.Stream[tagged]
			for i := range n {
				s := stream.Map(stream.FromSeq(count(10*i)), func(v int) int { time.Sleep(time.Second); return v })
				ss = append(ss, stream.Map(s, func(v int) tagged { return tagged{i, v} }))
			}
			got := make([][]int, n)
			err := stream.Each(context.Background(), stream.Merge(ss...), func(l tagged) error {
				got[l.input] = append(got[l.input], l.v)
				return nil
			})
			equal(t, "error", err, nil)
			for i := range n {
				same(t, fmt.Sprint("input ", i), got[i], indexes(10*i))
			}
			equal(t, "time passed", sinceBubble(), time.Duration(max(0, 10*(n-1)))*time.Second)
		})
	}
	bubble(t, "in itself", func(t *testing.T) {
		for _, st := range stages {
			s := st.add(stream.From(indexes(300)))
			want := indexes(300)
			for range 3 {
				s = stream.Merge(s, stream.Map(s, itself))
				want = slices.Concat(want, want)
			}
			givesSorted(t, s, nil, sorted(want))
		}
	})
}

// A source that is ahead does not keep the others from a slow consumer.
func TestMergeTakesTurns(t *testing.T) {
	bubble(t, "endless", func(t *testing.T) {
		const sources, records = 5, 1000
		ss := make([]ints, sources)
		for i := range ss {
			ss[i] = stream.FromSeq(func(yield func(int) bool) {
				for yield(i) {
				}
			})
		}
		out, err := all(context.Background(), stream.Merge(ss...), func(n int) bool {
			time.Sleep(10 * time.Millisecond)
			return n == records
		})
		equal(t, "error", err, nil)
		var got [sources]int
		for _, source := range out {
			got[source]++
		}
		for i, n := range got {
			if n < records/sources/2 {
				t.Errorf("%d of %d records are from source %d: %v", n, records, i, got)
			}
		}
	})
}

package stream_test

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// Take is done with its last record: it does not wait for one more, nor drop it.
func TestTakeIsExact(t *testing.T) {
	bubble(t, "FromChan", func(t *testing.T) {
		c := filled(20)
		gives(t, stream.Take(stream.FromChan(c), 10), nil, indexes(10))
		equal(t, "the next record", <-c, 10)
	})
	bubble(t, "behind stages", func(t *testing.T) {
		c := filled(20)
		s := stream.Filter(stream.Map(stream.FromChan(c), itself), func(v int) bool { return v%2 == 1 })
		gives(t, stream.Take(s, 5), nil, []int{1, 3, 5, 7, 9})
		equal(t, "the next record", <-c, 10)
	})
	bubble(t, "in front of stages", func(t *testing.T) {
		for _, st := range stages {
			c := filled(20)
			out, err := stream.Collect(context.Background(), st.add(stream.Take(stream.FromChan(c), 10)))
			equal(t, "error", err, nil)
			same(t, st.name, out, indexes(10))
			equal(t, st.name+": the next record", <-c, 10)
		}
	})
	bubble(t, "silent source", func(t *testing.T) { // the tenth is the last that ever comes
		for _, st := range stages {
			c := filled(10)
			out, err := stream.Collect(context.Background(), stream.Take(st.add(stream.FromChan(c)), 10))
			equal(t, "error", err, nil)
			same(t, st.name, out, indexes(10))
		}
		if sinceBubble() > time.Duration(len(stages))*time.Millisecond {
			t.Errorf("took %v", sinceBubble())
		}
	})
	for _, src := range sources[:3] {
		bubble(t, src.name, func(t *testing.T) {
			pulled := 0
			s := src.open(t, func(yield func(int) bool) {
				for i := 0; ; i++ {
					pulled++
					if !yield(i) {
						return
					}
				}
			})
			gives(t, stream.Take(s, 10), nil, indexes(10))
			equal(t, "pulled", pulled, 10)
		})
	}
}

// An error or a panic behind the last record that is taken does not matter, and nobody waits for
// it longer than its call takes.
func TestTakeForgetsTheRest(t *testing.T) {
	for _, st := range stages {
		bubble(t, st.name, func(t *testing.T) {
			late := stream.MapErr(stream.FromSeq(count(100)), func(_ context.Context, v int) (int, error) {
				if v == 50 {
					return 0, errBoom
				}
				return v, nil
			})
			gives(t, stream.Take(st.add(late), 50), nil, indexes(50))
			gives(t, stream.Take(st.add(late), 51), errBoom, indexes(50))
		})
	}
	bubble(t, "cancelled", func(t *testing.T) {
		s := stream.ParMap(stream.FromSeq(count(100)), func(ctx context.Context, v int) (int, error) {
			if v >= 5 {
				<-ctx.Done()
				return 0, context.Cause(ctx)
			}
			return v, nil
		}, stint.Limit(10))
		gives(t, stream.Take(s, 5), nil, indexes(5))
		// If the first calls return before the rest is cut into tasks, one task may have both
		// record 4 and record 5. The second tick splits it.
		if took := sinceBubble(); took > 2*linger {
			t.Errorf("took %v", took)
		}
	})
}

// Of two Takes the smaller counts.
func TestTakeOfTake(t *testing.T) {
	for _, st := range stages {
		bubble(t, st.name, func(t *testing.T) {
			for _, c := range [][3]int{{5, 9, 5}, {9, 5, 5}, {0, 9, 0}, {9, 0, 0}, {700, 300, 300}} {
				s := stream.Take(st.add(stream.Take(stream.From(indexes(1000)), c[0])), c[1])
				gives(t, s, nil, indexes(c[2]))
			}
		})
	}
}

package stream_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// failAt fails with errBoom for k, and with errGone for later records.
func failAt(k int) func(context.Context, int) (int, error) {
	return func(_ context.Context, v int) (int, error) {
		switch {
		case v == k:
			return 7, errBoom
		case v > k:
			return 7, errGone
		}
		return v, nil
	}
}

// An ordered ParMap returns the error of the first record that fails, in the order of the input,
// even if a later one fails earlier. It does not cancel the calls before it, and starts none
// behind the first failure.
func TestParMapErrorOfTheFirstRecord(t *testing.T) {
	for _, opts := range [][]stint.Option{{stint.Limit(10)}, {stint.Limit(10), stint.Queue(0)}, {stint.Limit(10), stint.Queue(100)}} {
		bubble(t, fmt.Sprint(len(opts)), func(t *testing.T) {
			var g gauge
			s := stream.ParMap(stream.FromSeq(count(100)), func(ctx context.Context, v int) (int, error) {
				g.Enter()
				defer g.Leave()
				switch {
				case v == 7: // fails first
					time.Sleep(time.Second)
					return 0, errGone
				case v == 5:
					time.Sleep(2 * time.Second)
					return 0, errBoom
				case v < 5:
					time.Sleep(3 * time.Second)
					if err := ctx.Err(); err != nil {
						t.Errorf("the context of record %d ended: %v", v, err)
					}
					return v, nil
				}
				select { // its result is not wanted
				case <-ctx.Done():
				case <-time.After(3 * time.Second):
				}
				return v, ctx.Err()
			}, opts...)
			gives(t, s, errBoom, indexes(5))
			equal(t, "time passed", sinceBubble(), 3*time.Second)
			g.Is(t, 0, 10, 10)
		})
	}
}

// Errors that calls return because the stream cancelled them are not returned.
func TestErrorIsTheCause(t *testing.T) {
	over(t, boundaries, "", func(t *testing.T, b stage) {
		var g gauge
		wait := func(ctx context.Context, v int) (int, error) {
			if v < 3 {
				return v, nil
			}
			g.Enter()
			defer g.Leave()
			<-ctx.Done()
			time.Sleep(time.Second) // ignores its context
			return 0, ctx.Err()
		}
		// The consumer fails while the stage waits.
		boom := func(v int) error {
			if v == 2 {
				time.Sleep(time.Second)
				return errBoom
			}
			return nil
		}
		err := stream.Each(context.Background(), b.add(stream.MapErr(stream.FromSeq(count(100)), wait)), boom)
		equal(t, "MapErr: error", err, errBoom)
		g.Is(t, 0, 1, 1)
		err = stream.Each(context.Background(), b.add(stream.ParMap(stream.FromSeq(count(100)), wait, stint.Limit(4))), boom)
		equal(t, "ParMap: error", err, errBoom)
		g.Is(t, 0, 4, 5)
		about(t, sinceBubble(), 4*time.Second)
	})
}

package stream_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A failing is a stream of 0 to k-1, then errBoom, then more records.
type failing struct {
	name string
	open func(k int) ints
}

var failings = []failing{
	{"Generate", func(k int) ints {
		return stream.Generate(func(_ context.Context, emit func(int) bool) error {
			count(k)(emit)
			return errBoom
		})
	}},
	{"MapErr", func(k int) ints {
		return stream.MapErr(stream.From(indexes(k+300)), failAt(k))
	}},
	{"MapErr/FromSeq", func(k int) ints {
		return stream.MapErr(stream.FromSeq(count(k+300)), failAt(k))
	}},
	{"ParMap(1)", func(k int) ints {
		return stream.ParMap(stream.From(indexes(k+300)), failAt(k), stint.Limit(1))
	}},
	{"ParMap(3)", func(k int) ints {
		return stream.ParMap(stream.FromSeq(count(k+300)), failAt(k), stint.Limit(3))
	}},
	{"ParMap", func(k int) ints {
		return stream.ParMap(stream.From(indexes(k+300)), failAt(k))
	}},
}

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

// An error arrives at its position: the records before it, then the error, once. Fails: rill,
// whose error comes before earlier records.
func TestErrorAtItsPosition(t *testing.T) {
	for _, f := range failings {
		for _, k := range []int{0, 1, 7, 8, 255, 256, 1000} {
			bubble(t, fmt.Sprint(f.name, "/", k), func(t *testing.T) {
				for _, st := range stages {
					for _, x := range terminals {
						out, err := x.run(context.Background(), st.add(f.open(k)))
						equal(t, x.name+" "+st.name+": error", err, errBoom)
						same(t, x.name+" "+st.name, out, indexes(k))
					}
				}
			})
		}
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

// Unordered returns the first error in time, and not those that follow from it.
func TestUnorderedGivesTheFirstError(t *testing.T) {
	bubble(t, "first", func(t *testing.T) {
		var g gauge
		s := stream.ParMap(stream.FromSeq(count(100)), func(ctx context.Context, v int) (int, error) {
			g.Enter()
			defer g.Leave()
			if v == 7 {
				time.Sleep(time.Second)
				return 0, errBoom
			}
			<-ctx.Done()
			return 0, errors.New("cancelled")
		}, stint.Limit(10), stint.Unordered())
		out, err := stream.Collect(context.Background(), s)
		equal(t, "error", err, errBoom)
		equal(t, "records", len(out), 0)
		equal(t, "time passed", sinceBubble(), time.Second)
		g.Is(t, 0, 10, 10)
	})
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

// An error of Each's function ends the stream, and the function is not called again.
func TestEachFails(t *testing.T) {
	over(t, stages, "", func(t *testing.T, st stage) {
		for _, k := range []int{0, 1, 5, 300} {
			n := 0
			err := stream.Each(context.Background(), st.add(stream.FromSeq(naturals)), func(v int) error {
				equal(t, "record", v, n)
				if n++; v == k {
					return errBoom
				}
				return nil
			})
			equal(t, "error", err, errBoom)
			equal(t, "calls", n, k+1)
		}
	})
}

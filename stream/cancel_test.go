package stream_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/stream"
)

// A break after j records has pulled exactly j if all stages are on the caller's goroutine, and
// at most j more and a step if the source is a slice.
func TestBreakOfAFusedPipeline(t *testing.T) {
	for _, j := range []int{1, 2, 3, 7, 256, 1000} {
		for _, src := range sources[:3] {
			for _, st := range fused {
				bubble(t, fmt.Sprint(src.name, "/", st.name, "/", j), func(t *testing.T) {
					s, pulled := counted(t, src)
					out, err := all(context.Background(), st.add(s), func(n int) bool { return n == j })
					equal(t, "error", err, nil)
					equal(t, "records", len(out), j)
					equal(t, "pulled", pulled.Load(), int64(j))
				})
			}
		}
		bubble(t, fmt.Sprint("From/", j), func(t *testing.T) {
			calls := 0
			s := stream.Map(stream.From(indexes(5000)), func(v int) int { calls++; return v })
			out, err := all(context.Background(), s, func(n int) bool { return n == j })
			equal(t, "error", err, nil)
			same(t, "records", out, indexes(j))
			if most := min(2*j-1, j+255); calls < j || calls > most { // steps of 1, 2, 4 to 256
				t.Errorf("%d records were processed, want %d to %d", calls, j, most)
			}
		})
	}
}

// Leaving the loop tells the source, and waits for it and for all goroutines.
func TestBreakWaits(t *testing.T) {
	for _, src := range sources[:3] {
		over(t, boundaries, src.name, func(t *testing.T, b stage) {
			var pulled atomic.Int64
			ended := false
			s := b.add(src.open(t, func(yield func(int) bool) {
				for yield(int(pulled.Load())) {
					pulled.Add(1)
					time.Sleep(time.Second)
				}
				time.Sleep(time.Hour) // cleans up
				ended = true
			}))
			out, err := all(context.Background(), s, func(n int) bool { return n == 10 })
			equal(t, "error", err, nil)
			same(t, "records", out, indexes(10))
			equal(t, "the source has ended", ended, true)
			noneLeft(t)
			if n := pulled.Load(); n != 10 { // the call in progress was the sleep after the tenth
				t.Errorf("pulled %d", n)
			}
			took := sinceBubble() - time.Hour
			if took != 10*time.Second {
				t.Errorf("took %v and an hour", took)
			}
		})
	}
}

// The loop is left while the source is silent, and while the stages are blocked.
func TestBreakOfABlockedPipeline(t *testing.T) {
	for _, b := range boundaries {
		over(t, boundaries, b.name, func(t *testing.T, c stage) {
			silent := filled(3)
			out, err := all(context.Background(), c.add(b.add(stream.FromChan(silent))), func(n int) bool { return n == 3 })
			equal(t, "error", err, nil)
			same(t, "silent source", out, indexes(3))
			// The source is blocked.
			start := time.Now()
			out, err = all(context.Background(), c.add(b.add(stream.FromSeq(naturals))), func(n int) bool {
				time.Sleep(time.Second)
				return n == 3
			})
			equal(t, "error", err, nil)
			same(t, "full", out, indexes(3))
			took(t, start, 3*time.Second)
		})
	}
}

// An end is a way in which a stream of 0, 1, 2 and so on ends after three records.
type end struct {
	name string
	run  func(ctx context.Context, s ints) ([]int, error)
	out  int
	err  error
}

// ends are ways of the stages on the goroutine of the source, and of those behind a boundary.
var ends = []end{
	{"break", func(ctx context.Context, s ints) ([]int, error) {
		return all(ctx, s, func(n int) bool { return n == 3 })
	}, 3, nil},
	{"Take", func(ctx context.Context, s ints) ([]int, error) { return stream.Collect(ctx, stream.Take(s, 3)) }, 3, nil},
	{"Take before a boundary", func(ctx context.Context, s ints) ([]int, error) {
		return stream.Collect(ctx, stream.Buffer(stream.Take(s, 3), 10))
	}, 3, nil},
	{"Take before a ParMap", func(ctx context.Context, s ints) ([]int, error) {
		return stream.Collect(ctx, parMap(stream.Take(s, 3)))
	}, 3, nil},
	{"Each", func(ctx context.Context, s ints) ([]int, error) {
		return nil, stream.Each(ctx, s, func(v int) error { _, err := failAt(2)(ctx, v); return err })
	}, 0, errBoom},
	{"MapErr", func(ctx context.Context, s ints) ([]int, error) {
		return stream.Collect(ctx, stream.MapErr(s, failAt(3)))
	}, 3, errBoom},
	{"ParMap", func(ctx context.Context, s ints) ([]int, error) {
		return stream.Collect(ctx, stream.ParMap(s, failAt(3), stint.Limit(2)))
	}, 3, errBoom},
	{"Merge", func(ctx context.Context, s ints) ([]int, error) {
		return stream.Collect(ctx, stream.Merge(stream.MapErr(s, failAt(3)), stream.From[int](nil)))
	}, 3, errBoom},
	{"FlatMap", func(ctx context.Context, s ints) ([]int, error) {
		return stream.Collect(ctx, stream.Take(stream.FlatMap(s, alone), 3))
	}, 3, nil},
	{"Chunk", func(ctx context.Context, s ints) ([]int, error) {
		return stream.Collect(ctx, stream.Take(flat(stream.Chunk(s, 1, 0)), 3))
	}, 3, nil},
	{"end", func(ctx context.Context, s ints) ([]int, error) {
		return stream.Collect(ctx, stream.MapErr(s, itselfErr))
	}, 3, nil},
}

// The context of functions is derived from the caller's, and ends with the run. A source that
// watches it and ignores emit returns.
func TestContextOfFunctions(t *testing.T) {
	type key struct{}
	bg := context.WithValue(context.Background(), key{}, "value")
	for _, e := range ends {
		over(t, stages, e.name, func(t *testing.T, b stage) {
			var mu sync.Mutex
			var kept []context.Context
			keep := func(ctx context.Context) {
				equal(t, "value", ctx.Value(key{}), "value")
				mu.Lock()
				defer mu.Unlock()
				kept = append(kept, ctx)
			}
			heedless := stream.Generate(func(ctx context.Context, emit func(int) bool) error {
				keep(ctx)
				for i := 0; e.name != "end" || i < 3; i++ {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(time.Second):
						emit(i)
					}
				}
				return nil
			})
			s := stream.MapErr(heedless, func(ctx context.Context, v int) (int, error) { keep(ctx); return v, nil })
			out, err := e.run(bg, stream.MapErr(b.add(s), func(ctx context.Context, v int) (int, error) { keep(ctx); return v, nil }))
			equal(t, "error", err, e.err)
			same(t, "records", out, indexes(e.out))
			for _, ctx := range kept {
				if ctx.Err() == nil {
					t.Error("a context has not ended")
				}
			}
		})
	}
	bubble(t, "MapErr waits", func(t *testing.T) { // a call in progress sees it too: that of another goroutine
		s := stream.MapErr(stream.FromSeq(count(10)), func(ctx context.Context, v int) (int, error) {
			if v == 3 {
				<-ctx.Done()
			}
			return v, ctx.Err()
		})
		gives(t, stream.Take(stream.Buffer(s, 1), 3), nil, indexes(3))
	})
}

// When the caller's context ends, the terminal returns its cause: while everything is blocked,
// while records flow, with the last record, and before the first.
func TestCancelIsTheCause(t *testing.T) {
	everyStage(t, "silent", func(t *testing.T, b stage, x terminal) {
		for _, src := range sources[1:] {
			if src.name == "FlatMap" {
				continue // of a sequence that does not watch the context
			}
			ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, errGone)
			start, stop := time.Now(), ctx.Done()
			silent := func(yield func(int) bool) {
				if yield(0) && yield(1) {
					<-stop
				}
			}
			out, err := x.run(ctx, b.add(src.open(t, silent)))
			equal(t, src.name+": error", err, errGone)
			same(t, src.name, out, indexes(2))
			took(t, start, time.Second)
			cancel()
		}
	})
	everyStage(t, "last", func(t *testing.T, b stage, x terminal) {
		ctx, cancel := context.WithCancelCause(context.Background())
		_, err := x.run(ctx, stream.Map(b.add(stream.From(indexes(3))), func(v int) int {
			if v == 2 {
				cancel(errGone)
			}
			return v
		}))
		equal(t, "error", err, errGone)
	})
	everyStage(t, "before", func(t *testing.T, b stage, x terminal) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errGone)
		out, err := x.run(ctx, b.add(stream.FromSeq(func(func(int) bool) { t.Error("pulled") })))
		equal(t, "error", err, errGone)
		equal(t, "records", len(out), 0)
	})
	over(t, stages, "flowing", func(t *testing.T, b stage) {
		for _, src := range sources {
			ctx, cancel := context.WithCancelCause(context.Background())
			n := 0
			err := stream.Each(ctx, b.add(src.open(t, naturals)), func(v int) error {
				equal(t, "record", v, n)
				if n++; n == 1000 {
					cancel(errGone)
				}
				return nil
			})
			equal(t, src.name+": error", err, errGone)
			equal(t, src.name+": records", n, 1000)
		}
	})
}

// everyStage runs a test in a bubble for every stage with every terminal; with -short or the race
// detector with one of them.
func everyStage(t *testing.T, name string, test func(t *testing.T, b stage, x terminal)) {
	for i, b := range stages {
		bubble(t, name+"/"+b.name, func(t *testing.T) {
			for j, x := range terminals {
				if (i+j)%len(terminals) == 0 || !testing.Short() && !race.Enabled {
					test(t, b, x)
				}
			}
		})
	}
}

// A Take in one input of a Merge does not cancel the others.
func TestTakeCancelsItsOwnUpstreamOnly(t *testing.T) {
	bubble(t, "Merge", func(t *testing.T) {
		slow := func(ctx context.Context, v int) (int, error) {
			time.Sleep(time.Second)
			return v, ctx.Err()
		}
		var ended time.Duration
		short := stream.Generate(func(ctx context.Context, emit func(int) bool) error {
			emit(100)
			<-ctx.Done()
			ended = sinceBubble()
			return nil
		})
		s := stream.Merge(stream.Take(stream.Buffer(short, 1), 1), stream.MapErr(stream.FromSeq(count(5)), slow))
		givesSorted(t, s, nil, []int{0, 1, 2, 3, 4, 100})
		equal(t, "end of the short one", ended, 0)
		equal(t, "time passed", sinceBubble(), 5*time.Second)
	})
}

package stream_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A break after j records has pulled exactly j if all stages are on the caller's goroutine, and
// at most j more and a step if the source is a slice.
func TestBreakOfAFusedPipeline(t *testing.T) {
	for _, j := range []int{1, 2, 3, 4, 7, 100, 256, 1000} {
		for _, src := range sources[:3] {
			for _, st := range fused {
				bubble(t, fmt.Sprint(src.name, "/", st.name, "/", j), func(t *testing.T) {
					pulled, ended := 0, false
					s := st.add(src.open(t, func(yield func(int) bool) {
						for pulled = 1; yield(pulled - 1); {
							pulled++
						}
						ended = true
					}))
					out, err := all(context.Background(), s, func(n int) bool { return n == j })
					equal(t, "error", err, nil)
					same(t, "records", out, indexes(j))
					equal(t, "pulled", pulled, j)
					equal(t, "the source has ended", ended, true)
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
		for _, b := range boundaries {
			bubble(t, src.name+"/"+b.name, func(t *testing.T) {
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
	bubble(t, "calls of a ParMap", func(t *testing.T) {
		var g gauge
		s := stream.ParMap(stream.FromSeq(count(100)), func(_ context.Context, v int) (int, error) {
			if v == 0 {
				time.Sleep(time.Millisecond) // so that the others are taken one by one
				return 0, nil
			}
			g.Hold(time.Hour) // ignores its context
			return v, nil
		}, stint.Limit(5))
		out, err := all(context.Background(), s, func(int) bool { time.Sleep(time.Second); return true })
		equal(t, "error", err, nil)
		same(t, "records", out, []int{0})
		about(t, sinceBubble(), time.Hour)
		g.Is(t, 0, 5, 5)
	})
}

// The loop is left while the source is silent, and while the stages are blocked.
func TestBreakOfABlockedPipeline(t *testing.T) {
	for _, b := range boundaries {
		for _, c := range boundaries {
			bubble(t, b.name+"/"+c.name, func(t *testing.T) {
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
}

// The context of functions is derived from the caller's, and ends with the run: by a break, a
// Take, an error, and at its end.
func TestContextOfFunctions(t *testing.T) {
	type key struct{}
	bg := context.WithValue(context.Background(), key{}, "value")
	for _, end := range []struct {
		name string
		run  func(s ints)
	}{
		{"break", func(s ints) { all(bg, s, func(int) bool { return true }) }},
		{"Take", func(s ints) { stream.Collect(bg, stream.Take(s, 1)) }},
		{"Take behind", func(s ints) { stream.Collect(bg, stream.Buffer(stream.Take(s, 1), 3)) }},
		{"error", func(s ints) { stream.Each(bg, s, func(int) error { return errBoom }) }},
		{"MapErr", func(s ints) { stream.Collect(bg, stream.MapErr(s, failAt(0))) }},
		{"ParMap", func(s ints) { stream.Collect(bg, stream.ParMap(s, failAt(0), stint.Limit(3))) }},
		{"Merge", func(s ints) { stream.Collect(bg, stream.Merge(s, stream.MapErr(stream.From([]int{0}), failAt(0)))) }},
		{"end", func(s ints) { stream.Collect(bg, s) }},
	} {
		bubble(t, end.name, func(t *testing.T) {
			var kept []context.Context
			keep := func(ctx context.Context) {
				equal(t, "value", ctx.Value(key{}), "value")
				kept = append(kept, ctx)
			}
			wait := func(ctx context.Context) { // for a second, on one record
				keep(ctx)
				time.Sleep(time.Second)
			}
			s := stream.Generate(func(ctx context.Context, emit func(int) bool) error { wait(ctx); emit(0); return nil })
			s = stream.MapErr(s, func(ctx context.Context, v int) (int, error) { wait(ctx); return v, nil })
			s = stream.Buffer(s, 1)
			s = stream.MapErr(s, func(ctx context.Context, v int) (int, error) { wait(ctx); return v, nil })
			s = stream.ParMap(s, func(ctx context.Context, v int) (int, error) { wait(ctx); return v, nil }, stint.Limit(2))
			end.run(s)
			for _, ctx := range kept {
				if ctx.Err() == nil {
					t.Error("a context has not ended")
				}
			}
			equal(t, "the caller's context", bg.Err(), nil)
		})
	}
	for _, b := range append(boundaries, stages[0]) {
		bubble(t, "blocked/"+b.name, func(t *testing.T) { // the calls end because their context does
			s := stream.Generate(func(ctx context.Context, emit func(int) bool) error {
				emit(1)
				<-ctx.Done()
				return ctx.Err()
			})
			if b.name == "none" {
				s = stream.Buffer(s, 1)
			}
			all(bg, b.add(s), func(int) bool { return true })
			noneLeft(t)
			gives(t, stream.Take(b.add(s), 1), nil, []int{1})
		})
	}
}

// The context also ends if the stage that wants no more is on the same goroutine: a source that
// watches the context and ignores emit returns.
func TestContextEndsOnTheSameGoroutine(t *testing.T) {
	bg := context.Background()
	heedless := stream.Generate(func(ctx context.Context, emit func(int) bool) error {
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
				emit(i)
			}
		}
	})
	three := func(v int) error {
		if v == 2 {
			return errBoom
		}
		return nil
	}
	for _, end := range []struct {
		name string
		run  func(s ints) ([]int, error)
		out  int
		err  error
	}{
		{"break", func(s ints) ([]int, error) { return all(bg, s, func(n int) bool { return n == 3 }) }, 3, nil},
		{"Take", func(s ints) ([]int, error) { return stream.Collect(bg, stream.Take(s, 3)) }, 3, nil},
		{"Take before a boundary", func(s ints) ([]int, error) {
			return stream.Collect(bg, stream.Buffer(stream.Take(s, 3), 10))
		}, 3, nil},
		{"Take before a ParMap", func(s ints) ([]int, error) { return stream.Collect(bg, parMap(stream.Take(s, 3))) }, 3, nil},
		{"error", func(s ints) ([]int, error) { return nil, stream.Each(bg, s, three) }, 0, errBoom},
		{"MapErr", func(s ints) ([]int, error) { return stream.Collect(bg, stream.MapErr(s, failAt(3))) }, 3, errBoom},
		{"ParMap", func(s ints) ([]int, error) {
			return stream.Collect(bg, stream.ParMap(s, failAt(3), stint.Limit(2)))
		}, 3, errBoom},
		{"FlatMap", func(s ints) ([]int, error) {
			return stream.Collect(bg, stream.Take(stream.FlatMap(s, alone), 3))
		}, 3, nil},
		{"Chunk", func(s ints) ([]int, error) {
			return stream.Collect(bg, stream.Map(stream.Take(stream.Chunk(s, 1, 0), 3), func(c []int) int { return c[0] }))
		}, 3, nil},
	} {
		bubble(t, end.name, func(t *testing.T) {
			out, err := end.run(heedless)
			equal(t, "error", err, end.err)
			same(t, "records", out, indexes(end.out))
		})
	}
	bubble(t, "MapErr waits", func(t *testing.T) { // a call in progress sees it too: that of another goroutine
		s := stream.MapErr(stream.FromSeq(count(10)), func(ctx context.Context, v int) (int, error) {
			if v == 3 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return v, nil
		})
		gives(t, stream.Take(stream.Buffer(s, 1), 3), nil, indexes(3))
	})
}

// When the caller's context ends, the terminal returns its cause: while everything is blocked,
// while records flow, and when the stream ends by itself.
func TestCancelIsTheCause(t *testing.T) {
	for _, b := range stages {
		bubble(t, b.name, func(t *testing.T) {
			for _, x := range terminals {
				for _, src := range sources {
					if src.name != "FromChan" && src.name != "Generate" {
						continue
					}
					ctx, cancel := context.WithCancelCause(context.Background())
					time.AfterFunc(time.Second, func() { cancel(errGone) })
					start := time.Now()
					stop := ctx.Done()
					silent := func(yield func(int) bool) {
						if yield(0) && yield(1) {
							select {
							case <-stop:
							case <-t.Context().Done():
							}
						}
					}
					out, err := x.run(ctx, b.add(src.open(t, silent)))
					equal(t, x.name+" "+src.name+": error", err, errGone)
					same(t, x.name+" "+src.name, out, indexes(2))
					took(t, start, time.Second)
				}
			}
		})
		bubble(t, b.name+"/flowing", func(t *testing.T) {
			for _, src := range sources {
				ctx, cancel := context.WithCancelCause(context.Background())
				n := 0
				err := stream.Each(ctx, b.add(src.open(t, naturals)), func(v int) error {
					equal(t, "record", v, n)
					if n++; n == 1000 {
						cancel(errGone)
						synctest.Wait()
					}
					return nil
				})
				equal(t, src.name+": error", err, errGone)
				equal(t, src.name+": records", n, 1000)
			}
		})
		bubble(t, b.name+"/last", func(t *testing.T) { // the last record cancels
			for _, x := range terminals {
				ctx, cancel := context.WithCancelCause(context.Background())
				s := stream.Map(b.add(stream.From(indexes(3))), func(v int) int {
					if v == 2 {
						cancel(errGone)
					}
					return v
				})
				_, err := x.run(ctx, s)
				equal(t, x.name+": error", err, errGone)
			}
		})
		bubble(t, b.name+"/before", func(t *testing.T) {
			for _, x := range terminals {
				ctx, cancel := context.WithCancelCause(context.Background())
				cancel(errGone)
				s := b.add(stream.FromSeq(func(func(int) bool) { t.Error(x.name + " pulled") }))
				out, err := x.run(ctx, s)
				equal(t, x.name+": error", err, errGone)
				equal(t, "records", len(out), 0)
			}
		})
	}
	bubble(t, "deadline", func(t *testing.T) {
		for _, x := range terminals {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_, err := x.run(ctx, stream.FromChan(make(chan int)))
			equal(t, x.name+": error", err, context.DeadlineExceeded)
			cancel()
			_, err = x.run(ctx, stream.FromChan(make(chan int)))
			equal(t, x.name+": error", err, context.DeadlineExceeded)
		}
	})
}

// The context ends while every stage is blocked and waits for the consumer.
func TestCancelOfAStoppedPipeline(t *testing.T) {
	for _, b := range boundaries {
		for _, c := range boundaries {
			bubble(t, b.name+"/"+c.name, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(context.Background())
				err := stream.Each(ctx, c.add(b.add(stream.FromSeq(naturals))), func(int) error {
					time.Sleep(time.Second)
					synctest.Wait()
					cancel(errGone)
					synctest.Wait() // every goroutine of the library has returned or waits for the consumer
					return nil
				})
				equal(t, "error", err, errGone)
				equal(t, "time passed", sinceBubble(), time.Second)
			})
		}
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

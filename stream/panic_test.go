package stream_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/stream"
)

// A callSite is a place for a function of the caller. Its stream has 0 to 9; it calls f before
// each record, or once with 0.
type callSite struct {
	name string
	open func(f func(v int)) ints
}

var callSites = []callSite{
	{"FromSeq", func(f func(int)) ints {
		return stream.FromSeq(func(yield func(int) bool) {
			for i := range 10 {
				f(i)
				if !yield(i) {
					return
				}
			}
		})
	}},
	{"Generate", func(f func(int)) ints {
		return stream.Generate(func(_ context.Context, emit func(int) bool) error {
			for i := range 10 {
				f(i)
				if !emit(i) {
					break
				}
			}
			return nil
		})
	}},
	{"Map", func(f func(int)) ints {
		return stream.Map(stream.From(indexes(10)), func(v int) int { f(v); return v })
	}},
	{"MapErr", func(f func(int)) ints {
		return stream.MapErr(stream.From(indexes(10)), func(_ context.Context, v int) (int, error) { f(v); return v, nil })
	}},
	{"Filter", func(f func(int)) ints {
		return stream.Filter(stream.From(indexes(10)), func(v int) bool { f(v); return true })
	}},
	{"FlatMap", func(f func(int)) ints {
		return stream.FlatMap(stream.From(indexes(10)), func(v int) iter.Seq[int] { f(v); return alone(v) })
	}},
	{"FlatMap's sequence", func(f func(int)) ints {
		return stream.FlatMap(stream.From(indexes(10)), func(v int) iter.Seq[int] {
			return func(yield func(int) bool) { f(v); yield(v) }
		})
	}},
	{"ParMap(3)", func(f func(int)) ints { return stream.ParMap(stream.FromSeq(count(10)), calling(f), stint.Limit(3)) }},
	{"Unordered", func(f func(int)) ints {
		return stream.ParMap(stream.From(indexes(10)), calling(f), stint.Limit(2), stint.Unordered())
	}},
	{"ParMapKey's key", func(f func(int)) ints {
		return stream.ParMapKey(stream.From(indexes(10)), func(v int) int { f(v); return v }, itselfErr)
	}},
}

func calling(f func(int)) func(context.Context, int) (int, error) {
	return func(_ context.Context, v int) (int, error) { f(v); return v, nil }
}

// culprit panics. Stacks must name it.
func culprit(v any) { panic(v) }

// raised returns the PanicError of f, and fails the test if f does anything else.
func raised(t *testing.T, f func()) *stint.PanicError {
	t.Helper()
	v := recovered(f)
	p, ok := v.(*stint.PanicError)
	if !ok {
		t.Fatalf("panicked with %T %v, want a PanicError", v, v)
	}
	return p
}

// A panic of any function, on any goroutine, is raised in the consumer with its value and stack,
// after everything else has finished. Fails: rill, lo and go-streams, where it ends the process.
func TestPanicsReachTheConsumer(t *testing.T) {
	reaches := func(t *testing.T, what string, f func(boom func(v int))) {
		for _, k := range []int{0, 3, 9} {
			got := raised(t, func() {
				f(func(v int) {
					if v == k {
						culprit(errBoom)
					}
				})
			})
			equal(t, what+": value", got.Value, any(errBoom))
			equal(t, what+": is the error", errors.Is(got, errBoom), true)
			if !strings.Contains(string(got.Stack), "stream_test.culprit") {
				t.Errorf("%s: the stack does not name the function:\n%s", what, got.Stack)
			}
			noneLeft(t)
		}
	}
	for _, p := range callSites {
		everyStage(t, p.name, func(t *testing.T, b stage, x terminal) {
			reaches(t, x.name, func(boom func(int)) { x.run(context.Background(), b.add(p.open(boom))) })
		})
	}
	over(t, stages, "terminals", func(t *testing.T, b stage) {
		ctx, s := context.Background(), b.add(stream.FromSeq(count(1000)))
		reaches(t, "Each", func(boom func(int)) { stream.Each(ctx, s, func(v int) error { boom(v); return nil }) })
		reaches(t, "Reduce", func(boom func(int)) { stream.Reduce(ctx, s, 0, func(_, v int) int { boom(v); return 0 }) })
	})
}

// A panic of the body of a loop over All passes through as it is, and a Goexit ends the goroutine,
// after everything else has finished.
func TestPanicOfTheBody(t *testing.T) {
	over(t, stages, "", func(t *testing.T, b stage) {
		var g gauge
		ended := false
		slow := stream.ParMap(stream.FromSeq(func(yield func(int) bool) {
			for yield(0) {
			}
			ended = true
		}), func(context.Context, int) (int, error) { g.Hold(time.Second); return 0, nil }, stint.Limit(3))
		type own struct{ error }
		mine := own{errBoom}
		v := recovered(func() {
			for range b.add(slow).All(context.Background()) {
				panic(mine)
			}
		})
		equal(t, "value", v, any(mine))
		equal(t, "the source has ended", ended, true)
		g.Is(t, 0, 3, g.Total())
		noneLeft(t)

		gone := make(chan bool)
		go func() {
			defer func() { gone <- ended }()
			ended = false
			for range b.add(slow).All(context.Background()) {
				runtime.Goexit()
			}
			t.Error("not left")
		}()
		equal(t, "the source has ended", <-gone, true)
		g.Is(t, 0, 3, g.Total())
	})
}

// A Goexit on a goroutine of the library is ErrGoexit; on the caller's own goroutine it ends that,
// after everything else has finished.
func TestGoexit(t *testing.T) {
	for _, p := range callSites {
		everyStage(t, p.name, func(t *testing.T, b stage, x terminal) {
			returned, own := false, false
			var out []int
			var err error
			leaving(func() {
				me := goroutine.ID()
				s := b.add(p.open(func(v int) {
					if v == 3 {
						own = goroutine.ID() == me
						runtime.Goexit()
					}
				}))
				out, err = x.run(context.Background(), s)
				returned = true
			})
			noneLeft(t)
			equal(t, x.name+": returned", returned, !own)
			if returned {
				equal(t, x.name+": error", err, stint.ErrGoexit)
			}
			if p.name != "Unordered" { // it may have taken some of the same step with it
				same(t, x.name, out, indexes(min(len(out), 3)))
			}
		})
	}
	for _, k := range []int{0, 5, 1000} {
		bubble(t, fmt.Sprint("ParMap/", k), func(t *testing.T) { // at its position
			s := stream.ParMap(stream.From(indexes(2000)), calling(func(v int) {
				if v == k {
					runtime.Goexit()
				}
			}), stint.Limit(4))
			gives(t, s, stint.ErrGoexit, indexes(k))
		})
	}
}

// A panic after the consumer has left is not lost, and a panic is raised instead of an error.
func TestPanicIsNotLost(t *testing.T) {
	late := func(err error) ints { // the first call returns err after a second
		return stream.ParMap(stream.FromSeq(count(2)), func(ctx context.Context, v int) (int, error) {
			if v == 1 {
				<-ctx.Done()
				culprit("late")
			}
			time.Sleep(time.Second)
			return v, err
		}, stint.Limit(2))
	}
	for name, end := range map[string]func(){
		"after a break":  func() { all(context.Background(), late(nil), func(int) bool { return true }) },
		"after an error": func() { stream.Collect(context.Background(), late(errBoom)) },
		"after the end of the context": func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
			defer cancel()
			stream.Collect(ctx, late(nil))
		},
	} {
		bubble(t, name, func(t *testing.T) { equal(t, "value", raised(t, end).Value, any("late")) })
	}
}

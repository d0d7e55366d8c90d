package stream_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A foreign context is not of package context. It knows the functions given to AfterFunc.
type foreign struct {
	context.Context // for Deadline
	done            chan struct{}
	unwatched       func() // called by the functions that AfterFunc has returned
	value           func(key any) any

	mu     sync.Mutex
	ended  error
	called []func()
}

func (c *foreign) Done() <-chan struct{} { return c.done }
func (c *foreign) Value(key any) any     { return c.value(key) }

func (c *foreign) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *foreign) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called = append(c.called, f)
	return func() bool { c.unwatched(); return true }
}

func (c *foreign) end(err error) {
	c.mu.Lock()
	c.ended = err
	called := c.called
	c.mu.Unlock()
	close(c.done)
	for _, f := range called {
		f()
	}
}

func newForeign() *foreign {
	return &foreign{
		Context: context.Background(), done: make(chan struct{}),
		unwatched: func() {}, value: func(any) any { return nil },
	}
}

// A context of another type works like one of package context.
func TestForeignContext(t *testing.T) {
	over(t, stages, "", func(t *testing.T, b stage) {
		c := newForeign()
		c.value = func(key any) any { // uses the library itself
			stream.Collect(context.Background(), stream.Buffer(stream.From(indexes(3)), 1))
			return nil
		}
		out, err := stream.Collect(c, b.add(stream.From(indexes(100))))
		equal(t, "error", err, nil)
		same(t, "records", out, indexes(100))

		own := errors.New("own")
		endless := func(yield func(int) bool) {
			for yield(1) {
				time.Sleep(time.Second)
			}
		}
		time.AfterFunc(10500*time.Millisecond, func() { c.end(own) })
		out, err = stream.Collect(c, b.add(stream.FromSeq(endless)))
		equal(t, "error", err, own)
		equal(t, "records", len(out), 11)
		_, err = stream.Collect(c, b.add(stream.FromSeq(endless)))
		equal(t, "error", err, own)
	})
}

// Stopping to watch the context of the terminal may block until a function returns.
func TestContextIsLeftUnlocked(t *testing.T) {
	bubble(t, "panic", func(t *testing.T) {
		ended := make(chan struct{})
		c := newForeign()
		c.unwatched = func() { <-ended }
		bad := stream.FromSeq(func(func(int) bool) {
			time.Sleep(time.Second)
			culprit("boom")
		})
		slow := stream.MapErr(stream.FromSeq(func(yield func(int) bool) {
			defer close(ended)
			yield(1)
		}), func(context.Context, int) (int, error) {
			time.Sleep(2 * time.Second)
			return 0, errBoom
		})
		got := raised(t, func() { stream.Collect(c, stream.Merge(bad, slow)) })
		equal(t, "value", got.Value, any("boom"))
		equal(t, "and", got.Also().Error(), "boom")
	})
}

// A called error calls is in its methods.
type called struct{ is func() bool }

func (called) Error() string      { return "called" }
func (e called) Is(error) bool    { return e.is() }
func (e called) As(any) bool      { return e.is() }
func (e called) Unwrap() error    { e.is(); return nil }
func (e called) String() string   { panic("String") }
func (e called) GoString() string { panic("GoString") }

// Methods of errors are code of the caller: they may use the library, and their panics are
// those of a function. A boundary drops the error.
func TestMethodsOfErrors(t *testing.T) {
	everyStage(t, "methods", func(t *testing.T, b stage, x terminal) {
		near := slices.ContainsFunc(stages[:5], func(n stage) bool { return n.name == b.name })
		run := func(is func() bool) error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			_, err := x.run(ctx, b.add(stream.MapErr(stream.FromSeq(count(3)), func(context.Context, int) (int, error) {
				cancel()
				return 0, &called{is}
			})))
			return err
		}
		var nested []int
		err := run(func() bool {
			nested, _ = stream.Collect(context.Background(), b.add(stream.From(indexes(3))))
			return true
		})
		equal(t, "error", err, context.Canceled)
		if near {
			same(t, "nested", nested, indexes(3))
		}
		v := recovered(func() { err = run(func() bool { panic("in Is") }) })
		if p, ok := v.(*stint.PanicError); ok {
			equal(t, "value", p.Value, any("in Is"))
			equal(t, "and", p.Also().Error(), "called")
		} else if v != nil || err != context.Canceled || near {
			t.Errorf("%s: recovered %v, error %v", b.name, v, err)
		}
	})
}

// If the function of Generate, or a sequence of FlatMap, recovers a panic of the stages behind
// it, that is a panic itself, as in a range loop: otherwise records would be lost silently.
func TestRecoveredPanicOfWhatFollows(t *testing.T) {
	careless := func(yield func(int) bool) {
		for i := range 10 {
			func() {
				defer func() { recover() }()
				yield(i)
			}()
		}
	}
	for name, s := range map[string]ints{
		"FromSeq":  stream.FromSeq(careless),
		"Generate": stream.Generate(func(_ context.Context, emit func(int) bool) error { careless(emit); return nil }),
		"FlatMap":  stream.FlatMap(stream.From(indexes(3)), func(int) iter.Seq[int] { return careless }),
	} {
		over(t, stages, name, func(t *testing.T, b stage) {
			calls := 0
			got := raised(t, func() {
				stream.Collect(context.Background(), b.add(stream.Map(s, func(v int) int {
					if calls++; v == 3 {
						culprit("boom")
					}
					return v
				})))
			})
			if text := fmt.Sprint(got.Value); !strings.Contains(text, "recovered a") && !strings.Contains(text, "after loop body panic") {
				t.Errorf("raised %q", text)
			}
			equal(t, "calls", calls, 4)
		})
	}
}

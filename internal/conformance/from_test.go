package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// fromCalls are the calls that take the results of From.
var fromCalls = []struct {
	name string
	run  func(ctx context.Context, seq iter.Seq[int], f body, opts ...stint.Option) error
}{
	{"EachSeq", func(ctx context.Context, seq iter.Seq[int], f body, opts ...stint.Option) error {
		return stint.EachSeq(ctx, seq, f, opts...)
	}},
	{"MapSeq", func(ctx context.Context, seq iter.Seq[int], f body, opts ...stint.Option) error {
		return yielded(stint.MapSeq(ctx, seq, valued(f), opts...))
	}},
	{"Unordered", func(ctx context.Context, seq iter.Seq[int], f body, opts ...stint.Option) error {
		return yielded(stint.MapSeq(ctx, seq, valued(f), append(opts, stint.Unordered())...))
	}},
}

// fromEverywhere runs a test for every call with every kind of limit, each in a bubble.
func fromEverywhere(t *testing.T, limit int, test func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error)) {
	for _, c := range fromCalls {
		for _, k := range limitKinds {
			t.Run(c.name+"/"+k.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts, shut := k.open(limit)
					defer noneLeft(t)
					defer shut()
					test(t, func(ctx context.Context, seq iter.Seq[int], f body, more ...stint.Option) error {
						return c.run(ctx, seq, f, append(more, opts...)...)
					})
				})
			})
		}
	}
}

// polls is a source with n values, which then waits for a value that comes after the time of
// a poll, again and again, until its context ends.
func polls(n int) func(context.Context) iter.Seq2[int, error] {
	return func(ctx context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := 0; ; i++ {
				if i >= n {
					select {
					case <-time.After(4 * time.Second):
					case <-ctx.Done():
						yield(0, context.Cause(ctx)) // as sources do
						return
					}
				}
				if !yield(i, nil) {
					return
				}
			}
		}
	}
}

// The error of a task ends a call although its source blocks: as soon as the last task has
// finished, and not when the poll ends.
func TestErrorEndsABlockedSource(t *testing.T) {
	bg := context.Background()
	for name, end := range map[string]struct {
		f    func(ctx context.Context) error
		want any // an error, or the value of a panic
	}{
		"error":  {func(context.Context) error { return errBoom }, errBoom},
		"Goexit": {func(context.Context) error { runtime.Goexit(); return nil }, stint.ErrGoexit},
		"panic":  {func(context.Context) error { panic(errBoom) }, errBoom},
	} {
		t.Run(name, func(t *testing.T) {
			fromEverywhere(t, 3, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
				seq, from := stint.From(polls(3))
				start := time.Now()
				var err error
				p, _ := recovered(func() {
					err = run(bg, seq, func(ctx context.Context, i int) error {
						switch i {
						case 1:
							time.Sleep(time.Second)
							return end.f(ctx)
						case 2:
							time.Sleep(1500 * time.Millisecond) // it does not watch its context
						}
						return nil
					}, from)
				}).(*stint.PanicError)
				took(t, start, 1500*time.Millisecond)
				if p != nil {
					equal(t, "panic", p.Value, end.want)
					equal(t, "beside the panic", p.Also(), nil)
					return
				}
				equal(t, "error", any(err), end.want)
			})
		})
	}
	t.Run("end of the context", func(t *testing.T) {
		fromEverywhere(t, 3, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
			ctx, cancel := context.WithTimeoutCause(bg, time.Second, errGone)
			defer cancel()
			seq, from := stint.From(polls(2))
			start := time.Now()
			equal(t, "error", run(ctx, seq, func(context.Context, int) error { return nil }, from), errGone)
			took(t, start, time.Second)
		})
	})
	t.Run("break", func(t *testing.T) {
		both(t, 3, func(t *testing.T, opt stint.Option, _ func(int)) {
			seq, from := stint.From(polls(2))
			start := time.Now()
			for i, err := range stint.MapSeq(bg, seq, valued(func(context.Context, int) error { return nil }), from, opt) {
				equal(t, "error", err, nil)
				if i == 1 {
					break
				}
			}
			took(t, start, 0)
		})
	})
	t.Run("Shutdown of the pool", func(t *testing.T) {
		for _, c := range fromCalls {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(1))
				seq, from := stint.From(polls(3))
				gone, cancel := context.WithTimeout(bg, 1500*time.Millisecond)
				defer cancel()
				start := time.Now()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					equal(t, c.name, c.run(bg, seq, func(context.Context, int) error { time.Sleep(time.Second); return nil }, from, p), stint.ErrClosed)
				}()
				time.Sleep(500 * time.Millisecond)
				p.Shutdown(gone)
				<-ended
				took(t, start, 2*time.Second) // when the running task has finished
			})
		}
	})
}

// The error of the source ends a call as that of a task does: running tasks are cancelled,
// and nothing queued starts.
func TestErrorOfTheSource(t *testing.T) {
	failing := func(n int) func(context.Context) iter.Seq2[int, error] {
		return func(context.Context) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				for i := range n {
					if !yield(i, nil) {
						return
					}
				}
				time.Sleep(time.Second)
				if yield(99, errBoom) { // the value is ignored
					t.Error("the sequence goes on after an error")
				}
			}
		}
	}
	t.Run("first error", func(t *testing.T) {
		fromEverywhere(t, 2, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
			var g gauge
			seq, from := stint.From(failing(3))
			start := time.Now()
			equal(t, "error", run(context.Background(), seq, func(ctx context.Context, i int) error {
				g.Hold(0)
				<-ctx.Done()
				equal(t, "cause", context.Cause(ctx), errBoom)
				return ctx.Err()
			}, from), errBoom)
			took(t, start, time.Second)
			equal(t, "tasks that ran", g.Total(), 2)
		})
	})
	t.Run("KeepGoing", func(t *testing.T) {
		fromEverywhere(t, 2, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
			var g gauge
			seq, from := stint.From(failing(3))
			start := time.Now()
			err := run(context.Background(), seq, func(ctx context.Context, i int) error {
				g.Hold(2 * time.Second)
				equal(t, "context", ctx.Err(), nil)
				if i == 2 {
					return errGone
				}
				return nil
			}, from, stint.KeepGoing())
			took(t, start, 4*time.Second)
			equal(t, "tasks that ran", g.Total(), 3)
			equal(t, "error", err.Error(), "item 2: gone\nboom")
		})
	})
	t.Run("KeepGoing alone", func(t *testing.T) {
		fromEverywhere(t, 2, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
			seq, from := stint.From(failing(1))
			equal(t, "error", run(context.Background(), seq, func(context.Context, int) error { return nil }, from, stint.KeepGoing()), errBoom)
		})
	})
	t.Run("results before it", func(t *testing.T) { // those that are next in order are yielded
		synctest.Test(t, func(t *testing.T) {
			seq, from := stint.From(failing(5))
			var got []int
			for i, err := range stint.MapSeq(context.Background(), seq, func(ctx context.Context, i int) (int, error) {
				if i == 3 {
					<-ctx.Done()
					return 0, ctx.Err()
				}
				return 10 * i, nil
			}, stint.Limit(5), from) {
				if err != nil {
					equal(t, "error", err, errBoom)
					i = -1
				}
				got = append(got, i)
			}
			if want := []int{0, 10, 20, -1}; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	})
	t.Run("after the error of a task", func(t *testing.T) { // is not the first
		fromEverywhere(t, 2, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
			seq, from := stint.From(failing(2))
			equal(t, "error", run(context.Background(), seq, func(_ context.Context, i int) error {
				time.Sleep(time.Duration(i) * 999 * time.Millisecond)
				if i == 1 {
					return errGone
				}
				return nil
			}, from), errGone)
		})
	})
	t.Run("after the end of the context", func(t *testing.T) {
		fromEverywhere(t, 2, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
			for _, more := range [][]stint.Option{{}, {stint.KeepGoing()}} {
				ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second/2, errGone)
				defer cancel()
				seq, from := stint.From(failing(2))
				equal(t, "error", run(ctx, seq, func(context.Context, int) error { return nil }, append(more, from)...), errGone)
			}
		})
	})
}

// A panic of the source reaches the caller, after the tasks have finished.
func TestPanicOfTheSource(t *testing.T) {
	for name, source := range map[string]func(context.Context) iter.Seq2[int, error]{
		"function": func(context.Context) iter.Seq2[int, error] { panic(errBoom) },
		"sequence": func(context.Context) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				yield(0, nil)
				time.Sleep(time.Second)
				panic(errBoom)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			fromEverywhere(t, 2, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
				seq, from := stint.From(source)
				ended := true
				got := recovered(func() {
					run(context.Background(), seq, func(ctx context.Context, _ int) error {
						ended = false
						<-ctx.Done()
						ended = true
						return nil
					}, from)
				})
				if p, ok := got.(*stint.PanicError); ok {
					got = p.Value
				}
				equal(t, "panic", got, any(errBoom))
				equal(t, "the task has finished", ended, true)
			})
		})
	}
	t.Run("Goexit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			seq, from := stint.From(func(context.Context) iter.Seq2[int, error] { runtime.Goexit(); return nil })
			equal(t, "error", yielded(stint.MapSeq(context.Background(), seq, valued(func(context.Context, int) error { return nil }), from)), stint.ErrGoexit)
		})
	})
}

// The sequence and the option belong together, and to one call at a time.
func TestMisuseOfFrom(t *testing.T) {
	bg := context.Background()
	nothing := func(context.Context, int) error { return nil }
	panics := func(t *testing.T, want string, f func() error) {
		t.Helper()
		got := recovered(func() { f() })
		if p, ok := got.(*stint.PanicError); ok {
			got = p.Value
		}
		equal(t, "panic", got, any(want))
	}
	equal(t, "nil source", recovered(func() { stint.From[int](nil) }), any("stint: From: nil function"))
	_, from := stint.From(polls(1))
	equal(t, "NewGroup", recovered(func() { stint.NewGroup(bg, from) }), any("stint: NewGroup: From does not apply"))
	equal(t, "Each", recovered(func() { stint.Each(bg, []int{1}, nothing, from) }), any("stint: Each: From does not apply"))
	fromEverywhere(t, 2, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
		seq, from := stint.From(polls(1))
		panics(t, "stint: From: the sequence was ranged over without its Option", func() error { return run(bg, seq, nothing) })
		panics(t, "stint: From: the Option was given without its sequence", func() error { return run(bg, count(3), nothing, from) })
		panics(t, "stint: From: the Option was given without its sequence", func() error { return run(bg, count(0), nothing, from) })
		other, _ := stint.From(source(3))
		panics(t, "stint: From: the sequence was ranged over without its Option", func() error { return run(bg, other, nothing, from) })

		ctx, cancel := context.WithCancelCause(bg)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			equal(t, "error of the call that has it", run(ctx, seq, nothing, from), errGone)
		}()
		synctest.Wait()
		panics(t, "stint: From: the sequence is in use by another call", func() error { return run(bg, seq, nothing, from) })
		cancel(errGone)
		<-ended

		short, again := stint.From(source(3)) // one after the other
		for range 3 {
			var g gauge
			equal(t, "error", run(bg, short, func(context.Context, int) error { g.Hold(0); return nil }, again), nil)
			equal(t, "tasks", g.Total(), 3)
		}
	})
}

// A sequence of From may be wrapped: the call gives its source the context all the same.
func TestWrappedSource(t *testing.T) {
	fromEverywhere(t, 2, func(t *testing.T, run func(context.Context, iter.Seq[int], body, ...stint.Option) error) {
		seq, from := stint.From(polls(9))
		even := func(yield func(int) bool) {
			for i := range seq {
				if i%2 == 0 && !yield(i) {
					return
				}
			}
		}
		start := time.Now()
		equal(t, "error", run(context.Background(), even, func(_ context.Context, i int) error {
			if i%2 != 0 {
				t.Errorf("got %d", i)
			}
			if i == 8 {
				return errBoom
			}
			return nil
		}, from), errBoom)
		took(t, start, 0)
	})
}

// A source may make calls on the limit of the call that pulls it, at limit 1, in a task.
func TestSourceNests(t *testing.T) {
	for _, c := range fromCalls {
		both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
			pages := func(ctx context.Context) iter.Seq2[int, error] {
				return func(yield func(int, error) bool) {
					for page := range 5 {
						items, err := stint.Map(ctx, []int{1, 2, 3}, func(_ context.Context, i int) (int, error) {
							time.Sleep(time.Millisecond)
							return 10*page + i, nil
						}, opt)
						if err != nil {
							yield(0, fmt.Errorf("page %d: %w", page, err))
							return
						}
						for _, i := range items {
							if !yield(i, nil) {
								return
							}
						}
					}
				}
			}
			var g gauge
			equal(t, c.name, stint.Range(context.Background(), 2, func(ctx context.Context, _ int) error {
				seq, from := stint.From(pages)
				return c.run(ctx, seq, func(context.Context, int) error { g.Hold(time.Millisecond); return nil }, opt, from)
			}, opt), nil)
			g.Is(t, 0, 1, 30)
		})
	}
}

// The context of a source has the values of that of the call.
func TestSourceGetsTheValues(t *testing.T) {
	type key struct{}
	for _, c := range fromCalls {
		var got any
		var kept context.Context
		seq, from := stint.From(func(ctx context.Context) iter.Seq2[int, error] {
			got, kept = ctx.Value(key{}), ctx
			return func(func(int, error) bool) {}
		})
		ctx := context.WithValue(context.Background(), key{}, 1)
		equal(t, c.name, c.run(ctx, seq, func(context.Context, int) error { return nil }, from), nil)
		equal(t, c.name+": value", got, any(1))
		equal(t, c.name+": the context has ended", errors.Is(kept.Err(), context.Canceled), true)
	}
}

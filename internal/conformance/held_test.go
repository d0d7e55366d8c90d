package conformance_test

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/stream"
)

// While somebody waits, a freed permit goes to him, however many call TryDo.
func TestTryDoNeverBarges(t *testing.T) {
	for range rounds(100) {
		bargeInto(t, stint.Limit(1))
	}
}

// bargeInto has one goroutine wait for a permit, and four try to take it.
func bargeInto(t *testing.T, l *stint.Limiter) {
	release, held := make(chan struct{}), make(chan struct{})
	var served atomic.Bool // the waiter has had the permit
	var all sync.WaitGroup
	all.Go(func() { l.Do(bg, func(context.Context) error { close(held); <-release; return nil }) })
	<-held
	all.Go(func() { l.Do(bg, func(context.Context) error { served.Store(true); return nil }) })
	for l.Stats().Waiting == 0 {
		runtime.Gosched()
	}
	late := func(context.Context) error { equal(t, "the waiter was served before", served.Load(), true); return nil }
	for range 4 {
		all.Go(func() {
			for l.TryDo(bg, late) == stint.ErrBusy {
				runtime.Gosched()
			}
		})
	}
	close(release)
	all.Wait()
}

// A permit that is granted while the context of its waiter ends is not lost: the call either
// runs all its tasks or returns the cause.
func TestCancelAgainstGrant(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, e entryPoint, opt stint.Option, _ func(int)) {
		for range 10 {
			ctx, cancel := context.WithCancelCause(bg)
			g := stint.NewGroup(bg, opt)
			release := make(chan struct{})
			g.Go(func(context.Context) error { <-release; cancel(errGone); return nil }) // the waiter wakes when both have happened
			synctest.Wait()
			var ran atomic.Int32
			call := begin(func() error {
				return e.run(ctx, 3, func(context.Context, int) error { ran.Add(1); return nil }, opt)
			})
			synctest.Wait()
			close(release)
			if err := <-call; err != errGone && (err != nil || ran.Load() != 3) {
				t.Errorf("%d of 3 tasks ran, error %v", ran.Load(), err)
			}
			g.Wait()
		}
	})
}

// kinds are calls with everything that takes a context, each with a task.
func kinds(l *stint.Limiter, p *stint.Pool) map[string]func(ctx context.Context, f func(context.Context) error) {
	calls := map[string]func(ctx context.Context, f func(context.Context) error){
		"Do":    func(ctx context.Context, f func(context.Context) error) { l.Do(ctx, f) },
		"TryDo": func(ctx context.Context, f func(context.Context) error) { l.TryDo(ctx, f) },
		"Idle":  func(ctx context.Context, f func(context.Context) error) { p.Idle(ctx) },
		"Pool.Go": func(ctx context.Context, f func(context.Context) error) {
			p.GoContext(ctx, func(ctx context.Context) {})
		},
		"ParMap": func(ctx context.Context, f func(context.Context) error) { stream.Collect(ctx, piped(f)) },
		"pipeline": func(ctx context.Context, f func(context.Context) error) {
			stream.Collect(ctx, stream.Buffer(piped(f), 1))
		},
		"left": func(ctx context.Context, f func(context.Context) error) { leave(stream.Buffer(piped(f), 1).All(ctx)) },
		"left early": func(ctx context.Context, f func(context.Context) error) {
			leave(stint.MapSeq(ctx, count(5), valued(func(ctx context.Context, _ int) error { return f(ctx) }), l))
		},
		"errgroup": func(ctx context.Context, f func(context.Context) error) {
			g, ctx := errgroup.WithContext(ctx)
			g.Go(func() error { return f(ctx) })
			g.Wait()
		},
		"Transport": func(ctx context.Context, f func(context.Context) error) { throughTransport(l, ctx, f) },
	}
	for _, e := range entryPoints {
		for name, opts := range map[string][]stint.Option{"Limiter": {l}, "Pool": {p}, "none": nil} {
			calls[e.name+"/"+name] = func(ctx context.Context, f func(context.Context) error) {
				e.run(ctx, 3, func(ctx context.Context, _ int) error { return f(ctx) }, opts...)
			}
		}
	}
	return calls
}

func piped(f func(context.Context) error) stream.Stream[int] {
	return stream.ParMap(stream.From(indexes(5)), func(ctx context.Context, i int) (int, error) { return i, f(ctx) })
}

func leave(seq iter.Seq2[int, error]) {
	for range seq {
		break
	}
}

// What lives longer than a call, its parent context, limiter and pool, keeps nothing of it.
func TestCallsAreNotKept(t *testing.T) {
	for end, f := range map[string]func(context.Context) error{
		"returns": func(context.Context) error { return nil },
		"fails":   func(context.Context) error { return errBoom },
		"panics":  func(context.Context) error { panic("boom") },
		"watches": func(ctx context.Context) error { ctx.Done(); return context.Cause(ctx) },
	} {
		t.Run(end, func(t *testing.T) {
			parent, cancel := context.WithCancel(bg)
			defer cancel()
			l, p := stint.Limit(3), stint.NewPool(stint.Limit(3))
			defer p.Close()
			var x tracker
			calls := kinds(l, p)
			for _, call := range calls {
				recovered(func() { call(context.WithValue(parent, chainKey{}, x.thing()), f) })
			}
			x.collected(t, int64(len(calls)))
		})
	}
}

// A sequence stays on one goroutine, which it may bind to its thread.
func TestSequenceStaysOnItsThread(t *testing.T) {
	bound := func(yield func(int) bool) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		id := goroutine.ID()
		for i := range 50 {
			more := yield(i)
			equal(t, "goroutine", goroutine.ID(), id)
			if !more {
				return
			}
		}
	}
	nothing := func(context.Context, int) error { return nil }
	for name, call := range pulling {
		t.Run(name, func(t *testing.T) { equal(t, "error", call(bound, nothing, stint.Limit(2)), nil) })
	}
	for name, s := range map[string]stream.Stream[int]{
		"FromSeq": stream.FromSeq(bound),
		"FlatMap": stream.FlatMap(stream.From(indexes(3)), func(int) iter.Seq[int] { return bound }),
		"Buffer":  stream.Buffer(stream.FromSeq(bound), 3),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := stream.Collect(bg, stream.ParMap(s, valued(nothing)))
			equal(t, "error", err, nil)
		})
	}
	t.Run("Pull", func(t *testing.T) { // the consumer is bound
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		next, stop := iter.Pull2(stint.MapSeq(bg, bound, valued(nothing)))
		defer stop()
		for i := range 20 {
			v, err, ok := next()
			equal(t, "value", v, i)
			equal(t, "error", err, nil)
			equal(t, "more", ok, true)
		}
	})
}

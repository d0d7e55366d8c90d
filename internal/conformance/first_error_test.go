package conformance_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

func TestFirstErrorCancels(t *testing.T) {
	t.Run("error", func(t *testing.T) { everywhere(t, 4, errorCancels) })
	t.Run("parent", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			ctx, cancel := context.WithCancelCause(bg)
			time.AfterFunc(time.Second, func() { cancel(errGone) })
			var g gauge
			start := time.Now()
			err := run(ctx, 1000, func(ctx context.Context, i int) error {
				g.Enter()
				defer g.Leave()
				<-ctx.Done()
				time.Sleep(time.Second)
				return []error{ctx.Err(), ctx.Err(), errBoom, ctx.Err()}[i]
			})
			equal(t, "error", err, errGone)
			g.Is(t, 0, 4, 4)
			took(t, start, 2*time.Second)
		})
	})
	t.Run("deadline", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			ctx, cancel := context.WithTimeout(bg, 1500*time.Millisecond)
			defer cancel()
			var g gauge
			equal(t, "error", run(ctx, 1000, holds(&g, time.Second)), context.DeadlineExceeded)
			g.Is(t, 0, 4, 8)
		})
	})
	t.Run("KeepGoing", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			var g gauge
			err := run(bg, 20, func(ctx context.Context, i int) error {
				g.Hold(time.Second)
				equal(t, "error of the context", ctx.Err(), nil)
				return errBoom
			}, stint.KeepGoing())
			g.Is(t, 0, 4, 20)
			equal(t, "errors", strings.Count(fmt.Sprint(err), "boom"), 20)
		})
	})
	t.Run("KeepGoing and the parent", func(t *testing.T) { everywhere(t, 1, errorsAndTheCause) })
	bubble(t, "producer", func(t *testing.T) { // it is told, and needs no look at the context
		g := stint.NewGroup(bg, stint.Limit(2), stint.Queue(3))
		n := 0
		for g.Go(func(context.Context) error { time.Sleep(time.Second); return errBoom }) {
			n++
		}
		equal(t, "tasks accepted", n, 5)
		equal(t, "time passed", sinceBubble(), time.Second)
		equal(t, "error", g.Wait(), errBoom)
	})
}

// errorCancels has one of four tasks fail, while the others are slow to notice it.
func errorCancels(t *testing.T, run run) {
	var g gauge
	var causes sync.Map
	start := time.Now()
	err := run(bg, 1000, func(ctx context.Context, i int) error {
		g.Enter()
		defer g.Leave()
		if i == 2 {
			time.Sleep(time.Second)
			return errBoom
		}
		<-ctx.Done()
		time.Sleep(time.Second)
		causes.Store(i, context.Cause(ctx))
		return ctx.Err()
	})
	equal(t, "error", err, errBoom)
	g.Is(t, 0, 4, 4) // nothing was begun after it
	took(t, start, 2*time.Second)
	want := errBoom
	if isFirst(t) {
		want = context.Canceled // a result is no cause
	}
	causes.Range(func(i, cause any) bool {
		equal(t, fmt.Sprint("cause in task ", i), cause.(error), want)
		return true
	})
}

// errorsAndTheCause returns all errors, and at the end the cause why others did not run.
func errorsAndTheCause(t *testing.T, run run) {
	ctx, cancel := context.WithCancelCause(bg)
	err := run(ctx, 20, func(ctx context.Context, i int) error {
		if i == 3 {
			synctest.Wait() // a sequence has yielded the others by now
			cancel(errGone)
			synctest.Wait()
			return nil
		}
		return errBoom
	}, stint.KeepGoing())
	want := "item 0: boom\nitem 1: boom\nitem 2: boom\ngone"
	if isFirst(t) {
		want = "gone" // alone: not all have failed
	}
	equal(t, "errors", fmt.Sprint(err), want)
}

// 17: when the parent is cancelled and no task has failed, the caller learns that work is
// missing. Fails: errgroup (nil), mr and ParallelizeUntil (return nothing).
func TestMissingWorkIsTold(t *testing.T) {
	ends := func(t *testing.T, run run, n int) error {
		ctx, cancel := context.WithCancelCause(bg)
		ran := 0
		err := run(ctx, n, func(context.Context, int) error {
			if ran++; ran == 3 {
				cancel(errGone)
				synctest.Wait()
			}
			return nil // takes no notice
		})
		equal(t, "tasks run", ran, 3)
		return err
	}
	everywhere(t, 1, func(t *testing.T, run run) {
		equal(t, "error", ends(t, run, 9), errGone)
		if !takesQueue(t) && !isFirst(t) { // all is done: others cannot know what would have come
			equal(t, "error when none is missing", ends(t, run, 3), nil)
		}
	})
}

// 19: the caller's context stays usable, and the task's ends with the call. Fails: the pattern of
// errgroup.WithContext, which five projects had to correct.
func TestCallersContextStaysUsable(t *testing.T) {
	everywhere(t, 2, func(t *testing.T, run run) {
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		for range 2 {
			equal(t, "error", run(ctx, 3, func(context.Context, int) error { return errBoom }), errBoom)
			equal(t, "the caller's context", ctx.Err(), nil)
		}
		var kept context.Context
		run(ctx, 1, func(ctx context.Context, _ int) error { kept = ctx; return nil })
		equal(t, "the task's context", kept.Err(), context.Canceled)
	})
}

// 20: a group that fails ends although other tasks have every worker: the goroutine that cancels
// it removes its queued tasks. Fails: pond v2.7.1.
func TestCancelledGroupNeedsNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(2))
		defer p.Close()
		g := stint.NewGroup(bg, p)
		g.Go(func(context.Context) error { time.Sleep(time.Second); return errBoom })
		for range 4 {
			p.Go(func(context.Context) { time.Sleep(time.Hour) })
		}
		synctest.Wait()
		for range 10 {
			g.Go(func(context.Context) error { t.Error("was run"); return nil })
		}
		equal(t, "error", g.Wait(), errBoom)
		equal(t, "time passed", sinceBubble(), time.Second)
	})
}

// strange is a context of a type that the context package does not know, as some web
// frameworks have: contexts made from it are cancelled by goroutines, in no order.
type strange struct {
	context.Context
	done chan struct{}
}

func (c *strange) Done() <-chan struct{} { return c.done }

func (c *strange) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}

// A context of an unknown type cancels like any other, whatever the order in which its
// children are cancelled, also when other calls hold all permits.
func TestStrangeContext(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, e entryPoint, opt stint.Option, _ func(int)) {
		hold := stint.NewGroup(bg, opt)
		hold.Go(sleep(time.Hour))
		synctest.Wait()
		for range 20 {
			ctx := &strange{bg, make(chan struct{})}
			start := time.Now()
			time.AfterFunc(time.Second, func() { close(ctx.done) })
			equal(t, "error", e.run(ctx, 100, nothing, opt), context.Canceled)
			took(t, start, time.Second)
		}
		hold.Wait()
	})
}

// No item starts after a goroutine has seen the context cancelled by the first error, also
// when items are short and cancelling takes long.
func TestStopsBeforeItCancels(t *testing.T) {
	for range 2 {
		var late atomic.Int32
		err := stint.Range(bg, 200_000, func(ctx context.Context, i int) error {
			if ctx.Err() != nil {
				late.Add(1)
			}
			if i != 50_000 {
				return nil
			}
			for range 5_000 { // children, which are cancelled one by one
				_, stop := context.WithCancel(ctx)
				defer stop()
			}
			return errBoom
		}, stint.Limit(2))
		equal(t, "error", err, errBoom)
		if n := late.Load(); n > 1 { // one may have been about to begin
			t.Fatalf("%d items began after the end of their context", n)
		}
	}
}

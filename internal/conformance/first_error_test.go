package conformance_test

import (
	"context"
	"errors"
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
	ctx := context.Background()
	t.Run("error", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			var g gauge
			var causes sync.Map
			start := time.Now()
			err := run(ctx, 1000, func(ctx context.Context, i int) error {
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
		})
	})
	t.Run("parent", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(errGone) })
			var g gauge
			start := time.Now()
			err := run(ctx, 1000, func(ctx context.Context, i int) error {
				g.Enter()
				defer g.Leave()
				<-ctx.Done()
				time.Sleep(time.Second)
				if i == 2 {
					return errBoom
				}
				return ctx.Err()
			})
			equal(t, "error", err, errGone)
			g.Is(t, 0, 4, 4)
			took(t, start, 2*time.Second)
		})
	})
	t.Run("deadline", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			ctx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
			defer cancel()
			var g gauge
			err := run(ctx, 1000, func(context.Context, int) error { g.Hold(time.Second); return nil })
			equal(t, "error", err, context.DeadlineExceeded)
			g.Is(t, 0, 4, 8)
		})
	})
	t.Run("KeepGoing", func(t *testing.T) {
		everywhere(t, 4, func(t *testing.T, run run) {
			var g gauge
			err := run(ctx, 20, func(ctx context.Context, i int) error {
				g.Hold(time.Second)
				if ctx.Err() != nil {
					t.Error("cancelled")
				}
				return errBoom
			}, stint.KeepGoing())
			g.Is(t, 0, 4, 20)
			equal(t, "errors", strings.Count(fmt.Sprint(err), "boom"), 20)
		})
	})
	t.Run("KeepGoing and the parent", func(t *testing.T) { // the errors, and the cause at the end
		everywhere(t, 1, func(t *testing.T, run run) {
			ctx, cancel := context.WithCancelCause(ctx)
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
		})
	})
	t.Run("complete", func(t *testing.T) { // the context ends in the last task, when all is done
		for _, e := range entryPoints[:3] { // sequences and groups cannot know what would have come
			t.Run(e.name, func(t *testing.T) {
				both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
					ctx, cancel := context.WithCancel(ctx)
					err := e.run(ctx, 3, func(ctx context.Context, i int) error {
						if i == 2 {
							cancel()
							synctest.Wait()
						}
						return nil
					}, opt)
					equal(t, "error", err, nil)
				})
			})
		}
	})
	t.Run("producer", func(t *testing.T) { // it is told, and needs no look at the context
		both(t, 2, func(t *testing.T, opt stint.Option, _ func(int)) {
			g := stint.NewGroup(ctx, opt, stint.Queue(3))
			n := 0
			for g.Go(func(context.Context) error {
				time.Sleep(time.Second)
				return errBoom
			}) {
				n++
			}
			equal(t, "tasks accepted", n, 5)
			took(t, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Second)
			equal(t, "error", g.Wait(), errBoom)
		})
	})
}

// 15: the error is the cause, never a context.Canceled that the library made.
// Fails: mr, and the pattern that go-tools #155 is about.
func TestErrorIsTheCause(t *testing.T) {
	everywhere(t, 3, func(t *testing.T, run run) {
		err := run(context.Background(), 3, func(ctx context.Context, i int) error {
			if i == 2 {
				time.Sleep(time.Second)
				return errBoom
			}
			<-ctx.Done()
			return ctx.Err() // context.Canceled, and these may be first to return
		})
		equal(t, "error", err, errBoom)
	})
}

// 16: a cancelled context and a deadline are told apart, and the cause is kept.
// Fails: mr (always DeadlineExceeded).
func TestCancelAndDeadlineAreToldApart(t *testing.T) {
	everywhere(t, 2, func(t *testing.T, run run) {
		wait := func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
		bg := context.Background()
		cancelled, cancel := context.WithCancel(bg)
		time.AfterFunc(time.Second, cancel)
		equal(t, "cancelled", run(cancelled, 9, wait), context.Canceled)
		late, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		equal(t, "deadline", run(late, 9, wait), context.DeadlineExceeded)
		caused, cancelCause := context.WithCancelCause(bg)
		time.AfterFunc(time.Second, func() { cancelCause(errGone) })
		equal(t, "cause", run(caused, 9, wait), errGone)
	})
}

// 17: when the parent is cancelled and no task has failed, the caller learns that work is
// missing. Fails: errgroup (nil), mr and ParallelizeUntil (return nothing).
func TestMissingWorkIsTold(t *testing.T) {
	everywhere(t, 1, func(t *testing.T, run run) {
		ctx, cancel := context.WithCancelCause(context.Background())
		n := 0
		err := run(ctx, 9, func(context.Context, int) error {
			if n++; n == 3 {
				cancel(errGone)
				synctest.Wait()
			}
			return nil // takes no notice
		})
		equal(t, "error", err, errGone)
		equal(t, "tasks run", n, 3)
	})
}

// 19: the caller's context is as it was after the call. Fails: the pattern of
// errgroup.WithContext, which five projects had to correct.
func TestCallersContextStaysUsable(t *testing.T) {
	everywhere(t, 2, func(t *testing.T, run run) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for range 2 {
			equal(t, "error", run(ctx, 3, func(context.Context, int) error { return errBoom }), errBoom)
			equal(t, "the caller's context", ctx.Err(), nil)
		}
	})
	t.Run("the task's has ended", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) {
			var kept context.Context
			run(context.Background(), 1, func(ctx context.Context, _ int) error { kept = ctx; return nil })
			equal(t, "the task's context", kept.Err(), context.Canceled)
		})
	})
}

// 20: a cancelled group ends although tasks of other groups have every worker: the
// cancelling goroutine removes its queued tasks. Fails: pond v2.7.1.
func TestCancelledGroupNeedsNoWorker(t *testing.T) {
	for _, e := range entryPoints {
		t.Run(e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(2))
				defer p.Close()
				for range 4 {
					p.Go(func(context.Context) { time.Sleep(time.Hour) })
				}
				synctest.Wait()
				ctx, cancel := context.WithCancelCause(context.Background())
				time.AfterFunc(time.Second, func() { cancel(errGone) })
				start := time.Now()
				err := e.run(ctx, 10, func(context.Context, int) error { t.Error("was run"); return nil }, p)
				took(t, start, time.Second)
				equal(t, "error", err, errGone)
				s := p.Stats()
				equal(t, "running", s.Running, 2)
				equal(t, "queued", s.Queued, 2)
			})
		})
	}
	t.Run("by a task of its own", func(t *testing.T) { // one runs, the others wait behind other tasks
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(2))
			defer p.Close()
			g := stint.NewGroup(context.Background(), p)
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
	})
}

// 23: an endless producer ends with the context. Fails: mr (MapReduceVoid hangs),
// rill (drains for ever).
func TestEndlessProducerEnds(t *testing.T) {
	endless := func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	}
	task := func(context.Context, int) error { time.Sleep(time.Second); return nil }
	for name, run := range map[string]func(context.Context, stint.Option) error{
		"EachSeq": func(ctx context.Context, opt stint.Option) error { return stint.EachSeq(ctx, endless, task, opt) },
		"MapSeq": func(ctx context.Context, opt stint.Option) error {
			return yielded(stint.MapSeq(ctx, endless, valued(task), opt))
		},
		"Group": func(ctx context.Context, opt stint.Option) error {
			g := stint.NewGroup(ctx, opt)
			for g.Go(func(ctx context.Context) error { return task(ctx, 0) }) {
			}
			return g.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, 2, func(t *testing.T, opt stint.Option, _ func(int)) {
				ctx, cancel := context.WithTimeout(context.Background(), 9500*time.Millisecond)
				defer cancel()
				equal(t, "error", run(ctx, opt), context.DeadlineExceeded)
				equal(t, "time passed", sinceBubble(), 10*time.Second)
			})
		})
	}
}

// 24: an error of an ordered sequence cancels slower tasks before it at once. Fails: rill (300 ms, not 7).
func TestErrorDoesNotWaitForPredecessors(t *testing.T) {
	both(t, 3, func(t *testing.T, opt stint.Option, _ func(int)) {
		var at []time.Duration
		for _, err := range stint.MapSeq(context.Background(), count(100), func(ctx context.Context, i int) (int, error) {
			if i == 2 {
				time.Sleep(time.Second)
				return 0, errBoom
			}
			<-ctx.Done() // which ends only with the error
			return i, ctx.Err()
		}, opt) {
			at = append(at, sinceBubble())
			equal(t, "error", err, errBoom)
		}
		if len(at) != 1 || at[0] != time.Second {
			t.Errorf("yielded at %v", at)
		}
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
	for _, e := range entryPoints {
		t.Run(e.name, func(t *testing.T) {
			for range 50 {
				both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
					bg := context.Background()
					hold := stint.NewGroup(bg, opt)
					hold.Go(sleep(time.Hour))
					synctest.Wait()
					ctx := &strange{bg, make(chan struct{})}
					start := time.Now()
					time.AfterFunc(time.Second, func() { close(ctx.done) })
					equal(t, "error", e.run(ctx, 100, func(context.Context, int) error { return nil }, opt), context.Canceled)
					took(t, start, time.Second)
					hold.Wait()
				})
			}
		})
	}
}

// A task that was refused or dropped because the group is over can be told from an error
// of the submitter's own context.
func TestEndOfTheGroupIsToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bg := context.Background()
		g := stint.NewGroup(bg, stint.Limit(1), stint.Queue(0))
		g.Go(func(context.Context) error { time.Sleep(time.Second); return errBoom })
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx, cancel := context.WithTimeoutCause(bg, time.Millisecond, errGone)
			defer cancel()
			equal(t, "own context", g.GoContext(ctx, sleep(0)), errGone)
		})
		wg.Go(func() {
			err := g.GoContext(bg, sleep(0))
			if !errors.Is(err, stint.ErrClosed) || !errors.Is(err, errBoom) {
				t.Errorf("end of the group: %v", err)
			}
		})
		wg.Wait()
		equal(t, "error", g.Wait(), errBoom)
	})
}

// A sequence that panics does not hide the panic of a task.
func TestPanicOfTheSequenceHidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := recovered(func() {
			stint.EachSeq(context.Background(), func(yield func(int) bool) {
				yield(0)
				synctest.Wait()
				panic("sequence")
			}, func(context.Context, int) error { panic("task") })
		})
		if p, ok := v.(*stint.PanicError); !ok || p.Value != "task" {
			t.Errorf("recovered %v", v)
		}
	})
}

// A break in a loop over MapSeq does not hide the panic of a task.
func TestBreakHidesNoPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := recovered(func() {
			for range stint.MapSeq(context.Background(), count(2), func(ctx context.Context, i int) (int, error) {
				if i == 1 {
					<-ctx.Done()
					panic("late")
				}
				return 0, nil
			}, stint.Limit(2)) {
				synctest.Wait()
				break
			}
		})
		if p, ok := v.(*stint.PanicError); !ok || p.Value != "late" {
			t.Errorf("recovered %v", v)
		}
	})
}

// No item starts after a goroutine has seen the context cancelled by the first error, also
// when items are short and cancelling takes long.
func TestStopsBeforeItCancels(t *testing.T) {
	ctx := context.Background()
	for range 4 {
		var late atomic.Int32
		err := stint.Range(ctx, 200_000, func(ctx context.Context, i int) error {
			if ctx.Err() != nil {
				late.Add(1)
			}
			if i == 100_000 {
				for range 5_000 { // children, which are cancelled one by one
					_, stop := context.WithCancel(ctx)
					defer stop()
				}
				return errBoom
			}
			return nil
		}, stint.Limit(2))
		equal(t, "error", err, errBoom)
		if n := late.Load(); n > 1 { // one may have been about to begin
			t.Fatalf("%d items began after the end of their context", n)
		}
	}
}

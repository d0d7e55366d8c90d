package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

func TestFiveOutcomes(t *testing.T) {
	t.Run("value", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) { equal(t, "error", run(bg, 3, nothing), nil) })
	})
	t.Run("error", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) {
			equal(t, "error", run(bg, 3, func(_ context.Context, i int) error { return []error{nil, errBoom, nil}[i] }), errBoom)
		})
	})
	t.Run("panic", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) {
			raises(t, "boom", func() { run(bg, 1, func(context.Context, int) error { explode("boom"); return nil }) })
		})
	})
	t.Run("Goexit", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) {
			equal(t, "error", run(bg, 2, exitsElsewhere(time.Second)), stint.ErrGoexit)
		})
	})
	t.Run("not run", func(t *testing.T) {
		everywhere(t, 2, func(t *testing.T, run run) { equal(t, "error", run(ended(), 3, unwanted(t)), errGone) })
	})
	t.Run("together", func(t *testing.T) { everywhere(t, 2, allOutcomes) })
	t.Run("a context of the task's own", func(t *testing.T) { everywhere(t, 2, ownDeadline) })
}

// ownDeadline has the error of a context of the task's own, which is not taken for ours.
func ownDeadline(t *testing.T, run run) {
	err := run(bg, 3, func(ctx context.Context, i int) error {
		if i != 1 {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	equal(t, "error", err, context.DeadlineExceeded)
}

// exitsElsewhere is a task that calls Goexit, but on the goroutine of the caller, which that would end, sleeps.
func exitsElsewhere(d time.Duration) body {
	caller := goroutine.ID()
	return func(context.Context, int) error {
		if goroutine.ID() == caller {
			time.Sleep(d)
			return nil
		}
		runtime.Goexit()
		return nil
	}
}

// allOutcomes has, under KeepGoing, a value, an error, a Goexit, and values.
func allOutcomes(t *testing.T, run run) {
	caller := goroutine.ID()
	var ran, exited atomic.Int64
	exited.Store(-1)
	err := run(bg, 5, func(_ context.Context, i int) error {
		ran.Add(1)
		if i == 1 {
			return errBoom
		}
		if goroutine.ID() != caller && exited.CompareAndSwap(-1, int64(i)) {
			runtime.Goexit()
		}
		time.Sleep(time.Second)
		return nil
	}, stint.KeepGoing())
	equal(t, "tasks run", ran.Load(), 5)
	want := []string{"item 1: boom", fmt.Sprintf("item %d: stint: task called runtime.Goexit", exited.Load())}
	slices.Sort(want) // one digit each
	got := strings.Split(fmt.Sprint(err), "\n")
	slices.Sort(got) // Unordered has its own order
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, errBoom) || !errors.Is(err, stint.ErrGoexit) {
		t.Errorf("%v hides an error", err)
	}
}

// 1: a Goexit does not cost a worker.
func TestGoexitCostsNoWorker(t *testing.T) {
	everywhere(t, 2, func(t *testing.T, run run) {
		var n atomic.Int64
		exits := exitsElsewhere(time.Hour) // leaves the rest to the others
		err := run(bg, 50, func(ctx context.Context, i int) error { n.Add(1); return exits(ctx, i) }, stint.KeepGoing())
		equal(t, "tasks run", n.Load(), 50)
		equal(t, "errors.Is", errors.Is(err, stint.ErrGoexit), true)
	})
}

// A Goexit of the sequence ends the call.
func TestGoexitOfTheSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(ctx context.Context, _ int) (int, error) { <-ctx.Done(); return 0, ctx.Err() }
		err := yielded(stint.MapSeq(bg, func(yield func(int) bool) { yield(1); runtime.Goexit() }, wait))
		equal(t, "error", err, stint.ErrGoexit)
	})
}

// A Goexit of a task of another group that a submitter runs, because the queue is full, does
// not end the submitter.
func TestGoexitIsNotTheSubmitters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1), stint.Queue(1))
		reached := false
		p.Go(func(ctx context.Context) {
			p.GoContext(ctx, func(context.Context) { runtime.Goexit() })
			equal(t, "error", p.GoContext(ctx, func(context.Context) {}), nil)
			reached = true
		})
		p.Idle(bg)
		p.Close()
		equal(t, "the submitter went on", reached, true)
	})
}

// A Goexit on the caller's goroutine waits for the calls that have started, and not
// for helpers that wait for a permit behind other calls.
func TestGoexitOfTheCallerWaitsForItsOwnCalls(t *testing.T) {
	synctest.Test(t, goexitOfTheCallerWaitsForItsOwnCalls)
}

func goexitOfTheCallerWaitsForItsOwnCalls(t *testing.T) {
	l := stint.Limit(2)
	var all sync.WaitGroup
	all.Go(func() {
		defer func() { equal(t, "gone after", sinceBubble(), 2*time.Second) }() // with the call that began at 1 s
		caller := goroutine.ID()
		stint.Range(bg, 10, func(context.Context, int) error {
			time.Sleep(time.Second)
			if goroutine.ID() == caller {
				time.Sleep(time.Millisecond)
				runtime.Goexit()
			}
			return nil
		}, l, stint.KeepGoing())
	})
	time.Sleep(time.Millisecond)
	all.Go(func() {
		stint.Range(bg, 2, func(context.Context, int) error { time.Sleep(time.Hour); return nil }, l)
	})
	all.Wait()
}

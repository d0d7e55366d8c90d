package features_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/errgroup"
)

// No. Each task is a goroutine of its own.
func TestErrgroupWorkerReuse(t *testing.T) {
	n := goroutines(t, func(task func()) {
		var g errgroup.Group
		g.SetLimit(1)
		for range 10 {
			g.Go(func() error { task(); return nil })
		}
		g.Wait()
	})
	want(t, "goroutines of 10 tasks", n, 10)
}

// Partly. WithContext returns one, which tasks must capture.
func TestErrgroupContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { <-ctx.Done(); return context.Cause(ctx) })
	cancel(errStop)
	want(t, "Wait", g.Wait(), errStop)
	want(t, "Go", signature((*errgroup.Group).Go), "func(*errgroup.Group, func() error)")
}

// Yes.
func TestErrgroupWaitingForAll(t *testing.T) {
	n := left(t, func(task func() error) {
		var g errgroup.Group
		for range 10 {
			g.Go(task)
		}
		g.Wait()
	})
	want(t, "tasks that run after Wait", n, 0)
}

// Yes.
func TestErrgroupErrors(t *testing.T) {
	var g errgroup.Group
	g.Go(func() error { return errTask })
	want(t, "Wait", g.Wait(), errTask)
}

// No. SetLimit panics while tasks run.
func TestErrgroupResizing(t *testing.T) {
	var g errgroup.Group
	g.SetLimit(1)
	hold := make(chan struct{})
	g.Go(func() error { <-hold; return nil })
	contains(t, panics(func() { g.SetLimit(2) }), "still active")
	close(hold)
	g.Wait()
}

// Yes.
func TestErrgroupLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		var g errgroup.Group
		g.SetLimit(3)
		for range 20 {
			g.Go(func() error { task(); return nil })
		}
		g.Wait()
	})
	want(t, "tasks at once", n, 3)
}

// No. A limit belongs to one group, whose Wait waits for the tasks of all
// callers.
func TestErrgroupSharedLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g errgroup.Group
		g.SetLimit(2)
		hold, waited := make(chan struct{}), make(chan struct{})
		g.Go(func() error { <-hold; return nil }) // of one caller
		g.Go(func() error { return nil })         // of the other, who waits
		go func() { g.Wait(); close(waited) }()
		synctest.Wait()
		want(t, "the other has waited", closed(waited), false)
		close(hold)
		<-waited
	})
}

// No. Go waits for the place of the task that calls it.
func TestErrgroupNesting(t *testing.T) {
	deadlocks(t, func() {
		var g errgroup.Group
		g.SetLimit(1)
		g.Go(func() error {
			inner := make(chan struct{})
			g.Go(func() error { close(inner); return nil })
			<-inner
			return nil
		})
		g.Wait()
	})
}

// Partly. Without a limit; when one is reached, Go in a task waits for ever if
// all tasks do so.
func TestErrgroupTasksFromTasks(t *testing.T) {
	family := func(limit int) {
		var g errgroup.Group
		g.SetLimit(limit)
		var child atomic.Bool
		g.Go(func() error {
			g.Go(func() error { child.Store(true); return nil })
			return nil
		})
		g.Wait()
		want(t, "the child ran", child.Load(), true)
	}
	family(-1)
	deadlocks(t, func() { family(1) })
}

// No. Without a number there is no limit.
func TestErrgroupFindingTheLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		var g errgroup.Group
		for range 1000 {
			g.Go(func() error { task(); return nil })
		}
		g.Wait()
	})
	want(t, "tasks at once", n, 1000)
}

// No. There are no loops: an item is a task, and a goroutine.
func TestErrgroupChunks(t *testing.T) {
	n := goroutines(t, func(task func()) {
		var g errgroup.Group
		for range 100 { // items
			g.Go(func() error { task(); return nil })
		}
		g.Wait()
	})
	want(t, "goroutines of 100 items", n, 100)
	methods[*errgroup.Group](t, "Go", "SetLimit", "TryGo", "Wait")
}

// Partly. The context of WithContext ends; tasks that had not begun run all the
// same.
func TestErrgroupFirstErrorCancels(t *testing.T) {
	var cause error
	n := begun(t, func(task func() error) {
		g, ctx := errgroup.WithContext(context.Background())
		g.SetLimit(1)
		for range 10 {
			g.Go(task)
		}
		g.Wait()
		cause = context.Cause(ctx)
	})
	want(t, "cause", cause, errTask)
	want(t, "tasks that began", n, 10)
}

// No. Wait returns the first one.
func TestErrgroupAllErrors(t *testing.T) {
	var g errgroup.Group
	g.SetLimit(1)
	second := errors.New("second")
	g.Go(func() error { return errTask })
	g.Go(func() error { return second })
	err := g.Wait()
	want(t, "first", errors.Is(err, errTask), true)
	want(t, "second", errors.Is(err, second), false)
}

// No. It crashes the process, on purpose: the source gives the reasons.
func TestErrgroupPanics(t *testing.T) {
	crashes(t, "panic: boom", func() {
		var g errgroup.Group
		g.Go(func() error { explode(); return nil })
		defer func() { recover() }()
		g.Wait()
	})
}

// Partly. The place is free again and Wait returns, but without an error.
func TestErrgroupGoexit(t *testing.T) {
	var g errgroup.Group
	g.SetLimit(1)
	g.Go(func() error { runtime.Goexit(); return errTask })
	var next bool
	g.Go(func() error { next = true; return nil })
	want(t, "Wait", g.Wait(), nil)
	want(t, "the next task ran", next, true)
}

// Partly. There is no queue: Go returns when the task begins.
func TestErrgroupBoundedQueue(t *testing.T) {
	n := accepted(t, func(task, took func()) {
		var g errgroup.Group
		g.SetLimit(1)
		for range 10 {
			g.Go(func() error { task(); return nil })
			took()
		}
		g.Wait()
	})
	want(t, "tasks accepted while one runs", n, 1)
}

// No. Go waits on, whether a context ends or the group fails.
func TestErrgroupGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g, _ := errgroup.WithContext(ctx)
		g.SetLimit(1)
		hold, went := make(chan struct{}), make(chan struct{})
		g.Go(func() error { <-hold; return nil })
		go func() { g.Go(func() error { return nil }); close(went) }()
		cancel()
		synctest.Wait()
		want(t, "Go has returned", closed(went), false)
		close(hold)
		<-went
		g.Wait()
	})
}

// Yes. TryGo.
func TestErrgroupTry(t *testing.T) {
	var g errgroup.Group
	g.SetLimit(1)
	hold := make(chan struct{})
	want(t, "first", g.TryGo(func() error { <-hold; return nil }), true)
	want(t, "second", g.TryGo(func() error { return nil }), false)
	close(hold)
	g.Wait()
}

// No. Tasks write what they have to variables of the caller.
func TestErrgroupTypedResults(t *testing.T) {
	want(t, "Go", signature((*errgroup.Group).Go), "func(*errgroup.Group, func() error)")
	want(t, "Wait", signature((*errgroup.Group).Wait), "func(*errgroup.Group) error")
}

// No. There are no results; tasks write to the element of a slice.
func TestErrgroupResultsInOrder(t *testing.T) {
	want(t, "Wait", signature((*errgroup.Group).Wait), "func(*errgroup.Group) error")
	methods[*errgroup.Group](t, "Go", "SetLimit", "TryGo", "Wait")
}

// No. Nothing is handed on before Wait returns, and that is an error.
func TestErrgroupOrderedStream(t *testing.T) {
	want(t, "Wait", signature((*errgroup.Group).Wait), "func(*errgroup.Group) error")
	methods[*errgroup.Group](t, "Go", "SetLimit", "TryGo", "Wait")
}

// No. None of its methods tells a number.
func TestErrgroupStatistics(t *testing.T) {
	methods[*errgroup.Group](t, "Go", "SetLimit", "TryGo", "Wait")
}

// Yes.
func TestErrgroupBubbles(t *testing.T) {
	bubbles(t, func(task func()) {
		g, _ := errgroup.WithContext(context.Background())
		g.SetLimit(2)
		for range 2 {
			g.Go(func() error { task(); return nil })
		}
		g.Wait()
	})
}

// Yes.
func TestErrgroupZeroValue(t *testing.T) {
	var g errgroup.Group
	var ran bool
	g.Go(func() error { ran = true; return nil })
	want(t, "Wait", g.Wait(), nil)
	want(t, "ran", ran, true)
}

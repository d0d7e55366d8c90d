package features_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
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

// No. Wait waits for all tasks of the group, and Go returns nothing.
func TestErrgroupWaitingForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g errgroup.Group
		g.SetLimit(2)
		hold, waited := make(chan struct{}), make(chan struct{})
		g.Go(func() error { <-hold; return nil })
		g.Go(func() error { return nil })
		go func() { g.Wait(); close(waited) }()
		synctest.Wait()
		want(t, "Wait has returned", closed(waited), false)
		close(hold)
		<-waited
	})
	want(t, "Go", signature((*errgroup.Group).Go), "func(*errgroup.Group, func() error)")
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

// Partly. Callers share a group; each needs a sync.WaitGroup to wait for its
// own tasks, since Wait waits for all.
func TestErrgroupSharedLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		var g errgroup.Group
		g.SetLimit(3)
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() {
				var own sync.WaitGroup
				for range 10 {
					own.Add(1)
					g.Go(func() error { defer own.Done(); task(); return nil })
				}
				own.Wait()
			})
		}
		callers.Wait()
	})
	want(t, "tasks at once", n, 3)
	synctest.Test(t, func(t *testing.T) {
		var g errgroup.Group
		g.SetLimit(2)
		hold, waited := make(chan struct{}), make(chan struct{})
		g.Go(func() error { <-hold; return nil }) // of one caller
		g.Go(func() error { return nil })         // of the other, which waits
		go func() { g.Wait(); close(waited) }()
		synctest.Wait()
		want(t, "the other has waited", closed(waited), false)
		close(hold)
		<-waited
	})
}

// No. A group has one limit, independent of other groups.
func TestErrgroupTwoLimits(t *testing.T) {
	n := atOnce(t, func(task func()) {
		var small, large errgroup.Group
		small.SetLimit(1)
		large.SetLimit(3)
		var callers sync.WaitGroup
		callers.Go(func() {
			for range 10 {
				large.Go(func() error { task(); return nil })
			}
			large.Wait()
		})
		for range 10 {
			small.Go(func() error { task(); return nil })
		}
		small.Wait()
		callers.Wait()
	})
	want(t, "tasks at once", n, 1+3)
	methods[*errgroup.Group](t, "Go", "SetLimit", "TryGo", "Wait")
}

// Partly. By TryGo, if the task itself does refused work and uses a
// sync.WaitGroup. Go waits for the slot of the task that calls it, and a group
// made in a task has its own limit.
func TestErrgroupNesting(t *testing.T) {
	tried := atOnce(t, func(task func()) {
		var g errgroup.Group
		g.SetLimit(1)
		for range 2 {
			g.Go(func() error {
				var inner sync.WaitGroup
				inner.Add(2)
				for range 2 {
					f := func() error { defer inner.Done(); task(); return nil }
					if !g.TryGo(f) {
						f()
					}
				}
				inner.Wait()
				return nil
			})
		}
		g.Wait()
	})
	want(t, "inner tasks at once, by TryGo", tried, 1)
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
	own := atOnce(t, func(task func()) {
		var g errgroup.Group
		g.SetLimit(2)
		for range 4 {
			g.Go(func() error {
				var inner errgroup.Group
				inner.SetLimit(2)
				for range 4 {
					inner.Go(func() error { task(); return nil })
				}
				return inner.Wait()
			})
		}
		g.Wait()
	})
	want(t, "inner tasks at once, in groups of their own", own, 2*2)
}

// Partly. Without a limit; at the limit, Go in a task waits for ever if all
// tasks do so.
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

// No. The default is no limit.
func TestErrgroupAdaptiveLimit(t *testing.T) {
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

// No. A task is a closure, and a goroutine.
func TestErrgroupFixedFunction(t *testing.T) {
	var sum atomic.Int64
	n := allocations(func(n int) {
		var g errgroup.Group
		g.SetLimit(1)
		for i := range n {
			g.Go(func() error { sum.Add(int64(i)); return nil })
		}
		g.Wait()
	})
	want(t, "a task allocates", n > 0, true)
	methods[*errgroup.Group](t, "Go", "SetLimit", "TryGo", "Wait")
}

// Partly. The context of WithContext is cancelled; tasks that have not started
// run all the same.
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

// Partly. The slot is free again and Wait returns, but without an error.
func TestErrgroupGoexit(t *testing.T) {
	var g errgroup.Group
	g.SetLimit(1)
	g.Go(func() error { runtime.Goexit(); return errTask })
	var next bool
	g.Go(func() error { next = true; return nil })
	want(t, "Wait", g.Wait(), nil)
	want(t, "the next task ran", next, true)
}

// Partly. There is no queue: Go returns when the task starts.
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

// No. Go continues to wait, even if a context ends or the group fails.
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

// No. SetLimit panics while tasks run. Tasks waiting in Go under a limit of 0
// wait for ever, even if another limit is set.
func TestErrgroupPausing(t *testing.T) {
	var g errgroup.Group
	g.SetLimit(1)
	hold := make(chan struct{})
	g.Go(func() error { <-hold; return nil })
	contains(t, panics(func() { g.SetLimit(0) }), "still active")
	close(hold)
	g.Wait()
	deadlocks(t, func() {
		var g errgroup.Group
		g.SetLimit(0)
		go func() { synctest.Wait(); g.SetLimit(1) }()
		g.Go(func() error { return nil })
	})
}

// No. There is no queue, and tasks waiting in Go start in any case, also after
// an error or cancellation.
func TestErrgroupDroppingTheQueue(t *testing.T) {
	begun, _ := stopped(t, func(task func()) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		g, _ := errgroup.WithContext(ctx)
		g.SetLimit(1)
		for range 10 {
			g.Go(func() error { task(); cancel(); return errTask })
		}
		g.Wait()
	})
	want(t, "tasks that began", begun, 10)
}

// No. Tasks store their results in variables of the caller.
func TestErrgroupTypedResults(t *testing.T) {
	want(t, "Go", signature((*errgroup.Group).Go), "func(*errgroup.Group, func() error)")
	want(t, "Wait", signature((*errgroup.Group).Wait), "func(*errgroup.Group) error")
}

// No. There are no results; tasks store them in a slice.
func TestErrgroupResultsInOrder(t *testing.T) {
	want(t, "Wait", signature((*errgroup.Group).Wait), "func(*errgroup.Group) error")
	methods[*errgroup.Group](t, "Go", "SetLimit", "TryGo", "Wait")
}

// No. Wait returns nothing but an error, at the end.
func TestErrgroupOrderedStream(t *testing.T) {
	want(t, "Wait", signature((*errgroup.Group).Wait), "func(*errgroup.Group) error")
	methods[*errgroup.Group](t, "Go", "SetLimit", "TryGo", "Wait")
}

// No. There is no stream: Go takes a task.
func TestErrgroupBatches(t *testing.T) {
	want(t, "Go", signature((*errgroup.Group).Go), "func(*errgroup.Group, func() error)")
	methods[*errgroup.Group](t, "Go", "SetLimit", "TryGo", "Wait")
}

// No. No method returns a number.
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

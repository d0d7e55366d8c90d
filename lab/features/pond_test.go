package features_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alitto/pond/v2"
)

// Partly. A goroutine continues while tasks are queued, and ends when the queue
// is empty.
func TestPondWorkerReuse(t *testing.T) {
	queued := goroutines(t, func(task func()) {
		g := pond.NewPool(1).NewGroup()
		for range 10 {
			g.Submit(task)
		}
		g.Wait()
	})
	want(t, "goroutines of 10 tasks in the queue", queued, 1)
	single := goroutines(t, func(task func()) {
		p := pond.NewPool(1)
		for range 10 {
			p.Submit(task).Wait()
			synctest.Wait()
		}
	})
	want(t, "goroutines of 10 tasks, one after the other", single, 10)
}

// Partly. TaskGroup.Context, which tasks must capture; groups with results
// have none.
func TestPondContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	g := pond.NewPool(1).NewGroupContext(ctx)
	began, cause := make(chan struct{}), make(chan error, 1)
	g.Submit(func() {
		close(began)
		<-g.Context().Done()
		cause <- context.Cause(g.Context())
	})
	<-began
	cancel(errStop)
	want(t, "cause", <-cause, errStop)
	want(t, "SubmitErr", signature(pond.TaskGroup.SubmitErr), "func(pond.TaskGroup, ...func() error) pond.TaskGroup")
	methods[pond.ResultTaskGroup[int]](t, "Done", "Stop", "Submit", "SubmitErr", "Wait")
}

// Yes. In groups.
func TestPondWaitingForAll(t *testing.T) {
	n := left(t, func(task func() error) {
		g := pond.NewPool(10).NewGroup()
		for range 10 {
			g.SubmitErr(task)
		}
		g.Wait()
	})
	want(t, "tasks that run after Wait", n, 0)
}

// Yes. Submit of a pool returns the task.
func TestPondWaitingForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pond.NewResultPool[string](2)
		hold := make(chan struct{})
		a := p.Submit(func() string { <-hold; return "" })
		b := p.Submit(func() string { return "value" })
		value, err := b.Wait()
		want(t, "value of b", value, "value")
		want(t, "error of b", err, nil)
		want(t, "a has ended", closed(a.Done()), false)
		close(hold)
		a.Wait()
	})
}

// Yes.
func TestPondErrors(t *testing.T) {
	p := pond.NewPool(1)
	want(t, "Wait of a task", p.SubmitErr(func() error { return errTask }).Wait(), errTask)
	want(t, "Wait of a group", p.NewGroup().SubmitErr(func() error { return errTask }).Wait(), errTask)
}

// Yes.
func TestPondResizing(t *testing.T) {
	larger := atOnce(t, func(task func()) {
		p := pond.NewPool(1)
		g := p.NewGroup()
		for range 20 {
			g.Submit(task)
		}
		p.Resize(3)
		g.Wait()
	})
	want(t, "tasks at once after Resize(3)", larger, 3)
	smaller := atOnce(t, func(task func()) {
		p := pond.NewPool(10)
		g := p.NewGroup()
		for range 10 {
			g.Submit(func() { time.Sleep(time.Second) })
		}
		p.Resize(1)
		for range 10 {
			g.Submit(task)
		}
		g.Wait()
	})
	want(t, "tasks at once after Resize(1)", smaller, 1)
}

// Yes.
func TestPondLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		g := pond.NewPool(3).NewGroup()
		for range 20 {
			g.Submit(task)
		}
		g.Wait()
	})
	want(t, "tasks at once", n, 3)
}

// Yes. Groups on a pool, and pools on a pool.
func TestPondSharedLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p := pond.NewPool(3)
		a, b := p.NewGroup(), p.NewSubpool(2).NewGroup()
		for range 10 {
			a.Submit(task)
			b.Submit(task)
		}
		a.Wait()
		b.Wait()
	})
	want(t, "tasks at once", n, 3)
	synctest.Test(t, func(t *testing.T) {
		p := pond.NewPool(2)
		a, b := p.NewGroup(), p.NewGroup()
		hold := make(chan struct{})
		a.Submit(func() { <-hold })
		want(t, "b.Wait while a task of a runs", b.Submit(func() {}).Wait(), nil)
		close(hold)
		a.Wait()
	})
}

// Yes. NewSubpool.
func TestPondTwoLimits(t *testing.T) {
	both := func(useSmall, useLarge bool) int {
		return atOnce(t, func(task func()) {
			p := pond.NewPool(3)
			large, small := p.NewGroup(), p.NewSubpool(2).NewGroup()
			for range 10 {
				if useSmall {
					small.Submit(task)
				}
				if useLarge {
					large.Submit(task)
				}
			}
			small.Wait()
			large.Wait()
		})
	}
	want(t, "tasks at once under the small limit", both(true, false), 2)
	want(t, "tasks at once under both", both(true, true), 3)
}

// Partly. By TrySubmit in a pool without a queue, if the task itself does
// refused work. Otherwise waiting for a task in a task needs a second
// goroutine. A pool made in a task has its own limit.
func TestPondNesting(t *testing.T) {
	tried := atOnce(t, func(task func()) {
		p := pond.NewPool(1, pond.WithQueueSize(0))
		g := p.NewGroup()
		for range 2 {
			g.Submit(func() {
				for range 2 {
					if inner, ok := p.TrySubmit(task); ok {
						defer inner.Wait()
					} else {
						task()
					}
				}
			})
		}
		g.Wait()
	})
	want(t, "inner tasks at once, by TrySubmit", tried, 1)
	deadlocks(t, func() {
		p := pond.NewPool(1)
		p.Submit(func() { p.Submit(func() {}).Wait() }).Wait()
	})
	deadlocks(t, func() {
		p := pond.NewPool(1)
		p.NewGroup().Submit(func() { p.NewSubpool(1).NewGroup().Submit(func() {}).Wait() }).Wait()
	})
	own := atOnce(t, func(task func()) {
		g := pond.NewPool(2).NewGroup()
		for range 4 {
			g.Submit(func() { pond.NewPool(2).NewGroup().Submit(task, task, task, task).Wait() })
		}
		g.Wait()
	})
	want(t, "inner tasks at once, in pools of their own", own, 2*2)
}

// Yes. Unless the queue is bounded and full.
func TestPondTasksFromTasks(t *testing.T) {
	var child atomic.Bool
	g := pond.NewPool(1).NewGroup()
	g.Submit(func() {
		g.Submit(func() { child.Store(true) })
	})
	want(t, "Wait", g.Wait(), nil)
	want(t, "the child ran", child.Load(), true)
}

// No. A pool with a limit of 0 has no limit.
func TestPondAdaptiveLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		g := pond.NewPool(0).NewGroup()
		for range 1000 {
			g.Submit(task)
		}
		g.Wait()
	})
	want(t, "tasks at once", n, 1000)
}

// No. There are no loops: a group's Submit takes several functions, and makes a
// task of each.
func TestPondChunks(t *testing.T) {
	p := pond.NewPool(2)
	items := make([]func(), 1000)
	for i := range items {
		items[i] = func() {}
	}
	p.NewGroup().Submit(items...).Wait()
	want(t, "tasks of 1000 items", p.SubmittedTasks(), 1000)
}

// No. A task is a closure, wrapped in others.
func TestPondFixedFunction(t *testing.T) {
	var sum atomic.Int64
	n := allocations(func(n int) {
		g := pond.NewPool(1).NewGroup()
		for i := range n {
			g.Submit(func() { sum.Add(int64(i)) })
		}
		g.Wait()
	})
	want(t, "a task allocates", n > 0, true)
	want(t, "Submit", signature(pond.Pool.Submit), "func(pond.Pool, func()) pond.Task")
}

// Yes. In groups; running tasks notice if they have captured the context, which
// groups with results lack.
func TestPondFirstErrorCancels(t *testing.T) {
	var cancelled bool
	n := begun(t, func(task func() error) {
		g := pond.NewPool(1).NewGroup()
		for range 10 {
			g.SubmitErr(task)
		}
		g.Wait()
		cancelled = g.Context().Err() != nil
	})
	want(t, "cancelled", cancelled, true)
	want(t, "tasks that began", n, 1)
}

// Partly. Each task submitted on its own has an error; a group returns the
// first.
func TestPondAllErrors(t *testing.T) {
	p := pond.NewPool(1)
	second := errors.New("second")
	a, b := p.SubmitErr(func() error { return errTask }), p.SubmitErr(func() error { return second })
	want(t, "Wait of the first task", a.Wait(), errTask)
	want(t, "Wait of the second task", b.Wait(), second)

	synctest.Test(t, func(t *testing.T) {
		g := pond.NewPool(2).NewGroup()
		g.SubmitErr(func() error { return errTask })
		g.SubmitErr(func() error { time.Sleep(time.Second); return second })
		err := g.Wait()
		want(t, "the group has the first", errors.Is(err, errTask), true)
		want(t, "the group has the second", errors.Is(err, second), false)
	})
}

// Yes. As an error, with the stack in its text. For Pool.Go, whose tasks nobody
// waits for, it is only counted.
func TestPondPanics(t *testing.T) {
	p := pond.NewPool(1)
	err := p.NewGroup().Submit(explode).Wait()
	want(t, "is ErrPanic", errors.Is(err, pond.ErrPanic), true)
	contains(t, err, "boom")
	contains(t, err, "features_test.explode")

	p.Go(explode)
	p.StopAndWait()
	want(t, "FailedTasks", p.FailedTasks(), 2)
}

// Partly. The pool continues and counts a failure, but waiting for the task or
// its group never ends.
func TestPondGoexit(t *testing.T) {
	deadlocks(t, func() { pond.NewPool(2).NewGroup().Submit(runtime.Goexit).Wait() })
	deadlocks(t, func() { pond.NewPool(2).Submit(runtime.Goexit).Wait() })
	p := pond.NewPool(1)
	p.Submit(runtime.Goexit)
	want(t, "Wait of the next task", p.Submit(func() {}).Wait(), nil)
	want(t, "FailedTasks", p.FailedTasks(), 1)
}

// Yes. WithQueueSize; the default is unbounded.
func TestPondBoundedQueue(t *testing.T) {
	n := accepted(t, func(task, took func()) {
		p := pond.NewPool(1, pond.WithQueueSize(2))
		for range 10 {
			p.Go(task)
			took()
		}
	})
	want(t, "tasks accepted while one runs", n, 1+2)
}

// Partly. When the context of the whole pool ends; a group's context does not
// end the wait for a full queue.
func TestPondGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := pond.NewPool(1, pond.WithQueueSize(1))
		hold, went := make(chan struct{}), make(chan struct{})
		p.Go(func() { <-hold })
		p.Go(func() {}) // the queue is full
		g := p.NewGroupContext(ctx)
		go func() { g.Submit(func() {}); close(went) }()
		cancel()
		synctest.Wait()
		want(t, "Submit has returned", closed(went), false)
		close(hold)
		<-went
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := pond.NewPool(1, pond.WithQueueSize(1), pond.WithContext(ctx))
		hold := make(chan struct{})
		p.Go(func() { <-hold })
		p.Go(func() {}) // the queue is full
		go func() { synctest.Wait(); cancel() }()
		want(t, "Go", p.Go(func() {}), context.Canceled)
		close(hold)
	})
}

// Yes. TrySubmit, or WithNonBlocking for a whole pool.
func TestPondTry(t *testing.T) {
	p := pond.NewPool(1, pond.WithQueueSize(0))
	hold := make(chan struct{})
	_, first := p.TrySubmit(func() { <-hold })
	_, second := p.TrySubmit(func() {})
	want(t, "first", first, true)
	want(t, "second", second, false)
	close(hold)
}

// No. Resize(0) removes the limit.
func TestPondPausing(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p := pond.NewPool(1)
		p.Resize(0)
		g := p.NewGroup()
		for range 20 {
			g.Submit(task)
		}
		g.Wait()
	})
	want(t, "tasks at once after Resize(0)", n, 20)
	methods[pond.Pool](t, "CanceledTasks", "CompletedTasks", "Context", "DroppedTasks", "FailedTasks", "Go",
		"MaxConcurrency", "NewGroup", "NewGroupContext", "NewSubpool", "NonBlocking", "QueueSize", "Resize",
		"RunningWorkers", "Stop", "StopAndWait", "Stopped", "Submit", "SubmitErr", "SubmittedTasks",
		"SuccessfulTasks", "TrySubmit", "TrySubmitErr", "WaitingTasks")
}

// Yes. Stop of a group, or the end of the pool's context; Stop of a pool runs
// the queued tasks.
func TestPondDroppingTheQueue(t *testing.T) {
	begun, running := stopped(t, func(task func()) {
		g := pond.NewPool(1).NewGroup()
		for range 10 {
			g.Submit(task)
		}
		synctest.Wait()
		g.Stop()
		want(t, "Wait", errors.Is(g.Wait(), pond.ErrGroupStopped), true)
	})
	want(t, "tasks that began", begun, 1)
	want(t, "tasks that run after Wait", running, 0)
}

// Yes.
func TestPondTypedResults(t *testing.T) {
	p := pond.NewResultPool[string](1)
	value, err := p.Submit(func() string { return "value" }).Wait()
	want(t, "value", value, "value")
	want(t, "error", err, nil)
}

// Yes. In groups of a ResultPool.
func TestPondResultsInOrder(t *testing.T) {
	const n = 5
	f := backwards(n)
	g := pond.NewResultPool[int](n).NewGroup()
	for i := range n {
		g.Submit(func() int { return f(i) })
	}
	got, err := g.Wait()
	want(t, "results", got, []int{0, 1, 2, 3, 4})
	want(t, "error", err, nil)
}

// No. A group returns the results when all tasks have finished.
func TestPondOrderedStream(t *testing.T) {
	want(t, "Wait", signature(pond.ResultTaskGroup[int].Wait), "func(pond.ResultTaskGroup[int]) ([]int, error)")
	methods[pond.ResultTaskGroup[int]](t, "Done", "Stop", "Submit", "SubmitErr", "Wait")
	methods[pond.ResultTask[int]](t, "Done", "Wait")
}

// No. There is no stream: a group's Submit takes several functions, and makes a
// task of each.
func TestPondBatches(t *testing.T) {
	want(t, "Submit", signature(pond.ResultTaskGroup[int].Submit), "func(pond.ResultTaskGroup[int], ...func() int) pond.ResultTaskGroup[int]")
	methods[pond.ResultTaskGroup[int]](t, "Done", "Stop", "Submit", "SubmitErr", "Wait")
}

// Yes.
func TestPondStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pond.NewPool(1)
		hold := make(chan struct{})
		g := p.NewGroup()
		for range 3 {
			g.Submit(func() { <-hold })
		}
		want(t, "RunningWorkers", p.RunningWorkers(), 1)
		want(t, "WaitingTasks", p.WaitingTasks(), 2)
		close(hold)
		g.Wait()
		synctest.Wait()
		want(t, "RunningWorkers after all tasks", p.RunningWorkers(), 0)
		want(t, "CompletedTasks", p.CompletedTasks(), 3)
	})
}

// Partly. Pools and groups; Stop and StopAndWait crash in the second bubble,
// since they use a default pool, which keeps a channel of the first.
func TestPondBubbles(t *testing.T) {
	bubbles(t, func(task func()) {
		g := pond.NewPool(2).NewGroup()
		g.Submit(task, task)
		g.Wait()
	})
	crashes(t, "from outside bubble", func() {
		bubbles(t, func(task func()) {
			p := pond.NewPool(2)
			p.Go(task)
			p.StopAndWait()
		})
	})
}

// Partly. The package's Submit and NewGroup use a default pool without a limit;
// Pool is an interface, whose zero value is nil.
func TestPondZeroValue(t *testing.T) {
	ran := make(chan struct{})
	want(t, "Submit of the package", pond.Submit(func() { close(ran) }).Wait(), nil)
	want(t, "ran", closed(ran), true)
	var p pond.Pool
	contains(t, panics(func() { p.Go(func() {}) }), "nil pointer")
}

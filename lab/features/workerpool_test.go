package features_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gammazero/workerpool"
)

// workerpoolRun runs a task n times on a pool and waits.
func workerpoolRun(p *workerpool.WorkerPool, n int, task func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		p.Do(func() { defer wg.Done(); task() })
	}
	wg.Wait()
}

// workerpoolKept returns a pool that keeps its workers: a pool that checks for
// idle ones periodically never blocks for good.
func workerpoolKept(size int) *workerpool.WorkerPool {
	return workerpool.New(size, workerpool.WithIdleTimeout(-1))
}

// Yes. An idle worker ends every two seconds, or at the configured interval.
func TestWorkerpoolWorkerReuse(t *testing.T) {
	n := goroutines(t, func(task func()) {
		p := workerpool.New(1)
		defer p.StopWait()
		workerpoolRun(p, 10, task)
	})
	want(t, "goroutines of 10 tasks", n, 1)
}

// No. A task has no arguments.
func TestWorkerpoolContext(t *testing.T) {
	want(t, "Do", signature((*workerpool.WorkerPool).Do), "func(*workerpool.WorkerPool, func()) error")
}

// Partly. StopWait waits and ends the pool; DoWait waits for one task.
func TestWorkerpoolWaitingForAll(t *testing.T) {
	n := left(t, func(task func() error) {
		p := workerpool.New(10)
		for range 10 {
			p.Do(func() { task() })
		}
		p.StopWait()
		want(t, "Do", p.Do(func() {}), workerpool.ErrStopped)
	})
	want(t, "tasks that run after StopWait", n, 0)
}

// Partly. DoWait starts a task and waits for it, in one call; there is no
// result.
func TestWorkerpoolWaitingForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := workerpool.New(2)
		hold := make(chan struct{})
		var first, second atomic.Bool
		p.Do(func() { <-hold; first.Store(true) })
		want(t, "DoWait", p.DoWait(func() { second.Store(true) }), nil)
		want(t, "the first has ended", first.Load(), false)
		want(t, "the second has ended", second.Load(), true)
		close(hold)
		p.StopWait()
	})
	want(t, "DoWait", signature((*workerpool.WorkerPool).DoWait), "func(*workerpool.WorkerPool, func()) error")
}

// No. A task returns nothing; Do's error means that the pool is stopped.
func TestWorkerpoolErrors(t *testing.T) {
	want(t, "Do", signature((*workerpool.WorkerPool).Do), "func(*workerpool.WorkerPool, func()) error")
	want(t, "DoWait", signature((*workerpool.WorkerPool).DoWait), "func(*workerpool.WorkerPool, func()) error")
}

// No. The size is fixed by New.
func TestWorkerpoolResizing(t *testing.T) {
	methods[*workerpool.WorkerPool](t, "Do", "DoWait", "Pause", "Size", "Stop", "StopWait", "Stopped", "Submit", "SubmitWait", "WaitingQueueSize")
	want(t, "Size", signature((*workerpool.WorkerPool).Size), "func(*workerpool.WorkerPool) int")
}

// Yes.
func TestWorkerpoolLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p := workerpool.New(3)
		defer p.StopWait()
		workerpoolRun(p, 20, task)
	})
	want(t, "tasks at once", n, 3)
}

// Partly. Callers share a pool; each needs a sync.WaitGroup to wait for its own
// tasks.
func TestWorkerpoolSharedLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p := workerpool.New(3)
		defer p.StopWait()
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() { workerpoolRun(p, 10, task) })
		}
		callers.Wait()
	})
	want(t, "tasks at once", n, 3)
	methods[*workerpool.WorkerPool](t, "Do", "DoWait", "Pause", "Size", "Stop", "StopWait", "Stopped", "Submit", "SubmitWait", "WaitingQueueSize")
}

// No. A pool has one size, independent of other pools.
func TestWorkerpoolTwoLimits(t *testing.T) {
	n := atOnce(t, func(task func()) {
		small, large := workerpool.New(1), workerpool.New(3)
		for range 10 {
			small.Do(task)
			large.Do(task)
		}
		small.StopWait()
		large.StopWait()
	})
	want(t, "tasks at once", n, 1+3)
	want(t, "New", signature(workerpool.New), "func(int, ...workerpool.Option) *workerpool.WorkerPool")
}

// No. DoWait waits for the worker that it runs on, and a pool made in a task
// has its own limit.
func TestWorkerpoolNesting(t *testing.T) {
	deadlocks(t, func() {
		p := workerpoolKept(1)
		p.DoWait(func() { p.DoWait(func() {}) })
	})
	own := atOnce(t, func(task func()) {
		p := workerpool.New(2)
		defer p.StopWait()
		workerpoolRun(p, 4, func() {
			inner := workerpool.New(2)
			defer inner.StopWait()
			workerpoolRun(inner, 4, task)
		})
	})
	want(t, "inner tasks at once, in pools of their own", own, 2*2)
}

// Yes. Do never waits.
func TestWorkerpoolTasksFromTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := workerpool.New(1)
		var child atomic.Bool
		p.Do(func() { p.Do(func() { child.Store(true) }) })
		synctest.Wait()
		want(t, "the child ran", child.Load(), true)
		p.StopWait()
	})
}

// No. A pool of size 0 has one worker.
func TestWorkerpoolAdaptiveLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p := workerpool.New(0)
		defer p.StopWait()
		workerpoolRun(p, 20, task)
	})
	want(t, "tasks at once", n, 1)
}

// No. There are no loops: an item is a task.
func TestWorkerpoolChunks(t *testing.T) {
	want(t, "Do", signature((*workerpool.WorkerPool).Do), "func(*workerpool.WorkerPool, func()) error")
	methods[*workerpool.WorkerPool](t, "Do", "DoWait", "Pause", "Size", "Stop", "StopWait", "Stopped", "Submit", "SubmitWait", "WaitingQueueSize")
}

// No. A task is a closure.
func TestWorkerpoolFixedFunction(t *testing.T) {
	p := workerpool.New(1)
	var sum atomic.Int64
	n := allocations(func(n int) {
		for i := range n {
			p.Do(func() { sum.Add(int64(i)) })
		}
	})
	want(t, "a task allocates", n > 0, true)
	p.StopWait()
	want(t, "Do", signature((*workerpool.WorkerPool).Do), "func(*workerpool.WorkerPool, func()) error")
}

// No. Tasks return no errors; Stop drops the queue.
func TestWorkerpoolFirstErrorCancels(t *testing.T) {
	want(t, "Do", signature((*workerpool.WorkerPool).Do), "func(*workerpool.WorkerPool, func()) error")
}

// No. Tasks return no errors.
func TestWorkerpoolAllErrors(t *testing.T) {
	want(t, "Do", signature((*workerpool.WorkerPool).Do), "func(*workerpool.WorkerPool, func()) error")
}

// No. It crashes the process, as documented.
func TestWorkerpoolPanics(t *testing.T) {
	crashes(t, "panic: boom", func() {
		p := workerpool.New(1)
		defer func() { recover() }()
		p.DoWait(explode)
	})
}

// No. Its worker is lost, and DoWait and StopWait wait for ever.
func TestWorkerpoolGoexit(t *testing.T) {
	deadlocks(t, func() { workerpoolKept(2).DoWait(runtime.Goexit) })
	deadlocks(t, func() {
		p := workerpoolKept(1)
		p.Do(runtime.Goexit)
		synctest.Wait()
		p.DoWait(func() {}) // the next task
	})
}

// No. The queue is unbounded.
func TestWorkerpoolBoundedQueue(t *testing.T) {
	n := accepted(t, func(task, took func()) {
		p := workerpool.New(1)
		defer p.StopWait()
		for range 10_000 {
			p.Do(task)
			took()
		}
	})
	want(t, "tasks accepted while one runs", n, 10_000)
}

// Partly. Do never waits, since the queue is unbounded; DoWait, which waits
// until the task has finished, cannot be given up.
func TestWorkerpoolGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := workerpool.New(1)
		ctx, unpause := context.WithCancel(t.Context())
		p.Pause(ctx)
		for range 1000 {
			want(t, "Do", p.Do(func() {}), nil)
		}
		done := make(chan struct{})
		go func() { p.DoWait(func() {}); close(done) }()
		time.Sleep(time.Hour)
		want(t, "DoWait has returned", closed(done), false)
		unpause()
		<-done
		p.StopWait()
	})
	want(t, "DoWait", signature((*workerpool.WorkerPool).DoWait), "func(*workerpool.WorkerPool, func()) error")
}

// No. Do also accepts a task without a free worker, and does not report it.
func TestWorkerpoolTry(t *testing.T) {
	p := workerpool.New(1)
	hold := make(chan struct{})
	var second atomic.Bool
	want(t, "first", p.Do(func() { <-hold }), nil)
	want(t, "second", p.Do(func() { second.Store(true) }), nil)
	want(t, "the second has begun", second.Load(), false)
	close(hold)
	p.StopWait()
	methods[*workerpool.WorkerPool](t, "Do", "DoWait", "Pause", "Size", "Stop", "StopWait", "Stopped", "Submit", "SubmitWait", "WaitingQueueSize")
}

// Yes. Pause, until a context ends; it waits for running and queued tasks.
func TestWorkerpoolPausing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := workerpool.New(2)
		ctx, unpause := context.WithCancel(t.Context())
		var ran atomic.Int32
		for range 3 {
			p.Do(func() { time.Sleep(time.Second); ran.Add(1) })
		}
		p.Pause(ctx)
		want(t, "tasks that ran before the pause", ran.Load(), 3)
		for range 10 {
			want(t, "Do", p.Do(func() { ran.Add(1) }), nil)
		}
		time.Sleep(time.Hour)
		want(t, "tasks that ran in the pause", ran.Load(), 3)
		unpause()
		synctest.Wait()
		want(t, "tasks that ran after the pause", ran.Load(), 13)
		p.StopWait()
	})
}

// Yes. Stop.
func TestWorkerpoolDroppingTheQueue(t *testing.T) {
	begun, running := stopped(t, func(task func()) {
		p := workerpool.New(1)
		for range 10 {
			p.Do(task)
		}
		synctest.Wait()
		p.Stop()
	})
	want(t, "tasks that began", begun, 1)
	want(t, "tasks that run after Stop", running, 0)
}

// No. Tasks store their results in variables of the caller.
func TestWorkerpoolTypedResults(t *testing.T) {
	want(t, "DoWait", signature((*workerpool.WorkerPool).DoWait), "func(*workerpool.WorkerPool, func()) error")
	want(t, "SubmitWait", signature((*workerpool.WorkerPool).SubmitWait), "func(*workerpool.WorkerPool, func())")
}

// No. There are no results.
func TestWorkerpoolResultsInOrder(t *testing.T) {
	want(t, "DoWait", signature((*workerpool.WorkerPool).DoWait), "func(*workerpool.WorkerPool, func()) error")
	want(t, "StopWait", signature((*workerpool.WorkerPool).StopWait), "func(*workerpool.WorkerPool)")
}

// No. There are no results.
func TestWorkerpoolOrderedStream(t *testing.T) {
	methods[*workerpool.WorkerPool](t, "Do", "DoWait", "Pause", "Size", "Stop", "StopWait", "Stopped", "Submit", "SubmitWait", "WaitingQueueSize")
}

// No. There is no stream: an item is a task.
func TestWorkerpoolBatches(t *testing.T) {
	want(t, "Do", signature((*workerpool.WorkerPool).Do), "func(*workerpool.WorkerPool, func()) error")
	methods[*workerpool.WorkerPool](t, "Do", "DoWait", "Pause", "Size", "Stop", "StopWait", "Stopped", "Submit", "SubmitWait", "WaitingQueueSize")
}

// Partly. WaitingQueueSize counts waiting tasks; the number of running ones is
// not available.
func TestWorkerpoolStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := workerpool.New(1)
		hold := make(chan struct{})
		p.Do(func() { <-hold })
		synctest.Wait()
		want(t, "WaitingQueueSize", p.WaitingQueueSize(), 0)
		p.Do(func() {})
		synctest.Wait()
		want(t, "WaitingQueueSize", p.WaitingQueueSize(), 1)
		close(hold)
		p.StopWait()
	})
	methods[*workerpool.WorkerPool](t, "Do", "DoWait", "Pause", "Size", "Stop", "StopWait", "Stopped", "Submit", "SubmitWait", "WaitingQueueSize")
}

// Yes. An open pool keeps the bubble from ending.
func TestWorkerpoolBubbles(t *testing.T) {
	bubbles(t, func(task func()) {
		p := workerpool.New(2)
		p.Do(task)
		p.Do(task)
		p.StopWait()
	})
}

// No. A task in a zero WorkerPool waits for ever.
func TestWorkerpoolZeroValue(t *testing.T) {
	deadlocks(t, func() { new(workerpool.WorkerPool).Do(func() {}) })
}

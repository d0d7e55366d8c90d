package features_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panjf2000/ants/v2"
)

// antsPool returns a pool, which must be released before its bubble ends.
func antsPool(size int, opts ...ants.Option) *ants.Pool {
	p, err := ants.NewPool(size, opts...)
	if err != nil {
		panic(err)
	}
	return p
}

// antsRun runs a task n times on a pool and waits.
func antsRun(p *ants.Pool, n int, task func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		p.Submit(func() { defer wg.Done(); task() })
	}
	wg.Wait()
}

// Yes. Idle workers end after a second, or after the configured time.
func TestAntsWorkerReuse(t *testing.T) {
	n := goroutines(t, func(task func()) {
		p := antsPool(1)
		defer p.Release()
		antsRun(p, 10, task)
	})
	want(t, "goroutines of 10 tasks", n, 1)
}

// No. A task has no arguments.
func TestAntsContext(t *testing.T) {
	want(t, "Submit", signature((*ants.Pool).Submit), "func(*ants.Pool, func()) error")
}

// Partly. ReleaseContext and ReleaseTimeout wait and close the pool; otherwise
// callers need a sync.WaitGroup.
func TestAntsWaitingForAll(t *testing.T) {
	n := left(t, func(task func() error) {
		p := antsPool(10)
		for range 10 {
			p.Submit(func() { task() })
		}
		want(t, "ReleaseContext", p.ReleaseContext(context.Background()), nil)
		want(t, "Submit", p.Submit(func() {}), ants.ErrPoolClosed)
	})
	want(t, "tasks that run after ReleaseContext", n, 0)
}

// No. Submit returns when a worker takes the task, and ReleaseContext waits for
// all.
func TestAntsWaitingForOne(t *testing.T) {
	want(t, "Submit", signature((*ants.Pool).Submit), "func(*ants.Pool, func()) error")
	methods[*ants.Pool](t, "Cap", "Free", "IsClosed", "Reboot", "Release", "ReleaseContext", "ReleaseTimeout", "Running", "Submit", "Tune", "Waiting")
}

// No. A task returns nothing; Submit's error means that the task was refused.
func TestAntsErrors(t *testing.T) {
	want(t, "Submit", signature((*ants.Pool).Submit), "func(*ants.Pool, func()) error")
}

// Partly. Tune; after it shrinks the pool, idle workers still count.
func TestAntsResizing(t *testing.T) {
	larger := atOnce(t, func(task func()) {
		p := antsPool(1)
		defer p.Release()
		p.Tune(3)
		antsRun(p, 20, task)
	})
	want(t, "tasks at once after Tune(3)", larger, 3)
	smaller := atOnce(t, func(task func()) {
		p := antsPool(10)
		defer p.Release()
		antsRun(p, 10, func() { time.Sleep(time.Millisecond) })
		synctest.Wait() // ten workers are idle now
		p.Tune(1)
		antsRun(p, 10, task)
	})
	want(t, "tasks at once after Tune(1)", smaller, 10)
}

// Yes.
func TestAntsLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p := antsPool(3)
		defer p.Release()
		antsRun(p, 20, task)
	})
	want(t, "tasks at once", n, 3)
}

// Partly. Callers share a pool; each needs a sync.WaitGroup to wait for its own
// tasks.
func TestAntsSharedLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p := antsPool(3)
		defer p.Release()
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() { antsRun(p, 10, task) })
		}
		callers.Wait()
	})
	want(t, "tasks at once", n, 3)
	methods[*ants.Pool](t, "Cap", "Free", "IsClosed", "Reboot", "Release", "ReleaseContext", "ReleaseTimeout", "Running", "Submit", "Tune", "Waiting")
}

// No. A MultiPool consists of independent pools: its limit is the sum of
// theirs.
func TestAntsTwoLimits(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p, err := ants.NewMultiPool(2, 3, ants.RoundRobin)
		want(t, "error", err, nil)
		want(t, "Cap", p.Cap(), 2*3)
		var all sync.WaitGroup
		for range 20 {
			all.Add(1)
			p.Submit(func() { defer all.Done(); task() })
		}
		all.Wait()
		p.ReleaseTimeout(time.Minute)
	})
	want(t, "tasks at once", n, 2*3)
}

// Partly. In a pool with WithNonblocking, if the task itself does refused work
// and uses a sync.WaitGroup. Otherwise Submit waits for the worker that it runs
// on. A pool made in a task has its own limit.
func TestAntsNesting(t *testing.T) {
	tried := atOnce(t, func(task func()) {
		p := antsPool(1, ants.WithNonblocking(true))
		defer p.Release()
		antsRun(p, 1, func() {
			var inner sync.WaitGroup
			inner.Add(2)
			for range 2 {
				f := func() { defer inner.Done(); task() }
				if p.Submit(f) != nil {
					f()
				}
			}
			inner.Wait()
		})
	})
	want(t, "inner tasks at once, by WithNonblocking", tried, 1)
	synctest.Test(t, func(t *testing.T) {
		p := antsPool(1)
		outer := make(chan struct{})
		p.Submit(func() {
			p.Submit(func() {})
			close(outer)
		})
		synctest.Wait()
		want(t, "the task has ended", closed(outer), false)
		p.Release()
	})
	own := atOnce(t, func(task func()) {
		p := antsPool(2)
		defer p.Release()
		antsRun(p, 4, func() {
			inner := antsPool(2)
			defer inner.Release()
			antsRun(inner, 4, task)
		})
	})
	want(t, "inner tasks at once, in pools of their own", own, 2*2)
}

// Partly. While workers are free; if all run tasks that submit, they wait for
// ever, as documented.
func TestAntsTasksFromTasks(t *testing.T) {
	family := func(size int) (child bool) {
		p := antsPool(size)
		defer p.Release()
		var ran atomic.Bool
		p.Submit(func() { p.Submit(func() { ran.Store(true) }) })
		synctest.Wait()
		return ran.Load()
	}
	synctest.Test(t, func(t *testing.T) {
		want(t, "the child ran, with a worker free", family(2), true)
		want(t, "the child ran, without", family(1), false)
	})
}

// No. A pool of size 0 has no limit; the default pool's limit is 2,147,483,647.
func TestAntsAdaptiveLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p := antsPool(0)
		defer p.Release()
		antsRun(p, 1000, task)
	})
	want(t, "tasks at once", n, 1000)
	want(t, "Cap of the package's pool", ants.Cap(), ants.DefaultAntsPoolSize)
}

// No. There are no loops: the function of a PoolWithFuncGeneric takes one item
// a call.
func TestAntsChunks(t *testing.T) {
	var calls atomic.Int32
	p, err := ants.NewPoolWithFuncGeneric(1, func(int) { calls.Add(1) })
	want(t, "error", err, nil)
	for i := range 1000 {
		p.Invoke(i)
	}
	p.ReleaseTimeout(time.Minute)
	want(t, "calls", calls.Load(), 1000)
	want(t, "Invoke", signature((*ants.PoolWithFuncGeneric[int]).Invoke), "func(*ants.PoolWithFuncGeneric[int], int) error")
}

// Yes. PoolWithFuncGeneric; PoolWithFunc takes an interface, which allocates
// most values.
func TestAntsFixedFunction(t *testing.T) {
	var sum atomic.Int64
	p, err := ants.NewPoolWithFuncGeneric(1, func(i int) { sum.Add(int64(i)) })
	want(t, "error", err, nil)
	n := allocations(func(n int) {
		for i := range n {
			p.Invoke(i)
		}
	})
	want(t, "allocations of a task", n, 0)
	want(t, "ReleaseTimeout", p.ReleaseTimeout(time.Minute), nil)
	want(t, "Invoke", signature((*ants.PoolWithFunc).Invoke), "func(*ants.PoolWithFunc, interface {}) error")
}

// No. Tasks return no errors, and nothing can be cancelled.
func TestAntsFirstErrorCancels(t *testing.T) {
	want(t, "Submit", signature((*ants.Pool).Submit), "func(*ants.Pool, func()) error")
}

// No. Tasks return no errors.
func TestAntsAllErrors(t *testing.T) {
	want(t, "Submit", signature((*ants.Pool).Submit), "func(*ants.Pool, func()) error")
}

// No. PanicHandler receives it, or it is logged; no waiting caller learns of
// it.
func TestAntsPanics(t *testing.T) {
	handled := make(chan any, 1)
	p := antsPool(1, ants.WithPanicHandler(func(v any) { handled <- v }))
	want(t, "Submit", p.Submit(explode), nil)
	want(t, "the handler got", <-handled, any("boom"))
	want(t, "ReleaseTimeout", p.ReleaseTimeout(time.Minute), nil)
}

// Partly. The next task gets a new worker; no caller learns of it.
func TestAntsGoexit(t *testing.T) {
	p := antsPool(1)
	var next atomic.Bool
	want(t, "Submit", p.Submit(runtime.Goexit), nil)
	want(t, "Submit", p.Submit(func() { next.Store(true) }), nil)
	want(t, "ReleaseTimeout", p.ReleaseTimeout(time.Minute), nil)
	want(t, "the next task ran", next.Load(), true)
}

// Partly. There is no queue: Submit returns when a worker has the task.
// WithMaxBlockingTasks bounds the callers that wait.
func TestAntsBoundedQueue(t *testing.T) {
	n := accepted(t, func(task, took func()) {
		p := antsPool(1, ants.WithMaxBlockingTasks(1))
		defer p.Release()
		for range 10 {
			p.Submit(task)
			took()
		}
	})
	want(t, "tasks accepted while one runs", n, 1)
	synctest.Test(t, func(t *testing.T) {
		p := antsPool(1, ants.WithMaxBlockingTasks(1))
		defer p.Release()
		hold := make(chan struct{})
		p.Submit(func() { <-hold })
		go p.Submit(func() {})
		synctest.Wait()
		want(t, "Submit while another waits", p.Submit(func() {}), ants.ErrPoolOverload)
		close(hold)
		synctest.Wait()
	})
}

// No. Only releasing the whole pool ends the wait.
func TestAntsGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := antsPool(1)
		hold, result := make(chan struct{}), make(chan error, 1)
		p.Submit(func() { <-hold })
		go func() { result <- p.Submit(func() {}) }()
		time.Sleep(time.Hour)
		want(t, "results of Submit", len(result), 0)
		p.Release()
		want(t, "Submit", <-result, ants.ErrPoolClosed)
		close(hold)
	})
	want(t, "Submit", signature((*ants.Pool).Submit), "func(*ants.Pool, func()) error")
}

// Partly. For a whole pool, by WithNonblocking.
func TestAntsTry(t *testing.T) {
	p := antsPool(1, ants.WithNonblocking(true))
	defer p.Release()
	hold := make(chan struct{})
	want(t, "first", p.Submit(func() { <-hold }), nil)
	want(t, "second", p.Submit(func() {}), ants.ErrPoolOverload)
	close(hold)
}

// No. Tune refuses 0, and between Release and Reboot tasks are refused.
func TestAntsPausing(t *testing.T) {
	p := antsPool(2)
	p.Tune(0)
	want(t, "Cap after Tune(0)", p.Cap(), 2)
	want(t, "ReleaseTimeout", p.ReleaseTimeout(time.Minute), nil)
	want(t, "Submit", p.Submit(func() {}), ants.ErrPoolClosed)
	p.Reboot()
	var ran atomic.Bool
	want(t, "Submit after Reboot", p.Submit(func() { ran.Store(true) }), nil)
	want(t, "ReleaseTimeout", p.ReleaseTimeout(time.Minute), nil)
	want(t, "ran", ran.Load(), true)
}

// Yes. ReleaseContext refuses callers that wait in Submit. Release does the
// same without waiting for running tasks.
func TestAntsDroppingTheQueue(t *testing.T) {
	begun, running := stopped(t, func(task func()) {
		p := antsPool(1)
		results := make(chan error, 9)
		p.Submit(task)
		for range 9 {
			go func() { results <- p.Submit(task) }()
		}
		synctest.Wait()
		p.ReleaseContext(context.Background())
		for range 9 {
			want(t, "Submit", <-results, ants.ErrPoolClosed)
		}
	})
	want(t, "tasks that began", begun, 1)
	want(t, "tasks that run after ReleaseContext", running, 0)
}

// No. PoolWithFuncGeneric has a typed argument, but no result.
func TestAntsTypedResults(t *testing.T) {
	want(t, "new", signature(ants.NewPoolWithFuncGeneric[int]), "func(int, func(int), ...ants.Option) (*ants.PoolWithFuncGeneric[int], error)")
	want(t, "Invoke", signature((*ants.PoolWithFuncGeneric[int]).Invoke), "func(*ants.PoolWithFuncGeneric[int], int) error")
}

// No. There are no results.
func TestAntsResultsInOrder(t *testing.T) {
	want(t, "Submit", signature((*ants.Pool).Submit), "func(*ants.Pool, func()) error")
	want(t, "Invoke", signature((*ants.PoolWithFunc).Invoke), "func(*ants.PoolWithFunc, interface {}) error")
}

// No. There are no results.
func TestAntsOrderedStream(t *testing.T) {
	methods[*ants.Pool](t, "Cap", "Free", "IsClosed", "Reboot", "Release", "ReleaseContext", "ReleaseTimeout", "Running", "Submit", "Tune", "Waiting")
}

// No. There is no stream: the function of a PoolWithFuncGeneric takes one
// argument a call.
func TestAntsBatches(t *testing.T) {
	want(t, "new", signature(ants.NewPoolWithFuncGeneric[int]), "func(int, func(int), ...ants.Option) (*ants.PoolWithFuncGeneric[int], error)")
	methods[*ants.Pool](t, "Cap", "Free", "IsClosed", "Reboot", "Release", "ReleaseContext", "ReleaseTimeout", "Running", "Submit", "Tune", "Waiting")
}

// Partly. Waiting callers are counted; Running includes idle workers.
func TestAntsStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := antsPool(1)
		defer p.Release()
		hold := make(chan struct{})
		p.Submit(func() { <-hold })
		go p.Submit(func() {})
		synctest.Wait()
		want(t, "Waiting", p.Waiting(), 1)
		close(hold)
		synctest.Wait()
		want(t, "Waiting after all tasks", p.Waiting(), 0)
		want(t, "Running after all tasks", p.Running(), 1)
	})
}

// Yes. The default pool, created on import, has two goroutines outside of any
// bubble.
func TestAntsBubbles(t *testing.T) {
	bubbles(t, func(task func()) {
		p := antsPool(2)
		p.Submit(task)
		p.Submit(task)
		p.ReleaseContext(context.Background())
	})
}

// Partly. The package's Submit uses a default pool, whose limit is
// 2,147,483,647; a zero Pool panics.
func TestAntsZeroValue(t *testing.T) {
	ran := make(chan struct{})
	want(t, "Submit of the package", ants.Submit(func() { close(ran) }), nil)
	<-ran
	contains(t, panics(func() { new(ants.Pool).Submit(func() {}) }), "nil pointer")
}

package features_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	conciter "github.com/sourcegraph/conc/iter"
	concpanics "github.com/sourcegraph/conc/panics"
	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
)

// Yes. Until Wait.
func TestConcWorkerReuse(t *testing.T) {
	n := goroutines(t, func(task func()) {
		p := pool.New().WithMaxGoroutines(1)
		for range 10 {
			p.Go(task)
		}
		p.Wait()
	})
	want(t, "goroutines of 10 tasks", n, 1)
}

// Yes. In pools made by WithContext.
func TestConcContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := pool.New().WithContext(ctx)
	p.Go(func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
	cancel(errStop)
	want(t, "Wait says why", errors.Is(p.Wait(), errStop), true)
}

// Partly. Once: Wait ends the pool, so others cannot go on using it.
func TestConcWaitingForAll(t *testing.T) {
	n := left(t, func(task func() error) {
		p := pool.New().WithErrors()
		for range 10 {
			p.Go(task)
		}
		p.Wait()
	})
	want(t, "tasks that run after Wait", n, 0)
}

// Partly. With a pool for each task, derived from one with a limit; it keeps
// its slot until it is waited for. Go itself returns nothing.
func TestConcWaitingForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := pool.NewWithResults[string]().WithMaxGoroutines(2)
		a, b, c := limited.WithErrors(), limited.WithErrors(), limited.WithErrors()
		hold, went := make(chan struct{}), make(chan struct{})
		a.Go(func() (string, error) { <-hold; return "", nil })
		b.Go(func() (string, error) { return "value", nil })
		go func() { c.Go(func() (string, error) { return "", nil }); close(went) }()
		synctest.Wait() // the task of b has finished
		want(t, "c has begun before b was waited for", closed(went), false)
		values, err := b.Wait() // while the task of a runs
		want(t, "values of b", values, []string{"value"})
		want(t, "error of b", err, nil)
		close(hold)
		a.Wait()
		<-went
		c.Wait()
	})
	want(t, "Go", signature((*pool.ResultPool[string]).Go), "func(*pool.ResultPool[string], func() string)")
}

// Yes. In pools made by WithErrors.
func TestConcErrors(t *testing.T) {
	p := pool.New().WithErrors()
	p.Go(func() error { return errTask })
	want(t, "Wait says what", errors.Is(p.Wait(), errTask), true)
}

// No. WithMaxGoroutines panics after the first task.
func TestConcResizing(t *testing.T) {
	p := pool.New().WithMaxGoroutines(1)
	p.Go(func() {})
	contains(t, panics(func() { p.WithMaxGoroutines(2) }), "can not be reconfigured")
	p.Wait()
}

// Yes.
func TestConcLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		p := pool.New().WithMaxGoroutines(3)
		for range 20 {
			p.Go(task)
		}
		p.Wait()
	})
	want(t, "tasks at once", n, 3)
}

// Partly. Pools derived from one with a limit share it, but keep their slots
// until they are waited for, even when idle.
func TestConcSharedLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		limited := pool.New().WithMaxGoroutines(3)
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() {
				p := limited.WithErrors()
				for range 10 {
					p.Go(func() error { task(); return nil })
				}
				p.Wait()
			})
		}
		callers.Wait()
	})
	want(t, "tasks at once", n, 3)
	synctest.Test(t, func(t *testing.T) {
		limited := pool.New().WithMaxGoroutines(1)
		a, b := limited.WithErrors(), limited.WithErrors()
		a.Go(func() error { return nil })
		synctest.Wait() // that task has finished
		went := make(chan struct{})
		go func() { b.Go(func() error { return nil }); close(went) }()
		synctest.Wait()
		want(t, "b has begun", closed(went), false)
		a.Wait()
		<-went
		b.Wait()
	})
}

// No. A pool derived from one with a limit, and given another limit, has only
// the latter.
func TestConcTwoLimits(t *testing.T) {
	n := atOnce(t, func(task func()) {
		large := pool.New().WithMaxGoroutines(3)
		small := large.WithErrors().WithMaxGoroutines(1)
		var callers sync.WaitGroup
		callers.Go(func() {
			for range 10 {
				large.Go(task)
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
}

// No. Go waits for the slot of the task that calls it, and a pool or a loop
// made in a task has its own limit.
func TestConcNesting(t *testing.T) {
	deadlocks(t, func() {
		p := pool.New().WithMaxGoroutines(1)
		outer := make(chan struct{})
		p.Go(func() {
			inner := make(chan struct{})
			p.Go(func() { close(inner) })
			<-inner
			close(outer)
		})
		<-outer
		p.Wait()
	})
	pools := atOnce(t, func(task func()) {
		p := pool.New().WithMaxGoroutines(2)
		for range 4 {
			p.Go(func() {
				inner := pool.New().WithMaxGoroutines(2)
				for range 4 {
					inner.Go(task)
				}
				inner.Wait()
			})
		}
		p.Wait()
	})
	want(t, "inner tasks at once, in pools of their own", pools, 2*2)
	loops := atOnce(t, func(task func()) {
		two := conciter.Iterator[int]{MaxGoroutines: 2}
		two.ForEach(make([]int, 4), func(*int) {
			two.ForEach(make([]int, 4), func(*int) { task() })
		})
	})
	want(t, "inner items at once, in loops", loops, 2*2)
}

// Partly. A conc.WaitGroup, which has no limit, accepts them; a pool being
// waited for panics in Go.
func TestConcTasksFromTasks(t *testing.T) {
	var wg conc.WaitGroup
	var child bool
	wg.Go(func() { wg.Go(func() { child = true }) })
	wg.Wait()
	want(t, "the child ran", child, true)

	crashes(t, "send on closed channel", func() {
		synctest.Test(t, func(*testing.T) {
			p := pool.New()
			p.Go(func() {
				time.Sleep(time.Second) // Wait has been called by then
				p.Go(func() {})
			})
			panic(fmt.Sprint(panics(p.Wait)))
		})
	})
}

// Partly. The loops of iter use GOMAXPROCS, which suits tasks that compute;
// pools have no limit.
func TestConcAdaptiveLimit(t *testing.T) {
	loop := atOnce(t, func(task func()) {
		conciter.ForEach(make([]int, 1000), func(*int) { task() })
	})
	want(t, "items at once", loop, runtime.GOMAXPROCS(0))
	pooled := atOnce(t, func(task func()) {
		p := pool.New()
		for range 1000 {
			p.Go(task)
		}
		p.Wait()
	})
	want(t, "tasks at once", pooled, 1000)
}

// Partly. The loops of iter take one item at a time from a counter, which costs
// less than a task of a pool: 50 ns instead of 300, by its documentation.
func TestConcChunks(t *testing.T) {
	var others sync.WaitGroup
	others.Add(999)
	conciter.Iterator[int]{MaxGoroutines: 2}.ForEachIdx(make([]int, 1000), func(i int, _ *int) {
		if i == 0 {
			others.Wait() // so no other item shares a chunk with this one
		} else {
			others.Done()
		}
	})
	n := goroutines(t, func(task func()) {
		conciter.Iterator[int]{MaxGoroutines: 2}.ForEach(make([]int, 1000), func(*int) { task() })
	})
	want(t, "goroutines of 1000 items", n, 2)
}

// Partly. The loops of iter have one function, for a slice; a task of a pool
// is a closure.
func TestConcFixedFunction(t *testing.T) {
	var sum atomic.Int64
	add := func(i int, _ *int) { sum.Add(int64(i)) }
	n := allocations(func(n int) {
		conciter.Iterator[int]{MaxGoroutines: 2}.ForEachIdx(make([]int, n), add)
	})
	want(t, "allocations of an item of a loop", n, 0)
	n = allocations(func(n int) {
		p := pool.New().WithMaxGoroutines(1)
		for i := range n {
			p.Go(func() { sum.Add(int64(i)) })
		}
		p.Wait()
	})
	want(t, "a task of a pool allocates", n > 0, true)
}

// Partly. WithCancelOnError cancels the context; tasks that have not started
// run all the same.
func TestConcFirstErrorCancels(t *testing.T) {
	var last error
	n := begun(t, func(task func() error) {
		p := pool.New().WithMaxGoroutines(1).WithContext(context.Background()).WithCancelOnError()
		for range 10 {
			p.Go(func(ctx context.Context) error {
				last = ctx.Err()
				return task()
			})
		}
		p.Wait()
	})
	want(t, "context of the last", last, context.Canceled)
	want(t, "tasks that began", n, 10)
}

// Yes. Joined, unless WithFirstError is given.
func TestConcAllErrors(t *testing.T) {
	p := pool.New().WithErrors()
	second := errors.New("second")
	p.Go(func() error { return errTask })
	p.Go(func() error { return second })
	err := p.Wait()
	want(t, "first", errors.Is(err, errTask), true)
	want(t, "second", errors.Is(err, second), true)
}

// Yes. The first of several panics; errors are then lost.
func TestConcPanics(t *testing.T) {
	p := pool.New()
	p.Go(explode)
	r := panics(p.Wait).(*concpanics.Recovered)
	want(t, "value", r.Value, any("boom"))
	contains(t, string(r.Stack), "features_test.explode")
}

// Partly. The slot is free again and Wait returns, but without an error; Wait
// of a stream never returns.
func TestConcGoexit(t *testing.T) {
	p := pool.New().WithMaxGoroutines(1).WithErrors()
	p.Go(func() error { runtime.Goexit(); return errTask })
	var next bool
	p.Go(func() error { next = true; return nil })
	want(t, "Wait", p.Wait(), nil)
	want(t, "the next task ran", next, true)
	alone(t, func() {
		deadlocks(t, func() {
			s := stream.New()
			s.Go(func() stream.Callback { runtime.Goexit(); return nil })
			s.Wait()
		})
	})
}

// Partly. There is no queue: Go returns when the task starts.
func TestConcBoundedQueue(t *testing.T) {
	n := accepted(t, func(task, took func()) {
		p := pool.New().WithMaxGoroutines(1)
		for range 10 {
			p.Go(task)
			took()
		}
		p.Wait()
	})
	want(t, "tasks accepted while one runs", n, 1)
}

// No. Go continues to wait when the context ends.
func TestConcGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := pool.New().WithMaxGoroutines(1).WithContext(ctx).WithCancelOnError()
		hold, went := make(chan struct{}), make(chan struct{})
		p.Go(func(context.Context) error { <-hold; return nil })
		go func() { p.Go(func(context.Context) error { return nil }); close(went) }()
		cancel()
		synctest.Wait()
		want(t, "Go has returned", closed(went), false)
		close(hold)
		<-went
		p.Wait()
	})
}

// No. Go is the only way to start a task.
func TestConcTry(t *testing.T) {
	methods[*pool.Pool](t, "Go", "MaxGoroutines", "Wait", "WithContext", "WithErrors", "WithMaxGoroutines")
	methods[*pool.ErrorPool](t, "Go", "Wait", "WithContext", "WithFirstError", "WithMaxGoroutines")
	methods[*pool.ContextPool](t, "Go", "Wait", "WithCancelOnError", "WithFirstError", "WithMaxGoroutines")
}

// No. A limit is at least 1, and cannot be changed.
func TestConcPausing(t *testing.T) {
	contains(t, panics(func() { pool.New().WithMaxGoroutines(0) }), "greater than zero")
	methods[*pool.Pool](t, "Go", "MaxGoroutines", "Wait", "WithContext", "WithErrors", "WithMaxGoroutines")
	methods[*stream.Stream](t, "Go", "Wait", "WithMaxGoroutines")
}

// No. There is no queue, and tasks waiting in Go start in any case, also after
// an error or cancellation.
func TestConcDroppingTheQueue(t *testing.T) {
	begun, _ := stopped(t, func(task func()) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p := pool.New().WithMaxGoroutines(1).WithContext(ctx).WithCancelOnError()
		for range 10 {
			p.Go(func(context.Context) error { task(); cancel(); return errTask })
		}
		p.Wait()
	})
	want(t, "tasks that began", begun, 10)
}

// Yes.
func TestConcTypedResults(t *testing.T) {
	p := pool.NewWithResults[string]().WithErrors()
	p.Go(func() (string, error) { return "value", nil })
	values, err := p.Wait()
	want(t, "values", values, []string{"value"})
	want(t, "error", err, nil)
}

// Yes. By iter.Map and MapErr; results of a pool come in the order in which
// tasks finish.
func TestConcResultsInOrder(t *testing.T) {
	const n = 5
	items := []int{0, 1, 2, 3, 4}
	f := backwards(n)
	got := conciter.Mapper[int, int]{MaxGoroutines: n}.Map(items, func(i *int) int { return f(*i) })
	want(t, "results of Map", got, items)

	synctest.Test(t, func(t *testing.T) {
		p := pool.NewWithResults[int]()
		for i := range n {
			p.Go(func() int { time.Sleep(time.Duration(n-i) * time.Second); return i })
		}
		got := p.Wait()
		slices.Reverse(got)
		want(t, "results of a pool, the last first", got, items)
	})
}

// Yes. Package stream, with a function to call in order for each task.
func TestConcOrderedStream(t *testing.T) {
	alone(t, func() {
		ordered(t, func(items iter.Seq[int], f func(int) int, emit func(int)) {
			s := stream.New().WithMaxGoroutines(4)
			for i := range items {
				s.Go(func() stream.Callback {
					r := f(i)
					return func() { emit(r) }
				})
			}
			s.Wait()
		})
	})
}

// No. A stream takes tasks one by one.
func TestConcBatches(t *testing.T) {
	methods[*stream.Stream](t, "Go", "Wait", "WithMaxGoroutines")
	want(t, "Go", signature((*stream.Stream).Go), "func(*stream.Stream, stream.Task)")
}

// No. A pool reports nothing but MaxGoroutines.
func TestConcStatistics(t *testing.T) {
	methods[*pool.Pool](t, "Go", "MaxGoroutines", "Wait", "WithContext", "WithErrors", "WithMaxGoroutines")
	methods[*stream.Stream](t, "Go", "Wait", "WithMaxGoroutines")
}

// Partly. Pools and loops; a stream crashes in the second bubble, since its
// package keeps channels of the first.
func TestConcBubbles(t *testing.T) {
	bubbles(t, func(task func()) {
		p := pool.New().WithMaxGoroutines(2)
		p.Go(task)
		p.Go(task)
		p.Wait()
	})
	crashes(t, "from outside bubble", func() {
		bubbles(t, func(task func()) {
			s := stream.New()
			s.Go(func() stream.Callback { task(); return func() {} })
			s.Wait()
		})
	})
}

// Yes. conc.WaitGroup and iter.Iterator.
func TestConcZeroValue(t *testing.T) {
	var wg conc.WaitGroup
	var ran bool
	wg.Go(func() { ran = true })
	wg.Wait()
	want(t, "ran", ran, true)
	items := []int{1, 2}
	conciter.Iterator[int]{}.ForEach(items, func(i *int) { *i *= 2 })
	want(t, "items", items, []int{2, 4})
}

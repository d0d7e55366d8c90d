package features_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/par"
	"github.com/stint-go/stint/stream"
)

// stintTask converts a task for groups.
func stintTask(f func()) func(context.Context) error {
	return func(context.Context) error { f(); return nil }
}

// Yes. In calls and groups until they return, in pools until a worker has been
// idle for a second.
func TestStintWorkerReuse(t *testing.T) {
	n := goroutines(t, func(task func()) {
		g := stint.NewGroup(context.Background(), stint.Limit(1))
		for range 10 {
			g.Go(stintTask(task))
			synctest.Wait()
		}
		g.Wait()
	})
	want(t, "goroutines of 10 tasks", n, 1)
}

// Yes.
func TestStintContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	g := stint.NewGroup(ctx)
	began := make(chan struct{})
	g.Go(func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	<-began
	cancel(errStop)
	want(t, "Wait", g.Wait(), errStop)
}

// Yes. Once: Wait ends the group, but not its pool or limiter.
func TestStintWaitingForAll(t *testing.T) {
	n := left(t, func(task func() error) {
		workers := stint.NewPool(stint.Limit(10))
		defer workers.Close()
		for range 2 { // the second one uses the workers of the first
			g := stint.NewGroup(context.Background(), workers)
			for range 10 {
				g.Go(func(context.Context) error { return task() })
			}
			g.Wait()
		}
	})
	want(t, "tasks that run after Wait", n, 0)
}

// Partly. With a group with results for each task, under a shared limiter or
// pool; Go itself returns nothing to wait for.
func TestStintWaitingForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := stint.Limit(2)
		a, b := stint.NewResults[string](t.Context(), limit), stint.NewResults[string](t.Context(), limit)
		hold := make(chan struct{})
		a.Go(func(context.Context) (string, error) { <-hold; return "", nil })
		b.Go(func(context.Context) (string, error) { return "value", nil })
		values, err := b.Wait() // while the task of a runs
		want(t, "values of b", values, []string{"value"})
		want(t, "error of b", err, nil)
		close(hold)
		a.Wait()
	})
	want(t, "Go of a group", signature((*stint.Results[string]).Go), "func(*stint.Results[string], func(context.Context) (string, error)) bool")
	want(t, "Go of a pool", signature((*stint.Pool).Go), "func(*stint.Pool, func(context.Context)) error")
}

// Yes.
func TestStintErrors(t *testing.T) {
	fail := func(context.Context, int) error { return errTask }
	want(t, "Range", stint.Range(context.Background(), 1, fail), errTask)
	g := stint.NewGroup(context.Background())
	g.Go(func(context.Context) error { return errTask })
	want(t, "Wait", g.Wait(), errTask)
}

// Yes.
func TestStintResizing(t *testing.T) {
	resized := func(from, to int) int {
		return atOnce(t, func(task func()) {
			limit := stint.Limit(from)
			g := stint.NewGroup(context.Background(), limit)
			for range 10 {
				g.Go(stintTask(func() { time.Sleep(time.Second) }))
			}
			limit.Set(to)
			for range 10 {
				g.Go(stintTask(task))
			}
			g.Wait()
		})
	}
	want(t, "tasks at once after 1 was set to 3", resized(1, 3), 3)
	want(t, "tasks at once after 10 was set to 1", resized(10, 1), 1)
}

// Yes.
func TestStintLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		g := stint.NewGroup(context.Background(), stint.Limit(3))
		for range 20 {
			g.Go(stintTask(task))
		}
		g.Wait()
	})
	want(t, "tasks at once", n, 3)
}

// Yes. A Limiter or a Pool is an option of calls, groups and streams.
func TestStintSharedLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		limit := stint.Limit(3)
		a, b := stint.NewGroup(context.Background(), limit), stint.NewGroup(context.Background(), limit)
		for range 10 {
			a.Go(stintTask(task))
			b.Go(stintTask(task))
		}
		a.Wait()
		b.Wait()
	})
	want(t, "tasks at once", n, 3)
	synctest.Test(t, func(t *testing.T) {
		limit := stint.Limit(2)
		a, b := stint.NewGroup(t.Context(), limit), stint.NewGroup(t.Context(), limit)
		hold := make(chan struct{})
		a.Go(stintTask(func() { <-hold }))
		b.Go(stintTask(func() {}))
		want(t, "b.Wait while a task of a runs", b.Wait(), nil)
		close(hold)
		a.Wait()
	})
}

// No. A call has one limit: a Limiter and a Pool together are refused.
func TestStintTwoLimits(t *testing.T) {
	p := stint.NewPool(stint.Limit(3))
	defer p.Close()
	contains(t, panics(func() { stint.NewGroup(context.Background(), p, stint.Limit(2)) }), "a Pool and a Limiter")
	n := atOnce(t, func(task func()) { // the later one counts
		g := stint.NewGroup(context.Background(), stint.Limit(1), stint.Limit(3))
		for range 10 {
			g.Go(stintTask(task))
		}
		g.Wait()
	})
	want(t, "tasks at once under 1 and 3", n, 3)
}

// Yes. A waiting task lends its permit, if it passes its context and the same
// Limiter or Pool to the call; a call without them has its own limit.
func TestStintNesting(t *testing.T) {
	nested := func(outer *stint.Limiter, inner func() *stint.Limiter) int {
		return atOnce(t, func(task func()) {
			stint.Range(context.Background(), 4, func(ctx context.Context, _ int) error {
				return stint.Range(ctx, 4, func(context.Context, int) error { task(); return nil }, inner())
			}, outer)
		})
	}
	one, two := stint.Limit(1), stint.Limit(2)
	want(t, "inner tasks at once under 1", nested(one, func() *stint.Limiter { return one }), 1)
	want(t, "inner tasks at once under 2", nested(two, func() *stint.Limiter { return two }), 2)
	want(t, "inner tasks at once, in calls with limits of their own", nested(two, func() *stint.Limiter { return stint.Limit(2) }), 2*2)
}

// Yes. By GoContext, with the context of the task.
func TestStintTasksFromTasks(t *testing.T) {
	g := stint.NewGroup(context.Background(), stint.Limit(1), stint.Queue(0))
	var children atomic.Int32
	g.Go(func(ctx context.Context) error {
		for range 10 {
			g.GoContext(ctx, func(context.Context) error { children.Add(1); return nil })
		}
		return nil
	})
	want(t, "Wait", g.Wait(), nil)
	want(t, "children that ran", children.Load(), 10)
}

// Yes. Tasks that compute get a worker per processor. For tasks that wait,
// workers are added while throughput improves, up to 256.
func TestStintAdaptiveLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		stint.Range(context.Background(), 10_000, func(context.Context, int) error { task(); return nil })
	})
	procs := runtime.GOMAXPROCS(0)
	first := max(36, procs) // so many start before anything is known
	if n <= first || n > max(256, procs) {
		t.Errorf("%d tasks at once, want more than %d and at most %d", n, first, max(256, procs))
	}
}

// Yes. In par.Range, which passes the chunks; Each, Map and Range, of par and
// of stint, take several items at once when they measure that these are short.
func TestStintChunks(t *testing.T) {
	const n = 1_000_000
	var calls, items atomic.Int32
	par.Range(n, func(lo, hi int) {
		calls.Add(1)
		items.Add(int32(hi - lo))
	})
	want(t, "items", items.Load(), n)
	if calls := calls.Load(); calls > n/100 {
		t.Errorf("%d calls, want at most one for 100 items", calls)
	}
}

// Partly. Loops and streams have one function, and an item allocates nothing;
// a task of a group or a pool is a closure.
func TestStintFixedFunction(t *testing.T) {
	var sum atomic.Int64
	add := func(_ context.Context, i int) error { sum.Add(int64(i)); return nil }
	n := allocations(func(n int) { stint.Range(context.Background(), n, add, stint.Limit(2)) })
	want(t, "allocations of an item of Range", n, 0)
	n = allocations(func(n int) {
		c := make(chan int)
		go func() {
			defer close(c)
			for i := range n {
				c <- i
			}
		}()
		result := func(ctx context.Context, i int) (int, error) { return i, add(ctx, i) }
		s := stream.ParMap(stream.FromChan(c), result, stint.Limit(2))
		stream.Each(context.Background(), s, func(int) error { return nil })
	})
	want(t, "allocations of an item of a stream", n, 0)
	p := stint.NewPool(stint.Limit(1))
	defer p.Close()
	n = allocations(func(n int) {
		for i := range n {
			p.Go(func(context.Context) { sum.Add(int64(i)) })
		}
	})
	want(t, "a task of a pool allocates", n > 0, true)
}

// Yes.
func TestStintFirstErrorCancels(t *testing.T) {
	var cause error
	n := begun(t, func(task func() error) {
		g := stint.NewGroup(context.Background(), stint.Limit(1))
		var ctx context.Context
		for range 10 {
			g.Go(func(c context.Context) error { ctx = c; return task() })
		}
		g.Wait()
		cause = context.Cause(ctx)
	})
	want(t, "tasks that began", n, 1)
	want(t, "cause", cause, errTask)
}

// Yes. Under KeepGoing, joined, each with the index of its task.
func TestStintAllErrors(t *testing.T) {
	g := stint.NewGroup(context.Background(), stint.KeepGoing())
	second := errors.New("second")
	g.Go(func(context.Context) error { return errTask })
	g.Go(func(context.Context) error { return second })
	err := g.Wait()
	want(t, "first", errors.Is(err, errTask), true)
	want(t, "second", errors.Is(err, second), true)
}

// Yes. Raised again, with the other panics and errors. In tasks of Pool.Go,
// which nobody waits for, it crashes the process or goes to OnPanic.
func TestStintPanics(t *testing.T) {
	g := stint.NewGroup(context.Background())
	g.Go(stintTask(explode))
	p := panics(func() { g.Wait() }).(*stint.PanicError)
	want(t, "value", p.Value, any("boom"))
	contains(t, string(p.Stack), "features_test.explode")
}

// Yes. As ErrGoexit. In Each, Map and Range the caller also runs items; there
// it ends the caller's goroutine, as in a loop.
func TestStintGoexit(t *testing.T) {
	g := stint.NewGroup(context.Background(), stint.Limit(1), stint.KeepGoing())
	g.Go(stintTask(runtime.Goexit))
	var next bool
	g.Go(stintTask(func() { next = true }))
	want(t, "Wait says what", errors.Is(g.Wait(), stint.ErrGoexit), true)
	want(t, "the next task ran", next, true)

	ended, returned := make(chan struct{}), false
	go func() {
		defer close(ended)
		stint.Range(context.Background(), 1, func(context.Context, int) error { runtime.Goexit(); return nil })
		returned = true
	}()
	<-ended
	want(t, "Range returned", returned, false)
}

// Yes. Queue; the default bound is 1,024 or the limit.
func TestStintBoundedQueue(t *testing.T) {
	n := accepted(t, func(task, took func()) {
		g := stint.NewGroup(context.Background(), stint.Limit(1), stint.Queue(2))
		for range 10 {
			g.Go(stintTask(task))
			took()
		}
		g.Wait()
	})
	want(t, "tasks accepted while one runs", n, 1+2)
}

// Yes. GoContext.
func TestStintGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := stint.NewGroup(context.Background(), stint.Limit(1), stint.Queue(0))
		hold := make(chan struct{})
		g.Go(stintTask(func() { <-hold }))
		ctx, cancel := context.WithCancelCause(context.Background())
		go func() { synctest.Wait(); cancel(errStop) }()
		want(t, "GoContext", g.GoContext(ctx, stintTask(func() {})), errStop)
		close(hold)
		want(t, "Wait", g.Wait(), nil)
	})
}

// Yes. TryGo.
func TestStintTry(t *testing.T) {
	g := stint.NewGroup(context.Background(), stint.Limit(1), stint.Queue(0))
	hold := make(chan struct{})
	want(t, "first", g.TryGo(stintTask(func() { <-hold })), true)
	want(t, "second", g.TryGo(stintTask(func() {})), false)
	close(hold)
	g.Wait()
}

// No. A limit is at least 1, of a pool too.
func TestStintPausing(t *testing.T) {
	p := stint.NewPool(stint.Limit(1))
	defer p.Close()
	contains(t, panics(func() { p.SetLimit(0) }), "want 1 or more")
	contains(t, panics(func() { stint.Limit(1).Set(0) }), "want 1 or more")
	methods[*stint.Group](t, "Go", "GoContext", "TryGo", "Wait")
	methods[*stint.Pool](t, "Close", "Go", "GoContext", "Idle", "SetLimit", "Shutdown", "Stats", "TryGo")
}

// Yes. Shutdown of a pool, when its context ends, or the end of a group's
// context. The context of running tasks ends too.
func TestStintDroppingTheQueue(t *testing.T) {
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(errStop)
	begun, running := stopped(t, func(task func()) {
		p := stint.NewPool(stint.Limit(1))
		var ctx context.Context
		for range 10 {
			p.Go(func(c context.Context) { ctx = c; task() })
		}
		synctest.Wait()
		dropped, err := p.Shutdown(ended)
		want(t, "tasks dropped", dropped, 9)
		want(t, "error", err, errStop)
		want(t, "the context of the task has ended", ctx.Err(), context.Canceled)
	})
	want(t, "tasks of a pool that began", begun, 1)
	want(t, "tasks that run after Shutdown", running, 0)

	begun, running = stopped(t, func(task func()) {
		ctx, cancel := context.WithCancelCause(context.Background())
		g := stint.NewGroup(ctx, stint.Limit(1))
		for range 10 {
			g.Go(stintTask(task))
		}
		synctest.Wait()
		cancel(errStop)
		want(t, "Wait", g.Wait(), errStop)
	})
	want(t, "tasks of a group that began", begun, 1)
	want(t, "tasks that run after Wait", running, 0)
}

// Yes.
func TestStintTypedResults(t *testing.T) {
	g := stint.NewResults[string](context.Background())
	g.Go(func(context.Context) (string, error) { return "value", nil })
	values, err := g.Wait()
	want(t, "values", values, []string{"value"})
	want(t, "error", err, nil)
}

// Yes. Map, and groups with results.
func TestStintResultsInOrder(t *testing.T) {
	const n = 5
	items := []int{0, 1, 2, 3, 4}
	f := backwards(n)
	got, err := stint.Map(context.Background(), items, func(_ context.Context, i int) (int, error) { return f(i), nil }, stint.Limit(n))
	want(t, "results of Map", got, items)
	want(t, "error", err, nil)

	f = backwards(n)
	g := stint.NewResults[int](context.Background(), stint.Limit(n))
	for i := range n {
		g.Go(func(context.Context) (int, error) { return f(i), nil })
	}
	got, err = g.Wait()
	want(t, "results of a group", got, items)
	want(t, "error", err, nil)
}

// Yes. MapSeq, and stream.ParMap between stages.
func TestStintOrderedStream(t *testing.T) {
	ordered(t, func(items iter.Seq[int], f func(int) int, emit func(int)) {
		square := func(_ context.Context, i int) (int, error) { return f(i), nil }
		for r, err := range stint.MapSeq(context.Background(), items, square, stint.Limit(4)) {
			want(t, "error", err, nil)
			emit(r)
		}
	})
}

// Yes. Chunk of package stream, to within a millisecond.
func TestStintBatches(t *testing.T) {
	batched(t, func(items <-chan int, size int, linger time.Duration, emit func([]int)) {
		for batch, err := range stream.Chunk(stream.FromChan(items), size, linger).All(context.Background()) {
			want(t, "error", err, nil)
			emit(batch)
		}
	})
}

// Yes. Of pools and limiters.
func TestStintStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		hold := make(chan struct{})
		for range 3 {
			p.Go(func(context.Context) { <-hold })
		}
		synctest.Wait()
		s := p.Stats()
		want(t, "Running", s.Running, 1)
		want(t, "Queued", s.Queued, 2)
		close(hold)
		p.Close()
		want(t, "Completed", p.Stats().Completed, 3)
	})
}

// Yes. A pool that is not closed keeps the bubble from ending.
func TestStintBubbles(t *testing.T) {
	bubbles(t, func(task func()) {
		g := stint.NewGroup(context.Background(), stint.Limit(2))
		g.Go(stintTask(task))
		g.Go(stintTask(task))
		g.Wait()
	})
	bubbles(t, func(task func()) {
		p := stint.NewPool(stint.Limit(2))
		p.Go(func(context.Context) { task() })
		p.Close()
	})
	bubbles(t, func(task func()) {
		items := func(yield func(int) bool) { _ = yield(0) && yield(1) }
		f := func(context.Context, int) (int, error) { task(); return 0, nil }
		for range stint.MapSeq(context.Background(), items, f, stint.Limit(2)) {
		}
	})
}

// Partly. Each, Map and Range are functions; groups, pools and limiters have
// constructors, and a zero Group panics.
func TestStintZeroValue(t *testing.T) {
	var ran bool
	want(t, "Range", stint.Range(context.Background(), 1, func(context.Context, int) error { ran = true; return nil }), nil)
	want(t, "ran", ran, true)
	contains(t, panics(func() { new(stint.Group).Go(stintTask(func() {})) }), "not made by NewGroup")
}

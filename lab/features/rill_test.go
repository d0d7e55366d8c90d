package features_test

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/destel/rill"
)

// rillItems returns a stream of n numbers from 0.
func rillItems(n int) <-chan rill.Try[int] {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	return rill.FromSlice(items, nil)
}

// rillCalls starts a stage whose items are calls, n concurrently. They are sent
// to in; wait ends the stage and waits for it.
func rillCalls(n int) (in chan<- rill.Try[func()], wait func()) {
	c, done := make(chan rill.Try[func()]), make(chan struct{})
	go func() {
		defer close(done)
		rill.ForEach(c, n, func(f func()) error { f(); return nil })
	}()
	return c, func() { close(c); <-done }
}

// Yes. During a call: n goroutines take the items.
func TestRillWorkerReuse(t *testing.T) {
	n := goroutines(t, func(task func()) {
		rill.ForEach(rillItems(10), 2, func(int) error { task(); return nil })
	})
	want(t, "goroutines of 10 items", n, 2)
}

// No. Functions receive only the item.
func TestRillContext(t *testing.T) {
	want(t, "ForEach", signature(rill.ForEach[int]), "func(<-chan rill.Try[int], int, func(int) error) error")
	want(t, "Map", signature(rill.Map[int, int]), "func(<-chan rill.Try[int], int, func(int) (int, error)) <-chan rill.Try[int]")
}

// Partly. After an error a call returns while other items run.
func TestRillWaitingForAll(t *testing.T) {
	n := left(t, func(task func() error) {
		rill.ForEach(rillItems(10), 10, func(int) error { return task() })
	})
	want(t, "items that run after ForEach", n, 9)
	n = left(t, func(task func() error) {
		rill.ForEach(rillItems(10), 10, func(int) error { task(); return nil })
	})
	want(t, "items that run after ForEach, without an error", n, 0)
}

// No. The results of a stage come in one channel, and a stage for each task has
// its own limit.
func TestRillWaitingForOne(t *testing.T) {
	n := atOnce(t, func(task func()) {
		var each []<-chan rill.Try[int]
		for range 10 {
			each = append(each, rill.Map(rillItems(1), 1, func(i int) (int, error) { task(); return i, nil }))
		}
		for _, one := range each {
			_, found, err := rill.First(one)
			want(t, "found", found, true)
			want(t, "error", err, nil)
		}
	})
	want(t, "items at once", n, 10*1)
	want(t, "Map", signature(rill.Map[int, int]), "func(<-chan rill.Try[int], int, func(int) (int, error)) <-chan rill.Try[int]")
}

// Yes.
func TestRillErrors(t *testing.T) {
	err := rill.ForEach(rillItems(10), 2, func(int) error { return errTask })
	want(t, "ForEach", err, errTask)
}

// No. The number is an argument of each function, which returns a channel or an
// error.
func TestRillResizing(t *testing.T) {
	want(t, "ForEach", signature(rill.ForEach[int]), "func(<-chan rill.Try[int], int, func(int) error) error")
	want(t, "Map", signature(rill.Map[int, int]), "func(<-chan rill.Try[int], int, func(int) (int, error)) <-chan rill.Try[int]")
}

// Yes.
func TestRillLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		rill.ForEach(rillItems(20), 3, func(int) error { task(); return nil })
	})
	want(t, "items at once", n, 3)
}

// Partly. Callers send to one stage; each needs a sync.WaitGroup to wait for
// its own items. Separate calls have separate goroutines.
func TestRillSharedLimit(t *testing.T) {
	shared := atOnce(t, func(task func()) {
		in, wait := rillCalls(3)
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() {
				var own sync.WaitGroup
				for range 10 {
					own.Add(1)
					in <- rill.Wrap(func() { defer own.Done(); task() }, nil)
				}
				own.Wait()
			})
		}
		callers.Wait()
		wait()
	})
	want(t, "items at once in one stage", shared, 3)
	own := atOnce(t, func(task func()) {
		one := rill.Map(rillItems(10), 3, func(int) (int, error) { task(); return 0, nil })
		other := rill.Map(rillItems(10), 3, func(int) (int, error) { task(); return 0, nil })
		rill.Drain(rill.Merge(one, other))
	})
	want(t, "items at once in two stages", own, 3+3)
}

// No. A stage has one number, independent of other stages.
func TestRillTwoLimits(t *testing.T) {
	n := atOnce(t, func(task func()) {
		f := func(i int) (int, error) { task(); return i, nil }
		rill.Drain(rill.Merge(rill.Map(rillItems(10), 1, f), rill.Map(rillItems(10), 3, f)))
	})
	want(t, "items at once", n, 1+3)
	want(t, "Map", signature(rill.Map[int, int]), "func(<-chan rill.Try[int], int, func(int) (int, error)) <-chan rill.Try[int]")
}

// Partly. By a select on the stage's channel, if the function itself does
// refused work and uses a sync.WaitGroup. A call in a call has its own
// goroutines and limit.
func TestRillNesting(t *testing.T) {
	tried := atOnce(t, func(task func()) {
		in, wait := rillCalls(1)
		var outer sync.WaitGroup
		for range 2 {
			outer.Add(1)
			in <- rill.Wrap(func() {
				defer outer.Done()
				var inner sync.WaitGroup
				inner.Add(2)
				for range 2 {
					f := func() { defer inner.Done(); task() }
					select {
					case in <- rill.Wrap(f, nil):
					default:
						f()
					}
				}
				inner.Wait()
			}, nil)
		}
		outer.Wait()
		wait()
	})
	want(t, "inner items at once, by select", tried, 1)
	own := atOnce(t, func(task func()) {
		rill.ForEach(rillItems(4), 2, func(int) error {
			return rill.ForEach(rillItems(4), 2, func(int) error { task(); return nil })
		})
	})
	want(t, "inner items at once, in calls of their own", own, 2*2)
}

// Partly. While the channel has room, or a goroutine is free; functions that
// send to their own input wait for ever when all do.
func TestRillTasksFromTasks(t *testing.T) {
	family := func(room int) {
		in := make(chan rill.Try[int], room)
		in <- rill.Wrap(2, nil) // has two children
		var ran atomic.Int32
		rill.ForEach(in, 1, func(children int) error {
			for range children {
				in <- rill.Wrap(0, nil)
			}
			if ran.Add(1) == 3 {
				close(in)
			}
			return nil
		})
		want(t, "items that ran", ran.Load(), 3)
	}
	family(2)
	deadlocks(t, func() { family(1) })
}

// No. The number is required.
func TestRillAdaptiveLimit(t *testing.T) {
	n := begun(t, func(task func() error) {
		rill.ForEach(rillItems(10), 0, func(int) error { return task() })
	})
	want(t, "items that began", n, 0)
}

// Partly. Batch makes slices of a given size; items still arrive one by one.
func TestRillChunks(t *testing.T) {
	var calls atomic.Int32
	rill.ForEach(rill.Batch(rillItems(1000), 100, -1), 2, func(batch []int) error {
		want(t, "items in a batch", len(batch), 100)
		calls.Add(1)
		return nil
	})
	want(t, "calls", calls.Load(), 10)
	want(t, "Batch takes", signature(rill.Batch[int]), "func(<-chan rill.Try[int], int, time.Duration) <-chan rill.Try[[]int]")
}

// Partly. There is no pool: a stage has one function, and sending an item to
// its channel allocates nothing.
func TestRillFixedFunction(t *testing.T) {
	var sum atomic.Int64
	n := allocations(func(n int) {
		in := make(chan rill.Try[int])
		go func() {
			defer close(in)
			for i := range n {
				in <- rill.Wrap(i, nil)
			}
		}()
		rill.ForEach(in, 2, func(i int) error { sum.Add(int64(i)); return nil })
	})
	want(t, "allocations of an item", n, 0)
}

// Partly. No further item starts; running ones have no context to watch.
func TestRillFirstErrorCancels(t *testing.T) {
	n := begun(t, func(task func() error) {
		rill.ForEach(rillItems(10), 1, func(int) error { return task() })
	})
	want(t, "items that began", n, 1)
	want(t, "ForEach", signature(rill.ForEach[int]), "func(<-chan rill.Try[int], int, func(int) error) error")
}

// Yes. They are items of the stream. Functions that end a stream, such as
// ForEach, return the first.
func TestRillAllErrors(t *testing.T) {
	failed := 0
	for _, err := range rill.ToSeq2(rill.Map(rillItems(10), 2, func(int) (int, error) { return 0, errTask })) {
		if err != nil {
			failed++
		}
	}
	want(t, "errors", failed, 10)
}

// No. It crashes the process.
func TestRillPanics(t *testing.T) {
	crashes(t, "panic: boom", func() {
		defer func() { recover() }()
		rill.ForEach(rillItems(1), 2, func(int) error { explode(); return nil })
	})
}

// No. Its goroutine is lost. ForEach with one goroutine waits for ever; with
// more the item counts as done, and is missing from the results of Map.
func TestRillGoexit(t *testing.T) {
	exit := func(i int) (int, error) {
		if i == 1 {
			runtime.Goexit()
		}
		return i, nil
	}
	deadlocks(t, func() {
		rill.ForEach(rillItems(3), 1, func(i int) error { _, err := exit(i); return err })
	})
	got, err := rill.ToSlice(rill.Map(rillItems(3), 2, exit))
	slices.Sort(got)
	want(t, "results", got, []int{0, 2})
	want(t, "error", err, nil)
}

// Yes. Buffer, or a channel with a buffer.
func TestRillBoundedQueue(t *testing.T) {
	n := accepted(t, func(task, took func()) {
		in := rill.Generate(func(send func(int), _ func(error)) {
			for i := range 10 {
				send(i)
				took()
			}
		})
		rill.ForEach(rill.Buffer(in, 2), 1, func(int) error { task(); return nil })
	})
	want(t, "items accepted while one runs", n, 1+2)
}

// Partly. Senders to a channel can select; Generate's send function waits.
func TestRillGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		in, hold := make(chan rill.Try[int]), make(chan struct{})
		out := rill.Map(in, 1, func(i int) (int, error) { <-hold; return i, nil })
		send := func(i int) error {
			select {
			case in <- rill.Wrap(i, nil):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		want(t, "first", send(1), nil)
		go func() { synctest.Wait(); cancel(errStop) }()
		want(t, "second", send(2), errStop)
		close(hold)
		close(in)
		got, err := rill.ToSlice(out)
		want(t, "results", got, []int{1})
		want(t, "error", err, nil)
	})
	want(t, "Generate", signature(rill.Generate[int]), "func(func(func(int), func(error))) <-chan rill.Try[int]")
}

// Partly. Senders to a channel can select; Generate's send function waits.
func TestRillTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, hold := make(chan rill.Try[int]), make(chan struct{})
		out := rill.Map(in, 1, func(i int) (int, error) { <-hold; return i, nil })
		try := func(i int) bool {
			synctest.Wait() // until the stage blocks
			select {
			case in <- rill.Wrap(i, nil):
				return true
			default:
				return false
			}
		}
		want(t, "first", try(1), true)
		want(t, "second", try(2), false)
		close(hold)
		close(in)
		rill.Drain(out)
	})
	want(t, "Generate", signature(rill.Generate[int]), "func(func(func(int), func(error))) <-chan rill.Try[int]")
}

// No. A stage stops while nobody reads its results, but then accepts no items.
func TestRillPausing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := make(chan rill.Try[int])
		out := rill.Map(in, 1, func(i int) (int, error) { return i, nil })
		in <- rill.Wrap(1, nil)
		synctest.Wait() // its result is not read
		taken := make(chan struct{})
		go func() { in <- rill.Wrap(2, nil); close(taken); close(in) }()
		synctest.Wait()
		want(t, "the second is taken", closed(taken), false)
		got, err := rill.ToSlice(out)
		want(t, "results", got, []int{1, 2})
		want(t, "error", err, nil)
	})
}

// Partly. After an error ForEach drops further items, but does not wait for
// running ones; when a loop over results ends early, earlier stages continue.
func TestRillDroppingTheQueue(t *testing.T) {
	begun, running := stopped(t, func(task func()) {
		rill.ForEach(rillItems(10), 2, func(i int) error {
			if i == 0 {
				synctest.Wait() // until the other goroutine has an item
				return errTask
			}
			task()
			return nil
		})
	})
	want(t, "items that began beside that which failed", begun, 1)
	want(t, "items that run after ForEach", running, 1)
	begun, _ = stopped(t, func(task func()) {
		for range rill.ToSeq2(rill.Map(rillItems(10), 1, func(i int) (int, error) { task(); return i, nil })) {
			break
		}
	})
	want(t, "items that began, when the loop is left after one", begun, 10)
}

// Yes.
func TestRillTypedResults(t *testing.T) {
	got, err := rill.ToSlice(rill.Map(rillItems(1), 1, func(int) (string, error) { return "value", nil }))
	want(t, "values", got, []string{"value"})
	want(t, "error", err, nil)
}

// Yes. OrderedMap and similar functions.
func TestRillResultsInOrder(t *testing.T) {
	const n = 5
	f := backwards(n)
	got, err := rill.ToSlice(rill.OrderedMap(rillItems(n), n, func(i int) (int, error) { return f(i), nil }))
	want(t, "results", got, []int{0, 1, 2, 3, 4})
	want(t, "error", err, nil)
}

// Yes. OrderedMap and similar functions.
func TestRillOrderedStream(t *testing.T) {
	alone(t, func() {
		ordered(t, func(items iter.Seq[int], f func(int) int, emit func(int)) {
			out := rill.OrderedMap(rill.FromSeq(items, nil), 4, func(i int) (int, error) { return f(i), nil })
			for r := range rill.ToSeq2(out) {
				emit(r)
			}
		})
	})
}

// Yes. Batch.
func TestRillBatches(t *testing.T) {
	batched(t, func(items <-chan int, size int, linger time.Duration, emit func([]int)) {
		for batch, err := range rill.ToSeq2(rill.Batch(rill.FromChan(items, nil), size, linger)) {
			want(t, "error", err, nil)
			emit(batch)
		}
	})
}

// Partly. The length of a stage's input channel is the number of waiting items;
// the number of running ones is not available.
func TestRillStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold, done := make(chan struct{}), make(chan struct{})
		in := make(chan rill.Try[int], 10)
		for i := range 10 {
			in <- rill.Wrap(i, nil)
		}
		close(in)
		go func() { rill.ForEach(in, 2, func(int) error { <-hold; return nil }); close(done) }()
		synctest.Wait()
		want(t, "length", len(in), 10-2)
		close(hold)
		<-done
	})
	want(t, "ForEach", signature(rill.ForEach[int]), "func(<-chan rill.Try[int], int, func(int) error) error")
}

// Partly. Unordered functions; ordered ones crash in the second bubble, since
// their package keeps channels of the first.
func TestRillBubbles(t *testing.T) {
	bubbles(t, func(task func()) {
		rill.ForEach(rillItems(2), 2, func(int) error { task(); return nil })
	})
	crashes(t, "from outside bubble", func() {
		bubbles(t, func(task func()) {
			rill.Drain(rill.OrderedMap(rillItems(2), 2, func(int) (int, error) { task(); return 0, nil }))
		})
	})
}

// Yes. Functions take channels.
func TestRillZeroValue(t *testing.T) {
	in := make(chan rill.Try[int], 1)
	in <- rill.Try[int]{}
	close(in)
	got, err := rill.ToSlice(rill.Map(in, 1, func(i int) (int, error) { return i + 1, nil }))
	want(t, "results", got, []int{1})
	want(t, "error", err, nil)
}

package features_test

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

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

// Yes. For a call: n goroutines take the items.
func TestRillWorkerReuse(t *testing.T) {
	n := goroutines(t, func(task func()) {
		rill.ForEach(rillItems(10), 2, func(int) error { task(); return nil })
	})
	want(t, "goroutines of 10 items", n, 2)
}

// No. Functions get the item only.
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

// Yes.
func TestRillErrors(t *testing.T) {
	err := rill.ForEach(rillItems(10), 2, func(int) error { return errTask })
	want(t, "ForEach", err, errTask)
}

// No. The number is an argument of each function, and what comes back is a
// channel or an error.
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

// No. Each call has goroutines of its own.
func TestRillSharedLimit(t *testing.T) {
	n := atOnce(t, func(task func()) {
		one := rill.Map(rillItems(10), 3, func(int) (int, error) { task(); return 0, nil })
		other := rill.Map(rillItems(10), 3, func(int) (int, error) { task(); return 0, nil })
		rill.Drain(rill.Merge(one, other))
	})
	want(t, "items at once", n, 3+3)
}

// Partly. A call in a call has goroutines of its own, so that it waits for
// nobody, and there is no limit for the two together.
func TestRillNesting(t *testing.T) {
	n := atOnce(t, func(task func()) {
		rill.ForEach(rillItems(4), 2, func(int) error {
			return rill.ForEach(rillItems(4), 2, func(int) error { task(); return nil })
		})
	})
	want(t, "inner items at once", n, 2*2)
}

// No. A stage takes what its input gives; a function that sends to that input
// waits for ever when all of them do.
func TestRillTasksFromTasks(t *testing.T) {
	deadlocks(t, func() {
		in := make(chan rill.Try[int], 1)
		in <- rill.Try[int]{Value: 2}
		rill.ForEach(in, 1, func(i int) error {
			for range i { // children
				in <- rill.Try[int]{}
			}
			return nil
		})
	})
}

// No. Without a number nothing runs.
func TestRillFindingTheLimit(t *testing.T) {
	n := begun(t, func(task func() error) {
		rill.ForEach(rillItems(10), 0, func(int) error { return task() })
	})
	want(t, "items that began", n, 0)
}

// Partly. Batch makes slices of a size that the caller gives; the items come
// to it one by one.
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

// Partly. No further item begins; those that run have no context to see it by.
func TestRillFirstErrorCancels(t *testing.T) {
	n := begun(t, func(task func() error) {
		rill.ForEach(rillItems(10), 1, func(int) error { return task() })
	})
	want(t, "items that began", n, 1)
	want(t, "ForEach", signature(rill.ForEach[int]), "func(<-chan rill.Try[int], int, func(int) error) error")
}

// Yes. They are items of the stream. Functions that end one, as ForEach,
// return the first.
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
// more of them the item counts as done, and is missing from the results of Map.
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

// Yes. Buffer, or a channel with one.
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

// Yes. The input is a channel, so the sender can select.
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
}

// Yes. The input is a channel, so the sender can select.
func TestRillTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, hold := make(chan rill.Try[int]), make(chan struct{})
		out := rill.Map(in, 1, func(i int) (int, error) { <-hold; return i, nil })
		try := func(i int) bool {
			synctest.Wait() // until the stage does what it does
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
}

// Yes.
func TestRillTypedResults(t *testing.T) {
	got, err := rill.ToSlice(rill.Map(rillItems(1), 1, func(int) (string, error) { return "value", nil }))
	want(t, "values", got, []string{"value"})
	want(t, "error", err, nil)
}

// Yes. OrderedMap and its like.
func TestRillResultsInOrder(t *testing.T) {
	const n = 5
	f := backwards(n)
	got, err := rill.ToSlice(rill.OrderedMap(rillItems(n), n, func(i int) (int, error) { return f(i), nil }))
	want(t, "results", got, []int{0, 1, 2, 3, 4})
	want(t, "error", err, nil)
}

// Yes. OrderedMap and its like.
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

// No. A stage is a channel.
func TestRillStatistics(t *testing.T) {
	want(t, "Map", signature(rill.Map[int, int]), "func(<-chan rill.Try[int], int, func(int) (int, error)) <-chan rill.Try[int]")
	want(t, "ForEach", signature(rill.ForEach[int]), "func(<-chan rill.Try[int], int, func(int) error) error")
}

// Partly. Functions without order; the ordered ones crash in the second
// bubble, since their package keeps channels of the first one.
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

// Yes. There is nothing to make: functions take channels.
func TestRillZeroValue(t *testing.T) {
	in := make(chan rill.Try[int], 1)
	in <- rill.Try[int]{}
	close(in)
	got, err := rill.ToSlice(rill.Map(in, 1, func(i int) (int, error) { return i + 1, nil }))
	want(t, "results", got, []int{1})
	want(t, "error", err, nil)
}

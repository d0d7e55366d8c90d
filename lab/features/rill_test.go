package features

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/destel/rill"
)

// rillItems returns a stream of the numbers below n.
func rillItems(n int) <-chan rill.Try[int] {
	return rill.Generate(func(send func(int), _ func(error)) {
		for i := range n {
			send(i)
		}
	})
}

// rillStage returns a stage whose items are tasks, which are sent to a channel with room.
func rillStage(limit, room int) *group {
	in := make(chan rill.Try[task], room)
	var err error
	done := start(func() { err = rill.ForEach(in, limit, func(f task) error { return f(ever) }) })
	end := sync.OnceFunc(func() { close(in); <-done })
	return &group{
		Go: func(ctx context.Context, f task) {
			select {
			case in <- rill.Wrap(f, nil):
			case <-ctx.Done():
			}
		},
		Wait: func() error { end(); return err },
		Try: func(f task) bool {
			select {
			case in <- rill.Wrap(f, nil):
				return true
			default:
				return false
			}
		},
		Stats: func() (int, int) { return -1, len(in) },
	}
}

var rillLibrary = library{
	open:  func(_ context.Context, limit int) *group { return rillStage(limit, 0) },
	queue: func(_ context.Context, limit, room int) *group { return rillStage(limit, room) },
	single: func(limit int) func(func() string) func() string { // a stage for each task
		return func(f func() string) func() string {
			out := rill.Map(rillItems(1), limit, func(int) (string, error) { return f(), nil })
			return func() string { value, _, _ := rill.First(out); return value } // found, and no error
		}
	},
	each: func(limit, n int, f func(int)) {
		_ = rill.ForEach(rillItems(n), limit, func(i int) error { f(i); return nil })
	},
	loop: func(n int, f func(lo, hi int)) {
		_ = rill.ForEach(rill.Batch(rillItems(n), 100, -1), 2, func(b []int) error { f(b[0], b[0]+len(b)); return nil })
	},
	mapped: func(items []int, f func(int) string) []string {
		same := func(i int) (string, error) { return f(i), nil }
		got, _ := rill.ToSlice(rill.OrderedMap(rill.FromSlice(items, nil), len(items), same)) // no error
		return got
	},
	stream: func(items iter.Seq[int], f func(int) int, emit func(int)) {
		for r := range rill.ToSeq2(rill.OrderedMap(rill.FromSeq(items, nil), 4, func(i int) (int, error) { return f(i), nil })) {
			emit(r)
		}
	},
	batches: func(items <-chan int, size int, linger time.Duration, emit func([]int)) {
		for b := range rill.ToSeq2(rill.Batch(rill.FromChan(items, nil), size, linger)) {
			emit(b)
		}
	},
	outside: func(f func()) {
		rill.Drain(rill.OrderedMap(rillItems(2), 2, func(int) (int, error) { f(); return 0, nil }))
	},
	zero: func(f func()) {
		in := make(chan rill.Try[int], 1)
		in <- rill.Try[int]{}
		close(in)
		_ = rill.ForEach(in, 1, func(int) error { f(); return nil })
	},
	shows: map[string]demonstration{
		"Chunks":         partly(chunks),
		"Fixed function": partly(fixedFunction),
		"All errors": func(*testing.T, *library) Answer {
			failed := 0
			for _, err := range rill.ToSeq2(rill.Map(rillItems(10), 2, func(int) (int, error) { return 0, errTask })) {
				if err != nil {
					failed++
				}
			}
			return grade(failed == 10, true)
		},
		"Giving up":          partly(givingUp),
		"Try":                partly(try),
		"Dropping the queue": rillDrops,
	},
}

// rillDrops lets an item fail while another one runs.
func rillDrops(*testing.T, *library) Answer {
	var tasks gauge
	_ = rill.ForEach(rillItems(10), 2, func(i int) error {
		if i == 0 {
			synctest.Wait() // until the other goroutine has an item
			return errTask
		}
		tasks.task()
		return nil
	})
	_, left := tasks.counts()
	time.Sleep(time.Minute) // items that were not dropped begin
	begun, _ := tasks.counts()
	return grade(begun == 1, left == 0)
}

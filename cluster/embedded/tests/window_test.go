package tests

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// A run pulls no item while WindowBytes are in progress: items whose results are missing, and
// results that were not delivered.
func TestWindowBytes(t *testing.T) {
	t.Parallel()
	const n, result, window = 100, 1000, 20
	for _, unordered := range []bool{false, true} {
		where := newServer(t)
		var pulled, taken, first atomic.Int64
		task := cluster.NewTask("fill/v1", func(context.Context, int) (string, error) {
			first.CompareAndSwap(0, pulled.Load())
			return strings.Repeat("x", result-len(`""`)), nil
		})
		serve(t, connect(t, where), 4, task)
		in := func(yield func(int) bool) {
			for i := range n {
				if got := pulled.Add(1) - taken.Load(); got > window+1 { // one is being taken
					t.Errorf("%d items are pulled and not taken, want %d at most", got, window)
				}
				if !yield(i) {
					return
				}
			}
		}
		opts := []cluster.Option{cluster.WindowBytes(window * result)}
		if unordered {
			opts = append(opts, cluster.Unordered())
		}
		for out, err := range cluster.MapSeq(bounded(t), connect(t, where), task, in, opts...) {
			if err != nil || len(out) != result-len(`""`) {
				t.Fatalf("result %d: %d bytes, %v", taken.Load(), len(out), err)
			}
			want := min(n, taken.Add(1)+window)
			eventually(t, "as many are pulled as there is room for", func() bool { return pulled.Load() == want })
		}
		equal(t, "number of results", taken.Load(), n)
		equal(t, "items pulled before it is known how large results are", first.Load(), 1)
		look(t, where).nothingLeft(t)
	}
}

// An item that is larger than WindowBytes goes alone.
func TestWindowBytesOfLargeItems(t *testing.T) {
	t.Parallel()
	const n = 5
	where, j := newServer(t), newJournal(t)
	task := newTask(j)
	serve(t, connect(t, where), 4, task)
	begin(bounded(t), connect(t, where), task, items(n, item{}), cluster.WindowBytes(1)).succeed(t, n)
	running := 0
	for _, e := range j.events(t) {
		if e.What == "begin" {
			running++
		} else {
			running--
		}
		if running > 1 {
			t.Fatal("two tasks run at once")
		}
	}
}

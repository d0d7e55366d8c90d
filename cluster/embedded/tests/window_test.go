package tests

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// A run pulls no further item while as many bytes are under way as it may have: items and
// results that are not there yet, and results that are not taken.
func TestWindowBytes(t *testing.T) {
	t.Parallel()
	const n, result, window = 100, 1000, 20
	for _, unordered := range []bool{false, true} {
		where := newServer(t)
		var pulled, taken, first atomic.Int64
		task := cluster.NewTask("fill/v1", func(context.Context, int) (string, error) {
			first.CompareAndSwap(0, pulled.Load())
			return strings.Repeat("x", result-len(`""`)), nil
		}, cluster.WindowBytes(window*result))
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
		var opts []stint.Option
		if unordered {
			opts = append(opts, stint.Unordered())
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

// An item that is larger than all that may be under way goes alone.
func TestWindowBytesOfLargeItems(t *testing.T) {
	t.Parallel()
	const n = 5
	where, j := newServer(t), newJournal(t)
	task := newTask(j, cluster.WindowBytes(1))
	serve(t, connect(t, where), 4, task)
	begin(bounded(t), connect(t, where), task, items(n, item{})).succeed(t, n)
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

func TestWindowBytesOfNothing(t *testing.T) {
	t.Parallel()
	defer func() { equal(t, "panic", recover(), any("cluster: WindowBytes(0): want 1 or more")) }()
	cluster.WindowBytes(0)
}

package loop

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/task"
)

// computing is a job that begins calls in one of three ways.
type computing struct {
	f   func(i int)
	way int // 0: one at a time, 1: some, 2: all that there are
}

func (c *computing) Calls(_ context.Context, s *Batch) error {
	switch c.way {
	case 0:
		for i, ok := s.At, true; ok; ok = s.Begin(i) {
			c.f(i)
			i++
		}
	case 1:
		for lo, hi := s.First(); lo < hi; lo, hi = hi, s.Some(hi) {
			for i := lo; i < hi; i++ {
				c.f(i)
			}
		}
	case 2:
		for lo, hi := s.All(); lo < hi; lo++ {
			c.f(lo)
		}
	}
	return nil
}

func (c *computing) Failed(int, task.Outcome) bool { return true }
func (c *computing) Abandoned()                    {}

// compute returns a loop that computes, with the cost of an item given or not.
func compute(first, n, procs, way int, cost int64, f func(i int)) *Loop {
	return &Loop{
		First: first, N: n, Context: context.Background(), Body: &computing{f, way},
		Limit: procs, Procs: procs, Cost: cost, Compute: true,
	}
}

// A loop that computes calls each index from its first to its last once, however
// its job begins them, whatever it was told of their cost.
func TestComputeExactlyOnce(t *testing.T) {
	for round := range uint64(300) {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 0))
		n := 1 + r.IntN(1<<r.IntN(17))
		first := r.IntN(n)
		calls := make([]int, n) // the race detector watches
		slow := r.IntN(n)
		l := compute(first, n, 1+r.IntN(8), r.IntN(3), r.Int64N(1<<r.IntN(40)), func(i int) {
			calls[i]++
			if i%1000 == slow%1000 {
				runtime.Gosched()
			}
		})
		if !l.Run() || !l.Complete() {
			t.Fatalf("-stint.seed=%d: not complete", s)
		}
		for i, c := range calls {
			if want := min(1, max(0, i-first+1)); c != want {
				t.Fatalf("-stint.seed=%d: %d calls for index %d of %d to %d", s, c, i, first, n)
			}
		}
		if l.batching != 0 {
			t.Fatalf("-stint.seed=%d: %d workers are batching at the end", s, l.batching)
		}
	}
}

// So it does when the last index is the largest int but one.
func TestComputeToTheLargestInt(t *testing.T) {
	for way := range 3 {
		for _, cost := range []int64{0, 1, 1 << 30} {
			for _, n := range []int{1, 7, 1000, 100_000} {
				first := math.MaxInt - n
				calls := make([]int, n) // the race detector watches
				l := compute(first, math.MaxInt, 4, way, cost, func(i int) { calls[i-first]++ })
				if !l.Run() || !l.Complete() {
					t.Fatalf("way %d, cost %d: not complete", way, cost)
				}
				for i, c := range calls {
					if c != 1 {
						t.Fatalf("way %d, cost %d: %d calls for index %d of %d", way, cost, c, i, n)
					}
				}
			}
		}
	}
}

// After Cut, what was claimed is called and nothing else begins. An index that is
// smaller than one that was begun before the Cut is never left out.
func TestCut(t *testing.T) {
	for round := range uint64(300) {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 0))
		n := 1 + r.IntN(1<<r.IntN(16))
		at := r.IntN(n)
		calls := make([]int, n)
		var l *Loop
		l = compute(0, n, 1+r.IntN(8), r.IntN(3), r.Int64N(1<<r.IntN(40)), func(i int) {
			calls[i]++
			if i == at {
				l.Cut()
			}
		})
		l.Run()
		if l.left() != 0 {
			t.Errorf("-stint.seed=%d: %d indexes are left", s, l.left())
		}
		for i, c := range calls {
			if c > 1 || c == 0 && i <= at {
				t.Fatalf("-stint.seed=%d: %d calls for index %d, cut in %d", s, c, i, at)
			}
		}
	}
}

// In a bubble the clock stands still, and the worker keeps to what it was told:
// five items a claim.
func TestCutLeavesOutWhatIsNotClaimed(t *testing.T) {
	for way := range 3 {
		synctest.Test(t, func(t *testing.T) {
			last := 0
			var l *Loop
			l = compute(0, 1000, 1, way, int64(chunkTime)*1000/5, func(i int) {
				if last = i; i == 17 {
					l.Cut()
				}
			})
			if l.Run(); last < 17 || last >= 20 || l.next.Load() != 1000 {
				t.Errorf("way %d: the last is %d, the next would be %d", way, last, l.next.Load())
			}
		})
	}
}

// A worker without work gets what others have not started of a long batch.
func TestLongBatchIsReturned(t *testing.T) {
	const n = 1000
	var others atomic.Int32
	caller := goroutine.ID()
	l := compute(0, n, 2, 1, 1, func(i int) { // 1 ps an item, so one batch takes all
		if goroutine.ID() != caller {
			others.Add(1)
		}
		time.Sleep(20 * time.Microsecond)
	})
	l.Run()
	if others.Load() < n/4 {
		t.Errorf("the helper had %d of %d items that were taken for short", others.Load(), n)
	}
}

// Near the end of a loop that computes, batches become shorter, down to a sixteenth.
func TestBatchesNearTheEnd(t *testing.T) {
	l := compute(0, 100_000, 2, 0, 0, nil)
	w := &worker{loop: l}
	w.size = 1600
	for _, c := range []struct{ lo, want int }{{0, 1600}, {70_000, 1600}, {100_000 - 16*1600, 1600}, {100_000 - 16*800, 800}, {99_000, 96}, {99_999, 97}, {70_001, 1599}} {
		if got := w.sizeAt(c.lo); got != c.want {
			t.Errorf("at %d: %d, want %d", c.lo, got, c.want)
		}
	}
	if w.size = 1; w.sizeAt(99_999) != 1 {
		t.Error("a batch has one index at least")
	}
}

// A worker of a loop whose cost is known starts with batches for it.
func TestKnownCost(t *testing.T) {
	l := compute(0, 1_000_000, 2, 0, 2000, nil)
	l.init()
	w := new(worker)
	w.init(l, l.Context)
	if want := int(batchTime.Nanoseconds() / 2); w.size != want || w.every < w.size/2 {
		t.Errorf("batches of %d, the clock read every %d; want %d", w.size, w.every, want)
	}
}

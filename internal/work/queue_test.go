package work

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// FuzzQueue compares the queue with a slice: a byte says what to do, and up to how
// many times.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 129, 127, 180, 255, 9, 137, 8, 136})
	f.Add([]byte{127, 127, 127, 127, 127, 127, 180, 180, 180, 127, 180, 180, 180, 180})
	f.Add([]byte{20, 252, 200, 3, 253, 130, 20, 252, 220, 252, 250, 140, 254, 131})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var q queue
		var oracle []int
		next := 0
		take := func(got Task, ok bool) {
			t.Helper()
			if !ok || got.Index != oracle[0] || got.Func != got.Index {
				t.Fatalf("got %v %v, want %d", got, ok, oracle[0])
			}
			oracle = oracle[1:]
		}
		for _, op := range ops {
			switch {
			case op == 255:
				q.shut()
				if n := q.clear(); n != len(oracle) {
					t.Fatalf("clear: %d, want %d", n, len(oracle))
				}
				oracle = nil
			case op == 254:
				q.shut()
			case op >= 250:
				q.opened(int(op-250) * 10)
			case op < 128:
				for range op {
					q.push(next, next, lastSegment)
					oracle = append(oracle, next)
					next++
				}
			case op < 190:
				for range min(int(op-128), len(oracle)) {
					take(q.pop())
				}
			case q.open:
				for range op - 190 {
					if got, last, ok := q.head.claim(); ok {
						q.head.read.Add(1)
						take(got, ok)
					} else if last {
						t.Fatal("a failed claim is the last")
					}
				}
			}
			q.account()
			if q.n != len(oracle) {
				t.Fatalf("%d queued, want %d", q.n, len(oracle))
			}
		}
		for len(oracle) > 0 {
			take(q.pop())
		}
		if _, ok := q.pop(); ok {
			t.Fatal("a task from an empty queue")
		}
	})
}

// Each task is given out once, by claims without the lock and pops with it, while
// the queue is filled, opened, shut and its segments are used again.
func TestClaims(t *testing.T) {
	const n = 200_000
	var (
		mu    sync.Mutex
		q     queue
		front atomic.Pointer[segment]
		given [n]atomic.Int32
		left  atomic.Int64
		wg    sync.WaitGroup
	)
	left.Store(n)
	take := func(got Task, ok bool) bool {
		if ok {
			given[got.Index].Add(1)
			if got.Func != got.Index {
				t.Errorf("task %d is %v", got.Index, got.Func)
			}
			left.Add(-1)
		}
		return ok
	}
	for range 4 {
		wg.Go(func() {
			for i := 0; left.Load() > 0; i++ {
				if s := front.Load(); s != nil {
					if got, _, ok := s.claim(); take(got, ok) {
						s.read.Add(1)
						continue
					}
				}
				mu.Lock()
				q.account()
				got, ok := q.pop()
				switch {
				case i%13 == 0:
					q.shut()
				default:
					if s := q.opened(lastSegment); s != nil {
						front.Store(s)
					}
				}
				mu.Unlock()
				if !take(got, ok) {
					runtime.Gosched()
				}
			}
		})
	}
	for i := range n {
		mu.Lock()
		q.push(i, i, 64)
		mu.Unlock()
	}
	wg.Wait()
	for i := range given {
		if given[i].Load() != 1 {
			t.Fatalf("task %d was given out %d times", i, given[i].Load())
		}
	}
	if q.account(); q.n != 0 {
		t.Errorf("%d tasks are left", q.n)
	}
}

// A burst leaves a few segments behind at most, and places whose tasks are given
// out hold nothing.
func TestQueueLetsMemoryGo(t *testing.T) {
	var q queue
	for i := range 100_000 {
		q.push(t, i, lastSegment)
	}
	for range 100_000 {
		q.pop()
	}
	q.trim()
	places := 0
	for _, s := range []*segment{q.head, q.spare} {
		for ; s != nil; s = s.next {
			places += cap(s.tasks)
			for _, task := range s.tasks[:cap(s.tasks)] {
				if task != nil {
					t.Fatal("a popped place holds its task")
				}
			}
		}
	}
	if places > (fewSegments+1)*lastSegment {
		t.Errorf("%d places are left of a burst", places)
	}
}

func TestQueueAllocatesNothingAtRest(t *testing.T) {
	for _, open := range []bool{false, true} {
		for _, n := range []int{1, 20, 1000} {
			var q queue
			next := 0
			for ; next < 2*n; next++ {
				q.push(t, next, lastSegment)
			}
			step := func() {
				for range n {
					q.push(t, next, lastSegment)
					next++
				}
				for range n {
					if open {
						q.opened(lastSegment)
					}
					q.pop()
				}
			}
			for range 1000 {
				step()
			}
			if n := testing.AllocsPerRun(100, step); n != 0 {
				t.Errorf("%v allocations a round", n)
			}
		}
	}
}

package work

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// FuzzQueue compares the queue with a slice: a byte says what to do, and up to how many times.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 129, 127, 180, 255, 9, 137, 8, 136})
	f.Add([]byte{127, 127, 127, 254, 180, 220, 127, 220, 253, 180, 254, 220})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var q queue
		var oracle []int
		next, given := 0, 0
		take := func(got Task) {
			if got != (Task{oracle[0], oracle[0]}) {
				t.Fatalf("got %v, want %d", got, oracle[0])
			}
			oracle, given = oracle[1:], given+1
		}
		for _, op := range ops {
			switch {
			case op == 255:
				q.shut()
				given -= q.taken()
				if n := q.clear(); n != len(oracle) {
					t.Fatalf("clear: %d, want %d", n, len(oracle))
				}
				oracle = nil
			case op == 254:
				q.open()
			case op == 253:
				q.shut()
			case op < 128:
				for range op {
					q.push(next)
					oracle, next = append(oracle, next), next+1
				}
			case op < 190:
				for range min(int(op-128), len(oracle)) {
					take(q.pop())
				}
			case len(oracle) > 0:
				for range op - 190 {
					if got, ok := q.ring.Load().claim(); ok {
						take(got)
					}
				}
			}
			if given -= q.taken(); q.len() != len(oracle) || given != 0 {
				t.Fatalf("%d queued, want %d; %d are not counted", q.len(), len(oracle), given)
			}
		}
	})
}

// Each task is given out once, by claims without the lock and pops with it, while the queue is
// filled, opened, shut and grows. The last task is never claimed.
func TestClaims(t *testing.T) {
	const n = 200_000
	var (
		mu    sync.Mutex
		q     queue
		given [n]atomic.Int32
		left  atomic.Int64
		wg    sync.WaitGroup
	)
	left.Store(n)
	take := func(got Task) {
		given[got.Index].Add(1)
		left.Add(-1)
		if got.Payload != got.Index {
			t.Errorf("task %d is %v", got.Index, got.Payload)
		}
	}
	for worker := range uint64(4) {
		r := rand.New(rand.NewPCG(worker, 1))
		wg.Go(func() {
			for left.Load() > 0 {
				if r := q.ring.Load(); r != nil {
					if got, ok := r.claim(); ok {
						take(got)
						continue
					}
				}
				mu.Lock()
				switch queued := q.len(); {
				case queued > 0 && r.IntN(13) > 0:
					take(q.pop())
					q.open()
				case queued == 0:
					runtime.Gosched()
				default:
					q.shut()
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		mu.Lock()
		q.push(i)
		mu.Unlock()
	}
	wg.Wait()
	for i := range given {
		if given[i].Load() != 1 {
			t.Fatalf("task %d was given out %d times", i, given[i].Load())
		}
	}
}

// A task that is claimed and not read yet stays in its slot: the ring is not used beyond it.
func TestLateRead(t *testing.T) {
	var q queue
	for i := range minRing {
		q.push(i)
	}
	q.open()
	late := q.ring.Load()
	late.head.Add(oneTask - 1) // a claim without its read
	for i := range 2 * minRing {
		q.pop()
		q.push(minRing + i)
	}
	if got := late.read(0); got != (Task{0, 0}) {
		t.Errorf("read %v", got)
	}
	for i := range minRing - 1 {
		if got := q.pop(); got.Index != 2*minRing+1+i || got.Payload != got.Index {
			t.Errorf("got %v", got)
		}
	}
}

// A burst leaves little space behind, and no task that was given out or dropped.
func TestQueueLetsMemoryGo(t *testing.T) {
	for _, n := range []int{3, 1000, 100_000} {
		var q queue
		for i := range n {
			q.push(i)
		}
		for q.len() > 0 {
			q.pop()
		}
		q.trim()
		r := q.ring.Load()
		if r == nil {
			continue
		}
		if len(r.slots) > maxUnused {
			t.Errorf("%d slots are left of a burst", len(r.slots))
		}
		for i := range r.slots {
			if r.slots[i].payload != nil {
				t.Fatal("a task is kept")
			}
		}
	}
}

func TestQueueAllocatesNothingAtRest(t *testing.T) {
	for _, n := range []int{1, 20, 1000} {
		var q queue
		step := func() {
			for range n {
				q.push(t)
			}
			for range n {
				q.open()
				q.pop()
			}
			q.trim()
		}
		if n := testing.AllocsPerRun(100, step); n != 0 {
			t.Errorf("%v allocations a round", n)
		}
	}
}

package work

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A checkedQueue is a queue beside a slice.
type checkedQueue struct {
	queue
	t           *testing.T
	oracle      []int
	next, given int
}

// do takes or adds up to n tasks.
func (q *checkedQueue) do(op byte, n int) {
	for range n {
		got, ok := Task{}, false
		switch r := q.ring.Load(); {
		case op < 128:
			q.push(q.next)
			q.oracle, q.next = append(q.oracle, q.next), q.next+1
		case len(q.oracle) == 0:
		case op < 190:
			got, ok = q.pop(), true
		default:
			got, ok = r.claim()
		}
		if !ok {
			continue
		}
		if want := q.oracle[0]; got != (Task{want, want}) {
			q.t.Fatalf("got %v, want %d", got, want)
		}
		q.oracle, q.given = q.oracle[1:], q.given+1
	}
}

// FuzzQueue compares the queue with a slice: a byte says what to do, and up to how many times.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 129, 127, 180, 255, 9, 137, 8, 136})
	f.Add([]byte{127, 127, 127, 254, 180, 220, 127, 220, 253, 180, 254, 220})
	f.Fuzz(func(t *testing.T, ops []byte) {
		q := checkedQueue{t: t}
		for _, op := range ops {
			switch op {
			case 255:
				q.shut()
				q.given -= q.taken()
				q.oracle = q.oracle[q.clear():]
			case 254:
				q.open()
			case 253:
				q.shut()
			default:
				q.do(op, int(op&63))
			}
			if q.given -= q.taken(); q.len() != len(q.oracle) || q.given != 0 {
				t.Fatalf("%d queued, want %d; %d are not counted", q.len(), len(q.oracle), q.given)
			}
		}
	})
}

// A sharedQueue is used by several goroutines. It counts how often each task is given out.
type sharedQueue struct {
	mu sync.Mutex
	queue
	given []atomic.Int32
	left  atomic.Int64
}

// take takes a task by a claim, or else by a pop, if there is one.
func (q *sharedQueue) take(r *rand.Rand) (t Task, ok bool) {
	if ring := q.ring.Load(); ring != nil {
		if t, ok = ring.claim(); ok {
			return t, true
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.IntN(13) == 0 {
		q.shut()
	}
	if ok = q.len() > 0; ok {
		t = q.pop()
		q.open()
	}
	return t, ok
}

// work takes tasks until all are given out.
func (q *sharedQueue) work(r *rand.Rand) {
	for q.left.Load() > 0 {
		t, ok := q.take(r)
		switch {
		case !ok:
			runtime.Gosched()
		case t.Payload != t.Index:
			panic(t)
		default:
			q.given[t.Index].Add(1)
			q.left.Add(-1)
		}
	}
}

// Each task is given out once, by claims without the lock and pops with it, while the queue is
// filled, opened, shut and grows.
func TestClaims(t *testing.T) {
	const n = 200_000
	q := &sharedQueue{given: make([]atomic.Int32, n)}
	q.left.Store(n)
	var wg sync.WaitGroup
	for worker := range uint64(4) {
		wg.Go(func() { q.work(rand.New(rand.NewPCG(worker, 1))) })
	}
	for i := range n {
		q.mu.Lock()
		q.push(i)
		q.mu.Unlock()
	}
	wg.Wait()
	for i := range q.given {
		if q.given[i].Load() != 1 {
			t.Fatalf("task %d was given out %d times", i, q.given[i].Load())
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

// A burst leaves little space behind after a while, and no task that was given out or dropped.
func TestQueueLetsMemoryGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []int{3, 1000, 100_000} {
			var q queue
			for i := range n {
				q.push(i)
			}
			full := len(q.ring.Load().slots)
			for q.len() > 2 {
				q.pop()
				q.trim(1)
			}
			if slots := len(q.ring.Load().slots); slots != full {
				t.Errorf("%d slots are left of %d at once", slots, full)
			}
			time.Sleep(trimDelay)
			q.trim(1)
			r := q.ring.Load()
			if len(r.slots) > maxUnused {
				t.Errorf("%d slots are left of a burst", len(r.slots))
			}
			kept := 0
			for i := range r.slots {
				if r.slots[i].payload != nil {
					kept++
				}
			}
			if kept != 2 {
				t.Errorf("%d tasks are kept of 2", kept)
			}
			if q.rest(); n > maxUnused && q.ring.Load() == nil {
				t.Error("a small ring is gone")
			}
		}
	})
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
		}
		if n := testing.AllocsPerRun(100, step); n != 0 {
			t.Errorf("%v allocations a round", n)
		}
	}
}

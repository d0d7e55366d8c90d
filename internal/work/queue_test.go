package work

import (
	"runtime"
	"slices"
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
			if !ok || got.Index != oracle[0] || got.Payload != got.Index {
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
				q.openUpTo(int(op-250) * 10)
			case op < 128:
				for range op {
					q.push(next, next, maxSegment)
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
			q.reconcile()
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
			if got.Payload != got.Index {
				t.Errorf("task %d is %v", got.Index, got.Payload)
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
				q.reconcile()
				got, ok := q.pop()
				switch {
				case i%13 == 0:
					q.shut()
				default:
					if s := q.openUpTo(maxSegment); s != nil {
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
	if q.reconcile(); q.n != 0 {
		t.Errorf("%d tasks are left", q.n)
	}
}

// A burst leaves a few segments behind at most, and slots whose tasks are given
// out hold nothing.
func TestQueueLetsMemoryGo(t *testing.T) {
	var q queue
	for i := range 100_000 {
		q.push(t, i, maxSegment)
	}
	for range 100_000 {
		q.pop()
	}
	q.trim()
	slots := 0
	for _, s := range []*segment{q.head, q.spare} {
		for ; s != nil; s = s.next {
			slots += cap(s.tasks)
			for _, task := range s.tasks[:cap(s.tasks)] {
				if task != nil {
					t.Fatal("a popped slot holds its task")
				}
			}
		}
	}
	if slots > (maxSpareSegments+1)*maxSegment {
		t.Errorf("%d slots are left of a burst", slots)
	}
}

func TestQueueAllocatesNothingAtRest(t *testing.T) {
	for _, open := range []bool{false, true} {
		for _, n := range []int{1, 20, 1000} {
			var q queue
			next := 0
			for ; next < 2*n; next++ {
				q.push(t, next, maxSegment)
			}
			step := func() {
				for range n {
					q.push(t, next, maxSegment)
					next++
				}
				for range n {
					if open {
						q.openUpTo(maxSegment)
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

// filled returns a queue of n tasks.
func filled(n int) *queue {
	q := new(queue)
	for i := range n {
		q.push(i, i, maxSegment)
	}
	return q
}

// A segment takes no task while it is open, or after one of its tasks was claimed: a worker
// may be reading the segment without the lock.
func TestSegmentInUseTakesNoTask(t *testing.T) {
	for name, use := range map[string]func(q *queue, s *segment){
		"open": func(*queue, *segment) {},
		"shut": func(q *queue, s *segment) { s.claim(); q.shut() },
	} {
		q := filled(3) // there is a slot for one more
		s := q.openUpTo(maxSegment)
		use(q, s)
		q.push(3, 3, maxSegment)
		if len(s.tasks) != 3 {
			t.Errorf("%s: a task was put among those that are claimed", name)
		}
	}
}

// While somebody has claimed a task and not read it, its segment is neither opened
// again nor used for others: it would read one of theirs.
func TestUnreadSegmentIsNotUsedAgain(t *testing.T) {
	q := filled(4)
	s := q.openUpTo(maxSegment)
	s.claim()
	q.shut()
	if q.openUpTo(maxSegment) != nil {
		t.Error("opened before the task was read")
	}
	s.read.Add(1)
	if q.openUpTo(maxSegment) != s {
		t.Error("not opened after it was read")
	}

	for _, n := range []int{4, 5} { // the segment is the last, or another follows
		for _, read := range []int{3, 4} {
			q := filled(n)
			s := q.openUpTo(maxSegment)
			for range 4 {
				s.claim()
			}
			s.read.Add(int64(read))
			q.shut()
			if again := q.tail == s || q.spare == s; again != (read == 4) {
				t.Errorf("%d tasks, of 4 claimed ones %d were read: used again %v", n, read, again)
			}
			if s.next != nil { // a worker may refer to s
				t.Errorf("%d tasks, of 4 claimed ones %d were read: it keeps what follows", n, read)
			}
		}
	}
}

// A queue that is cleared keeps none of its tasks, also when its first segment is kept.
func TestClearedSegmentKeepsNothing(t *testing.T) {
	for _, claimed := range []int{0, 2} {
		q := filled(20)
		s := q.openUpTo(maxSegment)
		for range claimed {
			s.claim()
		}
		q.shut()
		var all []*segment // a worker may refer to each
		for s := q.head; s != nil; s = s.next {
			all = append(all, s)
		}
		if n := q.clear(); n != 20-claimed {
			t.Errorf("%d tasks were dropped, want %d", n, 20-claimed)
		}
		for i, s := range all {
			if s.next != nil || slices.ContainsFunc(s.tasks, func(f any) bool { return f != nil }) {
				t.Errorf("%d were claimed: segment %d keeps %v, and what follows: %v", claimed, i, s.tasks, s.next != nil)
			}
		}
	}
}

// Only the claim of the last open task reports last: the next segment is opened after
// it. The segment does not keep claimed tasks.
func TestLastClaim(t *testing.T) {
	for n := 2; n <= minSegment; n++ {
		q := filled(minSegment)
		s := q.openUpTo(n)
		for i := range n {
			if got, last, ok := s.claim(); !ok || got.Index != i || last != (i == n-1) {
				t.Errorf("claim %d of %d: got %v %v, last %v", i, n, got, ok, last)
			}
		}
		if _, last, ok := s.claim(); ok || last {
			t.Errorf("claim beyond the end: %v, last %v", ok, last)
		}
		for i, task := range s.tasks {
			if (task == nil) != (i < n) {
				t.Errorf("slot %d of %d holds %v", i, n, task)
			}
		}
	}
}

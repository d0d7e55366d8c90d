package work

import "testing"

// FuzzQueue compares the queue with a slice: a byte says what to do, and up to how many times.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 129, 127, 200, 255, 9, 137, 8, 136})
	f.Add([]byte{127, 127, 127, 250, 250, 127, 254, 250, 250, 250})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var q queue
		var oracle []Task
		next := 0
		for _, op := range ops {
			switch {
			case op == 255:
				if n := q.clear(); n != len(oracle) {
					t.Fatalf("clear: %d, want %d", n, len(oracle))
				}
				oracle = nil
			case op < 128:
				for range op {
					q.push(Task{next, next})
					oracle = append(oracle, Task{next, next})
					next++
				}
			default:
				for range min(int(op-128), len(oracle)) {
					if got := q.pop(); got != oracle[0] {
						t.Fatalf("got %v, want %v", got, oracle[0])
					}
					oracle = oracle[1:]
				}
			}
			if q.n == 0 {
				q.trim()
			}
			if q.n != len(oracle) {
				t.Fatalf("%d queued, want %d", q.n, len(oracle))
			}
		}
	})
}

// A burst leaves little space behind, and no task that was given out.
func TestQueueLetsMemoryGo(t *testing.T) {
	for _, n := range []int{3, 1000, 100_000} {
		var q queue
		for i := range n {
			q.push(Task{t, i})
		}
		for q.n > 0 {
			q.pop()
		}
		q.trim()
		if len(q.ring) > maxUnused {
			t.Errorf("%d slots are left of a burst", len(q.ring))
		}
		for _, task := range q.ring {
			if task.Payload != nil {
				t.Fatal("a task is kept")
			}
		}
	}
}

func TestQueueAllocatesNothingAtRest(t *testing.T) {
	for _, n := range []int{1, 20, 1000} {
		var q queue
		step := func() {
			for i := range n {
				q.push(Task{t, i})
			}
			for range n {
				q.pop()
			}
			q.trim()
		}
		if n := testing.AllocsPerRun(100, step); n != 0 {
			t.Errorf("%v allocations a round", n)
		}
	}
}

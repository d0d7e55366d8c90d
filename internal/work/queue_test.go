package work

import "testing"

// FuzzQueue compares the queue with a slice: a byte below 128 pushes that many
// tasks, one above pops as many, 255 clears.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 129, 127, 200, 255, 9, 137, 8, 136})
	f.Add([]byte{127, 127, 127, 127, 127, 127, 254, 254, 254, 127, 254, 254, 254, 254})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var q queue
		var oracle []int
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
					q.push(Task{Index: next})
					oracle = append(oracle, next)
					next++
				}
			default:
				for range min(int(op-128), len(oracle)) {
					if got := q.pop().Index; got != oracle[0] {
						t.Fatalf("pop: %d, want %d", got, oracle[0])
					}
					oracle = oracle[1:]
				}
			}
			if q.n != len(oracle) {
				t.Fatalf("%d queued, want %d", q.n, len(oracle))
			}
		}
		for _, want := range oracle {
			if got := q.pop().Index; got != want {
				t.Fatalf("pop: %d, want %d", got, want)
			}
		}
	})
}

// A burst leaves two segments behind, and popped places hold nothing.
func TestQueueLetsMemoryGo(t *testing.T) {
	var q queue
	for i := range 100_000 {
		q.push(Task{Func: t, Index: i})
	}
	for range 100_000 {
		q.pop()
	}
	places := 0
	for _, s := range []*segment{q.head, q.spare} {
		if s == nil {
			continue
		}
		if s.next != nil {
			t.Error("a segment behind the last")
		}
		places += cap(s.tasks)
		for _, task := range s.tasks[:cap(s.tasks)] {
			if task != (Task{}) {
				t.Fatal("a popped place holds its task")
			}
		}
	}
	if places > 2*lastSegment {
		t.Errorf("%d places are left of a burst", places)
	}
}

func TestQueueAllocatesNothingAtRest(t *testing.T) {
	var q queue
	step := func() {
		for i := range 20 {
			q.push(Task{Index: i})
		}
		for range 20 {
			q.pop()
		}
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

package lane

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// Against a model: the tasks of each key, in the order in which they entered.
func TestModel(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		var l Lanes[int, int]
		model, tickets, next := map[int][]int{}, map[int]Ticket{}, 0
		for range 2000 {
			k := r.IntN(1 + r.IntN(20))
			if r.IntN(2) == 0 {
				var at Ticket
				if first := l.Enter(k, next, &at); first != (len(model[k]) == 0) {
					t.Fatalf("seed %d: task %d of key %d enters first: %v, with %v before", seed, next, k, first, model[k])
				}
				model[k], tickets[next] = append(model[k], next), at
				next++
			} else if row := model[k]; len(row) > 0 {
				got, ok := l.Leave(tickets[row[0]])
				model[k] = row[1:]
				if ok != (len(row) > 1) || ok && got != row[1] {
					t.Fatalf("seed %d: behind %v of key %d comes %d, %v", seed, row, k, got, ok)
				}
			}
			used := 0
			for _, row := range model {
				if len(row) > 0 {
					used++
				}
			}
			if l.Len() != used || len(l.free) > maxFree {
				t.Fatalf("seed %d: %d lanes for %d keys in use, %d are free", seed, l.Len(), used, len(l.free))
			}
		}
	}
}

// Many keys, of which few are in use at once, leave nothing behind.
func TestManyKeys(t *testing.T) {
	var l Lanes[int, int]
	var window [10]Ticket
	for k := range 1_000_000 {
		at := &window[k%len(window)]
		if k >= len(window) {
			l.Leave(*at)
		}
		*at = Ticket{}
		l.Enter(k, k, at)
		if l.Len() > len(window) {
			t.Fatalf("%d lanes for %d keys in use", l.Len(), len(window))
		}
	}
}

// A key that does not equal itself has no lane.
func TestNaN(t *testing.T) {
	var l Lanes[float64, int]
	for i := range 10 {
		var at Ticket
		if !l.Enter(math.NaN(), i, &at) {
			t.Error("a NaN waits for another")
		}
		if next, ok := l.Leave(at); ok {
			t.Errorf("behind a NaN comes %d", next)
		}
	}
	if l.Len() != 0 {
		t.Errorf("%d lanes are left", l.Len())
	}
}

// A key that cannot be compared leaves the lanes usable.
func TestKeyThatCannotBeCompared(t *testing.T) {
	var l Lanes[any, int]
	var at Ticket
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		l.Enter([]int{1}, 1, &at)
	}()
	if !l.Enter(1, 2, &at) {
		t.Error("the lane of another key is in use")
	}
}

// Tasks of a key run one at a time and in order, whichever goroutines run them.
func TestConcurrentUse(t *testing.T) {
	type task struct {
		key, number int
		at          Ticket
	}
	const keys, each = 5, 2000
	var l Lanes[int, *task]
	var running, done [keys]int // guarded by the lanes: -race sees it otherwise
	var runs sync.WaitGroup
	var run func(n *task)
	run = func(n *task) {
		if running[n.key]++; running[n.key] != 1 || done[n.key] != n.number {
			t.Errorf("task %d of key %d runs with %d, %d are done", n.number, n.key, running[n.key]-1, done[n.key])
		}
		running[n.key]--
		done[n.key]++
		if next, ok := l.Leave(n.at); ok {
			runs.Go(func() { run(next) })
		}
	}
	for i := range keys * each {
		n := &task{key: i % keys, number: i / keys}
		if l.Enter(n.key, n, &n.at) {
			runs.Go(func() { run(n) })
		}
	}
	runs.Wait()
	if l.Len() != 0 || done != [keys]int{each, each, each, each, each} {
		t.Errorf("%d lanes are left, done %v", l.Len(), done)
	}
}

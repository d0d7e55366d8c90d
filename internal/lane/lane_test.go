package lane

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// key is the key of the tasks of TestModel: their number has both.
func key(n int) int { return n % 100 }

// Against a model: of the tasks that may run, the one that entered first runs, and the tasks
// of a key run one after the other.
func TestModel(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		l := Lanes[int, int]{Key: key}
		var left, mayRun []int // tasks; in the order in which they entered
		var queued, running []*Turn[int]
		distinct := 1 + r.IntN(1+r.IntN(100))
		for step, next := 0, 0; step < 3000; step++ {
			switch r.IntN(3) {
			case 0:
				n := 100*next + r.IntN(distinct)
				next++
				first := !slices.ContainsFunc(left, func(m int) bool { return key(m) == key(n) })
				turn := l.Enter(n)
				if (turn != nil) != first {
					t.Fatalf("seed %d: task %d may run: %v, left %v", seed, n, turn != nil, left)
				}
				if left = append(left, n); first {
					mayRun, queued = append(mayRun, n), append(queued, turn)
				}
			case 1:
				if len(queued) == 0 {
					continue
				}
				turn := queued[0]
				queued = queued[1:]
				l.Begin(turn, nil)
				if want := slices.Min(mayRun); turn.Task != want || turn.Index != want/100 {
					t.Fatalf("seed %d: task %d with number %d runs, want %d", seed, turn.Task, turn.Index, want)
				}
				mayRun = slices.DeleteFunc(mayRun, func(n int) bool { return n == turn.Task })
				running = append(running, turn)
			case 2:
				if len(running) == 0 {
					continue
				}
				i := r.IntN(len(running))
				turn := running[i]
				running = slices.Delete(running, i, i+1)
				n := turn.Task
				left = slices.DeleteFunc(left, func(m int) bool { return m == n })
				behind := slices.IndexFunc(left, func(m int) bool { return key(m) == key(n) })
				again := l.Leave(turn)
				if again != (behind >= 0) {
					t.Fatalf("seed %d: again behind %d: %v, left %v", seed, n, again, left)
				}
				if again {
					mayRun, queued = append(mayRun, left[behind]), append(queued, turn)
				}
			}
			keys, vacant := map[int]bool{}, 0
			for _, n := range left {
				keys[key(n)] = true
			}
			for _, turn := range queued {
				if turn.vacant {
					vacant++
				}
			}
			if l.Len() != len(keys) {
				t.Fatalf("seed %d: %d lanes for %d keys in use", seed, l.Len(), len(keys))
			}
			if len(l.behind) != vacant || int(l.number.Load()) != vacant || len(queued) != len(mayRun) {
				t.Fatalf("seed %d: %d tasks behind, %d vacant turns; %d turns, %d may run", seed, len(l.behind), vacant, len(queued), len(mayRun))
			}
		}
	}
}

// Many keys, of which few are in use at once, leave nothing behind.
func TestManyKeys(t *testing.T) {
	l := Lanes[int, int]{Key: func(n int) int { return n }}
	var window [10]*Turn[int]
	for k := range 50_000 {
		at := &window[k%len(window)]
		if *at != nil {
			l.Leave(*at)
		}
		*at = l.Enter(k)
		l.Begin(*at, nil)
		if l.Len() > len(window) {
			t.Fatalf("%d lanes for %d keys in use", l.Len(), len(window))
		}
	}
}

// A key that does not equal itself has no lane.
func TestNaN(t *testing.T) {
	l := Lanes[float64, int]{Key: func(int) float64 { return math.NaN() }}
	for i := range 10 {
		turn := l.Enter(i)
		if turn == nil {
			t.Fatal("a NaN waits for another")
		}
		l.Begin(turn, nil)
		if turn.Task != i || l.Leave(turn) {
			t.Errorf("behind NaN %d, or %d, comes another", i, turn.Task)
		}
	}
	if l.Len() != 0 {
		t.Errorf("%d lanes are left", l.Len())
	}
}

// A key that cannot be compared leaves the lanes usable.
func TestKeyThatCannotBeCompared(t *testing.T) {
	l := Lanes[any, any]{Key: func(n any) any { return n }}
	for range 2 { // with no lanes, and with some
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			l.Enter([]int{1})
		}()
		if l.Enter(l.Len()) == nil {
			t.Error("the lane of another key is in use")
		}
	}
}

// Tasks of a key run one at a time and in order, whichever goroutines run them.
func TestConcurrentUse(t *testing.T) {
	type task struct{ key, number int }
	const keys, each = 5, 2000
	l := Lanes[int, task]{Key: func(n task) int { return n.key }}
	var running, done [keys]int // guarded by the lanes: -race sees it otherwise
	var runs sync.WaitGroup
	var run func(turn *Turn[task])
	run = func(turn *Turn[task]) {
		l.Begin(turn, nil)
		n := turn.Task
		if running[n.key]++; running[n.key] != 1 || done[n.key] != n.number || turn.Index != n.number*keys+n.key {
			t.Errorf("task %d of key %d runs with %d, %d are done", n.number, n.key, running[n.key]-1, done[n.key])
		}
		running[n.key]--
		done[n.key]++
		if l.Leave(turn) {
			runs.Go(func() { run(turn) })
		}
	}
	for i := range keys * each {
		if turn := l.Enter(task{i % keys, i / keys}); turn != nil {
			runs.Go(func() { run(turn) })
		}
	}
	runs.Wait()
	if l.Len() != 0 || done != [keys]int{each, each, each, each, each} || len(l.behind) != 0 {
		t.Errorf("%d lanes are left, done %v", l.Len(), done)
	}
}

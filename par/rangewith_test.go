package par

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/race"
)

// A partial is a state: the indexes that it was used for.
type partial struct {
	used  atomic.Bool
	count int
	sum   int
	seen  []int
}

func (p *partial) add(t *testing.T, lo, hi int, pause func(i int)) {
	if lo >= hi || p.used.Swap(true) {
		t.Errorf("piece [%d, %d) is empty, or its state is in use", lo, hi)
	}
	for i := lo; i < hi; i++ {
		p.count++
		p.sum += i
		pause(i)
	}
	p.used.Store(false)
}

// Each index is in one state, no state is used by two goroutines at once, there are as many
// states as calls of new, and at most as many as CPUs.
func TestStatesHaveEveryIndexOnce(t *testing.T) {
	check := func(p, n, cost int) {
		var made atomic.Int32
		got := RangeWith(n, func() *partial { made.Add(1); return new(partial) }, func(s *partial, lo, hi int) {
			s.add(t, lo, hi, func(i int) {
				for range cost {
					s.seen = s.seen[:0]
				}
				if i%1024 == 7 {
					runtime.Gosched()
				}
			})
		})
		count, sum := 0, 0
		for _, s := range got {
			count, sum = count+s.count, sum+s.sum
		}
		if count != n || sum != n*(n-1)/2 {
			t.Errorf("%d CPUs, %d items: %d indexes, sum %d", p, n, count, sum)
		}
		if len(got) != int(made.Load()) || len(got) > p || len(got) < min(n, 1) {
			t.Errorf("%d CPUs, %d items: %d states, %d were made", p, n, len(got), made.Load())
		}
	}
	defer func() { splits = false }()
	for _, p := range []int{1, 2, 3, 8} {
		procs(t, p)
		for _, splits = range []bool{false, race.Enabled} {
			for _, n := range []int{0, 1, 2, 3, 10, 127, 1000, 4000, 100_000} {
				check(p, n, 0)
				check(p, n, min(10_000, 2_000_000/(n+1)))
			}
		}
	}
}

// Long items have a state for each CPU, and a goroutine that finds no item makes none.
func TestStatesOfLongItems(t *testing.T) {
	for _, c := range []struct{ n, states int }{{1, 1}, {2, 2}, {7, 7}, {8, 8}, {9, 8}, {4000, 8}} {
		for range 20 {
			synctest.Test(t, func(t *testing.T) {
				procs(t, 8)
				got := RangeWith(c.n, func() *partial { return new(partial) }, func(s *partial, lo, hi int) {
					s.add(t, lo, hi, func(int) { time.Sleep(time.Millisecond) })
				})
				if len(got) != c.states {
					t.Errorf("%d items on 8 CPUs: %d states, want %d", c.n, len(got), c.states)
				}
			})
		}
	}
}

// A panic of new reaches the caller, on its own goroutine and on another; so does a Goexit.
// The calls that run have returned by then.
func TestNewDoesNotReturn(t *testing.T) {
	for at := range int32(2) { // of the caller; of a helper
		for want, end := range map[string]func(){"panic of new": func() { bang("new") }, "Goexit": runtime.Goexit} {
			synctest.Test(t, func(t *testing.T) {
				procs(t, 2)
				var calls, running atomic.Int32
				how := ending(func() {
					RangeWith(4, func() int {
						if calls.Add(1) > at {
							end()
						}
						return 0
					}, func(_, lo, hi int) {
						running.Add(1)
						time.Sleep(time.Second)
						running.Add(-1)
					})
				})
				if how != want || running.Load() != 0 || calls.Load() != at+1 {
					t.Errorf("%v, want %s; %d calls run, %d calls of new", how, want, running.Load(), calls.Load())
				}
			})
		}
	}
}

// A state may be nil.
func TestNilState(t *testing.T) {
	procs(t, 2)
	var made atomic.Int32
	got := RangeWith(100_000, func() error { made.Add(1); return nil }, func(s error, lo, hi int) {
		if s != nil {
			t.Error(s)
		}
	})
	if len(got) != int(made.Load()) || len(got) > 2 {
		t.Errorf("%d states, %d were made", len(got), made.Load())
	}
}

package par

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Find returns what slices.IndexFunc does, wherever the elements are and however
// long they take.
func TestFindReturnsTheLowest(t *testing.T) {
	for _, p := range []int{1, 2, 8} {
		procs(t, p)
		r := rand.New(rand.NewPCG(1, uint64(p)))
		for range 300 {
			n := 1 + r.IntN(1<<r.IntN(15))
			s := make([]int32, n)
			for range r.IntN(4) {
				s[r.IntN(n)] = 1
			}
			slow := r.IntN(n + 1)
			is := func(v int32) bool { return v == 1 }
			var calls atomic.Int64
			got := Find(s, func(v int32) bool {
				if calls.Add(1) == int64(slow) {
					time.Sleep(10 * time.Microsecond)
				}
				return is(v)
			})
			if want := slices.IndexFunc(s, is); got != want || int(calls.Load()) > n {
				t.Fatalf("n = %d: %d, want %d, %d calls", n, got, want, calls.Load())
			}
		}
	}
}

// Items after the found one are not called once it is known, except for those in hand: long
// items, and short ones, of which many are taken at once.
func TestFindStops(t *testing.T) {
	for _, c := range []struct {
		cost     time.Duration
		at, most int
	}{{time.Millisecond, 100, 101 + 2}, {time.Nanosecond, 30_000, 2*30_000 + 100}} {
		synctest.Test(t, func(t *testing.T) {
			procs(t, 2)
			var calls atomic.Int64
			got := Find(numbers(1<<20), func(i int) bool {
				calls.Add(1)
				time.Sleep(c.cost)
				return i == c.at
			})
			if got != c.at || int(calls.Load()) > c.most {
				t.Errorf("index %d after %d calls, want %d after %d", got, calls.Load(), c.at, c.most)
			}
		})
	}
}

// Find ends as soon as it has found one, however many elements there are: slices of elements
// of no size may have any length.
func TestFindInALongestSlice(t *testing.T) {
	s := make([]struct{}, math.MaxInt)
	for _, p := range []int{1, 2, 8} {
		procs(t, p)
		for range 200 {
			var calls atomic.Int64
			if i := Find(s, func(struct{}) bool { return calls.Add(1) > 5000 }); i < 0 || int64(i) >= calls.Load() {
				t.Fatalf("GOMAXPROCS %d: found %d after %d calls", p, i, calls.Load())
			}
		}
	}
}

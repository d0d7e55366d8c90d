package par

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// What quick leaves to heap when the partitions were too uneven is sorted too.
func TestQuickWithoutDepthLeft(t *testing.T) {
	for n := range 300 {
		for _, keys := range []int{1, 2, 10, 1 << 30} {
			r := rand.New(rand.NewPCG(uint64(n), uint64(keys)))
			v := make([]int, n)
			for i := range v {
				v[i] = r.IntN(keys)
			}
			want := slices.Clone(v)
			slices.Sort(want)
			for limit := range 5 {
				got := slices.Clone(v)
				quick(got, nil, limit)
				if !slices.Equal(got, want) {
					t.Fatalf("%d of %d keys, limit %d: %v", n, keys, limit, got)
				}
			}
			heap(v)
			if !slices.Equal(v, want) {
				t.Fatalf("%d of %d keys: heap: %v", n, keys, v)
			}
		}
	}
}

// Whatever the partitions are, they and the heapsort that follows make 2 n log2 n
// compares and O(n).
func TestDepthOfPartitions(t *testing.T) {
	for _, n := range []int{1 << 15, 100_000, 1 << 20} {
		for _, share := range []int{0, 1, 16, 50, 100} { // left of a partition, in percent; 100 is 0 after a run
			compares := 0
			o := &ordering[struct{}]{team: new(team)}
			o.run = func(v []struct{}) int {
				if share < 100 {
					return 1
				}
				compares += len(v)
				return len(v) - 1
			}
			o.split = func(v []struct{}, _ *struct{}) (l, r, passes int) {
				passes = 1
				if l = len(v) * (share % 100) / 100; l == 0 {
					passes = 2
				}
				compares += passes * len(v)
				return l, l + 1, passes
			}
			o.finish = func(v []struct{}, _ *struct{}, limit int) {
				// quick partitions on while it may; all of it may be in vain
				left := max(0, limit-depth(len(v))/2)
				compares += len(v)*left + int(float64(len(v))*math.Log2(float64(len(v)+1)))
			}
			o.sort(make([]struct{}, n), nil, depth(n))
			if most := int(2*float64(n)*math.Log2(float64(n))) + 4*n; compares > most {
				t.Errorf("%d elements, %d %% left: %d compares, want %d at most", n, share, compares, most)
			}
		}
	}
}

// No part starts after a function of the user has panicked.
func TestStoppedTeamBeginsNothing(t *testing.T) {
	for _, n := range []int{1, 100, 2 * minForkElements, minTeamElements} {
		o := &ordering[int]{team: new(team)} // the functions are nil
		o.team.stopped.Store(true)
		o.sort(make([]int, n), nil, depth(n))
	}
}

// When the caller has finished its parts, its CPU counts as idle.
func TestTeamUsesTheProcessorOfTheCaller(t *testing.T) {
	tm := new(team)
	tm.idle.Store(1)
	tm.run(func() {
		tm.fork(func() {
			for i := 0; !tm.fork(func() {}); i++ {
				if runtime.Gosched(); i == 1_000_000 {
					t.Error("no processor is idle")
					return
				}
			}
		})
	})
}

// So it is while one side of both waits for the other, and when a goroutine ends.
func TestTeamUsesTheProcessorOfWhoWaits(t *testing.T) {
	again := func(tm *team) {
		for i := 0; !tm.fork(func() {}); i++ {
			if time.Sleep(time.Millisecond); i == 5_000 {
				t.Error("no processor is idle")
				return
			}
		}
	}
	tm := new(team)
	tm.idle.Store(1)
	tm.run(func() { tm.both(func() {}, func() { again(tm) }) })
	if idle := tm.idle.Load(); idle != 2 { // and the caller's
		t.Errorf("%d processors are idle in the end, want 2", idle)
	}
	tm = new(team)
	tm.idle.Store(1)
	tm.run(func() {
		tm.fork(func() {})
		again(tm)
	})
}

// What is left to package slices: long runs up or down, and nearly sorted slices
// where a team would have to be faster.
func TestRegularAndNearly(t *testing.T) {
	const n = 40_000
	r := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		at              func(i int) int
		regular, nearly bool
	}{
		"sorted":     {func(i int) int { return i }, true, true},
		"falling":    {func(i int) int { return -i / 3 }, true, true},
		"equal":      {func(int) int { return 1 }, true, true},
		"pipe":       {func(i int) int { return min(i, n-i) }, true, false},
		"saw":        {func(i int) int { return i % 4000 }, true, false},
		"first down": {func(i int) int { return -i - 3*n*max(0, 1-i) }, true, true},
		"last up":    {func(i int) int { return -i + 3*n*max(0, i-n+2) }, true, true},
		"random":     {func(int) int { return r.Int() }, false, false},
		"appended":   {func(i int) int { return i + max(0, i-n+n/5)*r.IntN(n) }, true, false},
	} {
		for _, n := range []int{n, 4 * minTeamElements} {
			v := make([]int, n)
			for i := range v {
				v[i] = c.at(int(int64(i) * 40_000 / int64(n)))
			}
			if got := regular(v, 0); got != c.regular {
				t.Errorf("%s: regular: %v", name, got)
			}
			if got := nearly(v); got != c.nearly {
				t.Errorf("%s of %d: nearly in order: %v", name, n, got)
			}
		}
	}
}

// A run is found in either direction, and turned round when it is nearly all.
func TestRun(t *testing.T) {
	const n = 1000
	for name, c := range map[string]struct {
		at   func(i int) int
		want int
	}{
		"sorted":     {func(i int) int { return i / 2 }, n},
		"falling":    {func(i int) int { return -i / 2 }, n},
		"equal":      {func(int) int { return 1 }, n},
		"last up":    {func(i int) int { return -i + 3*n*max(0, i-n+2) }, n - 1},
		"appended":   {func(i int) int { return i - n*max(0, i-n+100) }, n - 99},
		"half down":  {func(i int) int { return max(-i, -n/2) + max(0, i-n/2) }, 1},
		"first down": {func(i int) int { return -i - 3*n*max(0, 1-i) }, 2},
	} {
		v := make([]int, n)
		for i := range v {
			v[i] = c.at(i)
		}
		if got := run(v); got != c.want || !slices.IsSorted(v[:got]) {
			t.Errorf("%s: a run of %d, want %d; sorted: %v", name, got, c.want, slices.IsSorted(v[:got]))
		}
	}
}

// split puts one element where it belongs, and its equals too if it is the least.
func TestSplit(t *testing.T) {
	for n := 25; n < 2000; n += 13 {
		for _, keys := range []int{1, 2, 3, 1000} {
			r := rand.New(rand.NewPCG(uint64(n), uint64(keys)))
			v := make([]int, n)
			for i := range v {
				v[i] = r.IntN(keys)
			}
			for _, low := range []*int{nil, new(int)} { // 0 is the least key
				checkSplit(t, slices.Clone(v), low, split[int])
				checkSplit(t, slices.Clone(v), low, comparison[int](func(a, b int) int { return a - b }).split)
			}
		}
	}
}

func checkSplit(t *testing.T, v []int, low *int, split func([]int, *int) (l, r, passes int)) {
	t.Helper()
	before := slices.Sorted(slices.Values(v))
	l, r, _ := split(v, low)
	if !(0 <= l && l < r && r <= len(v)) {
		t.Fatalf("split of %d at %d, %d", len(v), l, r)
	}
	p := v[l]
	for i, x := range v {
		if i < l && x >= p || i >= l && i < r && x != p || i >= r && x < p {
			t.Fatalf("split of %d at %d, %d: element %d is %d, pivot %d", len(v), l, r, i, x, p)
		}
	}
	if low != nil && p == *low && slices.Contains(v[r:], p) {
		t.Fatalf("split of %d at %d, %d: equals of %d are left", len(v), l, r, p)
	}
	if !slices.Equal(slices.Sorted(slices.Values(v)), before) {
		t.Fatalf("split of %d: not the same elements", len(v))
	}
}

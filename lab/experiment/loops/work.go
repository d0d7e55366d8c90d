package loops

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/load"
)

// work holds the items of a loop, each of which adds its result to a number.
type work struct {
	n, limit int
	body     engine.Body
	out      []uint64         // nil: items compute nothing
	want     func(int) uint64 // what item i adds
}

func (w work) clear() { clear(w.out) }

// check compares the numbers with those of items that ran the given number of
// times.
func (w work) check(times int) error {
	for i, got := range w.out {
		if want := uint64(times) * w.want(i); got != want {
			return fmt.Errorf("item %d of %d added %d, want %d", i, w.n, got, want)
		}
	}
	return nil
}

// mixed returns work of about 2 ns per item.
func mixed(n int) work {
	out := make([]uint64, n)
	return work{n: n, out: out, want: mix, body: engine.Body{
		Plain:   func(i int) { out[i] += mix(i) },
		Task:    func(_ context.Context, i int) error { out[i] += mix(i); return nil },
		Pointer: func(i *int) { out[*i] += mix(*i) },
		Range: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] += mix(i)
			}
		},
	}}
}

// mix is small enough to be inlined.
func mix(i int) uint64 {
	x := uint64(i) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	return x * 0xbf58476d1ce4e5b9
}

// spinning returns work whose items compute for the given numbers of steps.
func spinning(cost []int) work {
	out := make([]uint64, len(cost))
	want := make([]uint64, len(cost))
	for i, c := range cost {
		want[i] = load.Spin(c)
	}
	return work{n: len(cost), out: out, want: func(i int) uint64 { return want[i] }, body: engine.Body{
		Plain:   func(i int) { out[i] += load.Spin(cost[i]) },
		Task:    func(_ context.Context, i int) error { out[i] += load.Spin(cost[i]); return nil },
		Pointer: func(i *int) { out[*i] += load.Spin(cost[*i]) },
		Range: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] += load.Spin(cost[i])
			}
		},
	}}
}

// alike returns the cost of n equal items.
func alike(n, steps int) []int {
	cost := make([]int, n)
	for i := range cost {
		cost[i] = steps
	}
	return cost
}

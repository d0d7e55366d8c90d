package servers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// sleeper serves batches of tasks that only sleep.
func (z sizes) sleeper() server {
	few, many := 100/z.divisor, 1000/z.divisor
	alike := make([]time.Duration, many)
	for i := range alike {
		alike[i] = 5 * time.Millisecond
	}
	return server{
		name: "sleep",
		rows: []row{
			{name: fmt.Sprintf("batch=%d/wait=0-9ms", few), doc: "an op is all tasks, which sleep for 0 to 9 ms", n: few, batches: z.batches(20)},
			{name: fmt.Sprintf("batch=%d/wait=5ms", many), doc: "an op is all tasks, which sleep for 5 ms", n: many, batches: z.batches(10)},
		},
		connect: func(context.Context, string) ([]task, func(), error) {
			return []task{sleeping(spread(few, 9*time.Millisecond)), sleeping(alike)}, func() {}, nil
		},
	}
}

// batches returns how many calls of a batch a sample has.
func (z sizes) batches(full int) int { return max(1, full/z.divisor) }

// sleeping returns a task for each time.
func sleeping(times []time.Duration) task {
	return func(_ context.Context, i int) error {
		time.Sleep(times[i])
		return nil
	}
}

// spread returns times from 0 to the longest, in random but fixed order.
func spread(n int, longest time.Duration) []time.Duration {
	times := make([]time.Duration, n)
	for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		times[i] = longest * time.Duration(k) / time.Duration(max(1, n-1))
	}
	return times
}

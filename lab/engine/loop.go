package engine

import (
	"context"
	"runtime"
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// A Body is the body of a loop in the forms that engines take, made once, as a
// Task is.
type Body struct {
	Plain   func(i int)
	Task    func(ctx context.Context, i int) error
	Pointer func(i *int) // i points into a slice of indexes

	// Range runs the items from lo to hi-1. For small items its loop is written
	// out, so that it compiles to the same code as a plain loop.
	Range func(lo, hi int)
}

// BodyOf returns f in all forms. All but the first cost an extra call per item.
func BodyOf(f func(i int)) Body {
	return Body{
		Plain:   f,
		Task:    func(_ context.Context, i int) error { f(i); return nil },
		Pointer: func(i *int) { f(*i) },
		Range: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				f(i)
			}
		},
	}
}

// A Loop is an engine for a known number of items.
type Loop struct {
	result.Model // Doc names the API used

	// Unlimited loops take no limit: they run GOMAXPROCS items concurrently,
	// and are not for items that wait.
	Unlimited bool

	// AdaptiveMax is the largest number of concurrent items if no limit is set,
	// for loops with an adaptive limit.
	AdaptiveMax int

	// Run calls the body for 0 to n-1, with at most limit concurrent calls.
	// Limit 0 means no option, or GOMAXPROCS where a limit is required.
	Run func(n, limit int, b Body)
}

// Loops returns all loops, stint's last.
func Loops() []Loop {
	return []Loop{
		Plain(), PlainEach(), PlainRange(), Static(), StaticRange(), Counter(1), Counter(1024), GoroutineEach(), ErrgroupEach(), ConcIter(), Rill(),
		Range(), Each(), ParEach(), ParRange(),
	}
}

// limitOrProcs returns limit, or GOMAXPROCS for 0.
func limitOrProcs(limit int) int {
	if limit == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return limit
}

var numbers struct {
	mu  sync.Mutex
	all []int
}

// indexes returns 0 to n-1 for engines that take a slice, which a program would
// already have. It is created in the warm-up round.
func indexes(n int) []int {
	numbers.mu.Lock()
	defer numbers.mu.Unlock()
	for len(numbers.all) < n {
		numbers.all = append(numbers.all, len(numbers.all))
	}
	return numbers.all[:n]
}

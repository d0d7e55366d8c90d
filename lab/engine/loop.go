package engine

import (
	"context"
	"runtime"
	"sync"

	"github.com/stint-go/stint/lab/report"
)

// A Body is the body of a loop in the forms that engines take, made once, as a
// Task is.
type Body struct {
	Plain func(i int)
	Task  func(ctx context.Context, i int) error
}

// BodyOf returns f in all forms, as TaskOf does.
func BodyOf(f func(i int)) Body {
	return Body{f, func(_ context.Context, i int) error { f(i); return nil }}
}

// A Loop is an engine for finite work: a body and how often to call it.
type Loop struct {
	Name string
	Doc  string // what is used of it
	Kind report.Kind

	// Unbounded loops run everything at once, whatever the limit.
	Unbounded bool

	// Run calls the body for 0 to n-1, at most limit calls at once. A limit of
	// 0 stands for what the engine does unless told otherwise; those that must
	// be told are told GOMAXPROCS.
	Run func(n, limit int, b Body)
}

// Loops returns all engines for finite work, stint's last.
func Loops() []Loop {
	return []Loop{
		Plain(), Static(), Counter(1), Counter(1024), GoroutineEach(), ErrgroupEach(), ConcIter(), Rill(),
		Range(), Each(),
	}
}

// processors is limit, or GOMAXPROCS for 0.
func processors(limit int) int {
	if limit == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return limit
}

var numbers struct {
	mu  sync.Mutex
	all []int
}

// indexes returns 0 to n-1, for engines that take a slice: in a program it
// would be there before the loop. It is made by the first call, in the round
// that does not count.
func indexes(n int) []int {
	numbers.mu.Lock()
	defer numbers.mu.Unlock()
	for len(numbers.all) < n {
		numbers.all = append(numbers.all, len(numbers.all))
	}
	return numbers.all[:n]
}

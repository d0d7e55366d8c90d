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
	Pointer func(i *int) // to an element of a slice of indexes

	// Span does the items from lo to hi-1. Its loop is written out where an
	// item is small, since that is what the form is for: the compiler makes of
	// it what it makes of a loop without an engine.
	Span func(lo, hi int)
}

// BodyOf returns f in all forms, as TaskOf does. In all but the first an item
// costs a call more.
func BodyOf(f func(i int)) Body {
	return Body{
		Plain:   f,
		Task:    func(_ context.Context, i int) error { f(i); return nil },
		Pointer: func(i *int) { f(*i) },
		Span: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				f(i)
			}
		},
	}
}

// A Loop is an engine for finite work: a body and how often to call it.
type Loop struct {
	Name string
	Doc  string // what is used of it
	Kind result.Kind

	// Unbounded loops run everything at once, whatever the limit.
	Unbounded bool

	// Unlimited loops cannot be given a limit: they run GOMAXPROCS items at
	// once, and are not for items that wait.
	Unlimited bool

	// Most is how many items run at once, at most, when no limit is given, if the
	// loop looks for the limit itself.
	Most int

	// Run calls the body for 0 to n-1, at most limit calls at once. A limit of
	// 0 stands for what the engine does unless told otherwise; those that must
	// be told are told GOMAXPROCS.
	Run func(n, limit int, b Body)
}

// Loops returns all engines for finite work, stint's last.
func Loops() []Loop {
	return []Loop{
		Plain(), PlainEach(), PlainRange(), Static(), StaticRange(), Counter(1), Counter(1024), GoroutineEach(), ErrgroupEach(), ConcIter(), Rill(),
		Range(), Each(), ParEach(), ParRange(),
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

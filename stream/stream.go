package stream

import (
	"context"
	"fmt"
)

// A Stream is the description of a sequence of records: where they come from and
// what is done to them. Making one does nothing. A terminal (All, Collect, Each or
// Reduce) runs it, as often as is wanted if its source can be read again: a slice
// can, a channel cannot. What its functions capture is shared by all runs. Several
// goroutines may run the same Stream at once if its functions bear that. The zero Stream
// has no records.
type Stream[T any] struct {
	// feed hands the records to a sink, on the goroutine of g, and returns when there
	// are no more, the sink wants none, or in has ended. What it has started has ended then.
	// An error is left in g.err.
	feed func(g *segment, in *scope, to sink[T])

	branches []branch // of partitions, whose others the same terminal must have too
}

// A sink takes records and reports whether it wants more.
type sink[T any] struct {
	one  func(T) bool
	many func([]T) bool // does not keep the slice; may be called with none
}

// flow runs s. It is what every stage calls for the one before it, also when g is over:
// each source of a run is begun, and looks for itself.
func (s Stream[T]) flow(g *segment, in *scope, to sink[T]) {
	if s.feed != nil {
		s.feed(g, in, to)
	}
}

// stage returns what follows s on the same goroutine.
func stage[T, R any](s Stream[T], through func(g *segment, in *scope, to sink[R]) sink[T]) Stream[R] {
	return Stream[R]{
		feed:     func(g *segment, in *scope, to sink[R]) { s.flow(g, in, through(g, in, to)) },
		branches: s.branches,
	}
}

// check panics when an argument of the function called caller is nil.
func check(caller, what string, missing bool) {
	if missing {
		panic("stream: " + caller + ": nil " + what)
	}
}

// checkNumber panics when an argument is smaller than least.
func checkNumber(caller string, n, least int) {
	if n < least {
		panic(fmt.Sprintf("stream: %s(%d): want %d or more", caller, n, least))
	}
}

// checkContext is check for the context of a terminal.
func checkContext(caller string, ctx context.Context) { check(caller, "context", ctx == nil) }

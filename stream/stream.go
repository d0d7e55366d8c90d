package stream

import "fmt"

// A Stream describes a sequence of records: a source and the stages behind it. Making a Stream
// runs nothing. A terminal (All, Collect, Each or Reduce) runs it. It may be run any number of
// times if its source can be read again: a slice can, a channel cannot. Several goroutines may
// run one Stream concurrently if its functions permit that: all runs share the variables that
// the functions capture. The zero Stream has no records.
type Stream[T any] struct {
	// feed passes the records to a sink, on the goroutine of the chain. It returns when
	// there are no more records, the sink refuses one, or the lifetime has ended, and
	// everything that it started has finished. It leaves an error in chain.err.
	feed func(c *chain, in *lifetime, to sink[T])
}

// A sink takes records and reports whether it wants more.
type sink[T any] struct {
	one  func(T) bool
	many func([]T) bool // does not keep the slice
}

// oneByOne returns a sink that takes records one by one.
func oneByOne[T any](in *lifetime, one func(T) bool) sink[T] {
	return sink[T]{one: one, many: func(vs []T) bool {
		for i := range vs {
			if in.ended() || !one(vs[i]) {
				return false
			}
		}
		return true
	}}
}

// flow runs s. Each stage calls it for the stage before, even when the lifetime has
// ended: sources check that.
func (s Stream[T]) flow(c *chain, in *lifetime, to sink[T]) {
	if s.feed != nil {
		s.feed(c, in, to)
	}
}

// stage returns a stage that follows s on the same goroutine.
func stage[T, R any](s Stream[T], through func(c *chain, in *lifetime, to sink[R]) sink[T]) Stream[R] {
	return Stream[R]{feed: func(c *chain, in *lifetime, to sink[R]) { s.flow(c, in, through(c, in, to)) }}
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

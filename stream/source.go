package stream

import (
	"context"
	"iter"
	"sync/atomic"
)

// From returns the records of a slice, which must not be changed while the stream runs.
func From[T any](s []T) Stream[T] {
	return Stream[T]{feed: func(g *segment, _ *scope, to sink[T]) { pump(g, s, to) }}
}

// FromSeq returns the values of a sequence. It is called on one goroutine, that of the
// next boundary, or of the terminal if there is none, and should return when yield
// returns false. Where it may block for long it should watch the context that the
// terminal is given: the terminal waits for it. FromSeq panics if seq is nil.
func FromSeq[T any](seq iter.Seq[T]) Stream[T] {
	check("FromSeq", "sequence", seq == nil)
	return Stream[T]{feed: func(g *segment, _ *scope, to sink[T]) {
		if g.over() {
			return
		}
		for v := range seq {
			if atomic.LoadUint32(&g.halt)&over != 0 || !to.one(v) {
				return
			}
		}
	}}
}

// FromSeq2 returns the values of a sequence as FromSeq does, up to the first pair with
// an error: there the stream ends, with that error, and the value is dropped. seq is not
// called at all if nothing is wanted, as when the context has ended already: what must be
// closed is opened by seq itself, or closed after the terminal. FromSeq2 panics if seq is
// nil.
func FromSeq2[T any](seq iter.Seq2[T, error]) Stream[T] {
	check("FromSeq2", "sequence", seq == nil)
	return Stream[T]{feed: func(g *segment, in *scope, to sink[T]) {
		if g.over() {
			return
		}
		for v, err := range seq {
			if err != nil {
				g.run.failed(in, err)
			}
			switch {
			case g.over():
				return
			case err != nil:
				g.fail(err)
				return
			case !to.one(v):
				return
			}
		}
	}}
}

// FromChan returns what is received from c until it is closed. What is ready is passed on
// one by one: a Take receives no more than it wants, unless a boundary is between, which
// holds some. When the context ends, values that were received and not consumed are
// dropped; who wants to stop without loss closes c. FromChan panics if c is nil.
func FromChan[T any](c <-chan T) Stream[T] {
	check("FromChan", "channel", c == nil)
	return Stream[T]{feed: func(g *segment, in *scope, to sink[T]) {
		for !g.over() {
			var v T
			var ok bool
			select {
			case v, ok = <-c:
			default:
				g.pause()
				select {
				case v, ok = <-c:
				case <-in.ctx.Done():
					return
				}
			}
			if !ok || !to.one(v) {
				return
			}
		}
	}}
}

// Generate returns the records that f emits, on one goroutine as FromSeq says. emit
// waits until there is room for the record, and returns false when no more is
// wanted: f should return then. It must not be called by two goroutines at once,
// which can crash the program: several producers are several streams for Merge.
// After f has returned it returns false. The context that f is given ends when no
// more is wanted. The error that f returns ends the stream, unless emit had
// returned false. The stages behind it run within emit: f must not recover their panics,
// which is a panic itself. Generate panics if f is nil.
func Generate[T any](f func(ctx context.Context, emit func(T) bool) error) Stream[T] {
	check("Generate", "function", f == nil)
	return Stream[T]{feed: func(g *segment, in *scope, to sink[T]) {
		if g.over() {
			return
		}
		emit, door := through(g, to)
		err := f(in.ctx, emit)
		door.returned("Generate: the function")
		left := *door == shut
		*door = shut // for who emits later
		if err == nil || left {
			return
		}
		if g.run.failed(in, err); !g.over() {
			g.fail(err)
		}
	}}
}

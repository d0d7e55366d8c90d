package stream

import (
	"context"
	"iter"
)

// From returns the records of a slice, which must not change while the stream runs.
func From[T any](s []T) Stream[T] {
	return Stream[T]{feed: func(c *chain, in *lifetime, to sink[T]) {
		pump(c, in, s, to)
	}}
}

// FromSeq returns the values of a sequence. The sequence runs on one goroutine: that of the
// next boundary, or of the terminal if no boundary follows. It should return when yield returns
// false. The terminal waits for the sequence, so a sequence that may block for long should
// watch the context of the terminal. FromSeq panics if seq is nil.
func FromSeq[T any](seq iter.Seq[T]) Stream[T] {
	check("FromSeq", "sequence", seq == nil)
	return Stream[T]{feed: func(_ *chain, in *lifetime, to sink[T]) {
		if in.ended() {
			return
		}
		for v := range seq {
			if in.ended() || !to.one(v) {
				return
			}
		}
	}}
}

// FromChan returns the values received from ch until it is closed. Values are passed on one by
// one: a Take receives no more values than it wants, unless a boundary before the Take buffers
// some. When the context ends, values that were received but not consumed are dropped. To stop
// without loss, close ch. FromChan panics if ch is nil.
func FromChan[T any](ch <-chan T) Stream[T] {
	check("FromChan", "channel", ch == nil)
	return Stream[T]{feed: func(c *chain, in *lifetime, to sink[T]) {
		for !in.ended() {
			var v T
			var ok bool
			select {
			case v, ok = <-ch:
			default:
				c.wakeReceiver()
				select {
				case v, ok = <-ch:
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

// Generate returns the records that f emits. f runs on one goroutine, as the sequence of
// FromSeq does. emit waits for room. It returns false when no more records are wanted: then the
// context of f ends, and f should return. An error that f returns ends the stream, unless emit
// has returned false. If no records are wanted at the start, for example because the context
// has already ended, f is not called.
//
// emit must not be called concurrently, which can crash the program. For several producers,
// Merge several streams. After f has returned, emit returns false. The stages behind f run
// within emit, so f must not recover their panics: Generate panics if it does. Generate panics
// if f is nil.
func Generate[T any](f func(ctx context.Context, emit func(T) bool) error) Stream[T] {
	check("Generate", "function", f == nil)
	return Stream[T]{feed: func(c *chain, in *lifetime, to sink[T]) {
		if in.ended() {
			return
		}
		emit, state := newYield(in, to)
		*state = yieldReady
		err := f(in.ctx, emit)
		if wanted := state.end("Generate: the function"); err != nil && wanted {
			c.fail(c.run.recordError(in, err))
		}
	}}
}

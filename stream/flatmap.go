package stream

import "iter"

// FlatMap returns the values of the sequences that f returns for the records of s, one sequence
// after the other. A nil sequence has no values. If f can fail, let its sequence yield values
// that hold an error, and put a MapErr behind the FlatMap. The result of f must be declared as
// an iter.Seq. A sequence must not recover a panic of its yield function: FlatMap panics if it
// does. When a sequence has returned, its yield function does nothing and returns false.
// FlatMap panics if f is nil.
func FlatMap[T, R any](s Stream[T], f func(T) iter.Seq[R]) Stream[R] {
	check("FlatMap", "function", f == nil)
	return stage(s, func(_ *chain, in *lifetime, to sink[R]) sink[T] {
		yield, state := newYield(in, to) // one for all records: it is on the heap
		return oneByOne(in, func(v T) bool {
			if seq := f(v); seq != nil {
				*state = yieldReady
				seq(yield)
				return state.end("FlatMap: the sequence")
			}
			return true
		})
	})
}

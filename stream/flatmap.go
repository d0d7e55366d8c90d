package stream

import "iter"

// FlatMap returns the values of the sequences that f returns for the records of s, one
// sequence after the other. They are handed on one by one, as those of FromSeq. A nil
// sequence has none. What can fail gives values that say so, for a MapErr behind it. The
// result of f is declared as an iter.Seq. A sequence must not recover a panic of its
// yield, which is a panic itself. FlatMap panics if f is nil.
func FlatMap[T, R any](s Stream[T], f func(T) iter.Seq[R]) Stream[R] {
	check("FlatMap", "function", f == nil)
	return stage(s, func(g *segment, _ *scope, to sink[R]) sink[T] {
		yield, door := through(g, to) // one for all records: it is on the heap
		one := func(v T) bool {
			if seq := f(v); seq != nil {
				seq(yield)
				door.returned("FlatMap: the sequence")
			}
			return *door == open
		}
		return sink[T]{one: one, many: each(g, one)}
	})
}

// each returns the sink of many records for a stage that takes them one by one.
func each[T any](g *segment, one func(T) bool) func([]T) bool {
	return func(vs []T) bool {
		for i := range vs {
			if g.over() || !one(vs[i]) {
				return false
			}
		}
		return true
	}
}

package stream

// Take returns the first n records of s, and asks for no more: what is before it is
// cancelled when it has them. With n = 0 nothing of s runs. It panics if n is negative.
func Take[T any](s Stream[T], n int) Stream[T] {
	checkNumber("Take", n, 0)
	return Stream[T]{branches: s.branches, feed: func(g *segment, in *scope, to sink[T]) {
		before := within(in.ctx)
		defer before.cancel()
		if n == 0 {
			before.cancel()
			none := g.run.segment(g, before.ctx)
			none.stop()
			s.flow(none, before, sink[T]{one: func(T) bool { return false }, many: func([]T) bool { return false }})
			return
		}
		left := n
		more := func(ok bool) bool {
			if left == 0 || !ok {
				before.cancel()
				return false
			}
			return true
		}
		s.flow(g, before, sink[T]{
			one: func(v T) bool {
				left--
				return more(to.one(v))
			},
			many: func(vs []T) bool {
				vs = vs[:min(left, len(vs))]
				left -= len(vs)
				return more(to.many(vs))
			},
		})
	}}
}

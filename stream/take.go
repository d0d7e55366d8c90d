package stream

// Take returns the first n records of s. Once it has them, it cancels the earlier stages.
// With n = 0 no function of s is called. Take panics if n is negative.
func Take[T any](s Stream[T], n int) Stream[T] {
	checkNumber("Take", n, 0)
	return Stream[T]{feed: func(c *chain, in *lifetime, to sink[T]) {
		before := newLifetime(in.ctx)
		defer before.cancel()
		left := n
		more := func(ok bool) bool {
			if left == 0 || !ok {
				before.cancel()
				return false
			}
			return true
		}
		more(true) // of none
		s.flow(c, before, sink[T]{
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

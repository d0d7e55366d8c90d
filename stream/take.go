package stream

// Take returns the first n records of s. Once it has them, it cancels the earlier stages.
// With n = 0 no function of s is called. Take panics if n is negative.
func Take[T any](s Stream[T], n int) Stream[T] {
	checkNumber("Take", n, 0)
	return Stream[T]{feed: func(c *chain, in *lifetime, to sink[T]) {
		before := newLifetime(in.ctx)
		defer before.cancel()
		left := n
		if left == 0 {
			before.cancel()
		}
		s.flow(c, before, func(v T) bool {
			left--
			ok := to(v)
			if left == 0 || !ok {
				before.cancel()
			}
			return left > 0 && ok
		})
	}}
}

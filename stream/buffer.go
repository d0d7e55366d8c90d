package stream

// Buffer runs the earlier stages on a goroutine of their own, concurrently with the later
// ones: reading and consuming overlap. It holds at most the given number of records; while
// it is full, the source waits. Records cross in batches, so a Buffer of less than some
// thousand records saves memory and costs time. Buffer panics if records is less than 1.
func Buffer[T any](s Stream[T], records int) Stream[T] {
	checkNumber("Buffer", records, 1)
	size := min(max(records/queueBatches, 1), batchSize[T]())
	return Stream[T]{feed: func(c *chain, in *lifetime, to sink[T]) {
		from := newReceiver[T](size, records/size)
		up := spawn(c, in, s, from.newQueue())
		c.during(func() { from.receiveAll(c, in, to) }, up.stopAndWait)
	}}
}

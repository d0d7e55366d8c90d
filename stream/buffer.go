package stream

// Buffer runs what is before it on a goroutine of its own, at the same time as what
// follows: reading and consuming overlap. At most so many records are between the two;
// when they are, the source waits. A buffer of less than some thousand records saves
// memory and costs time, since records cross together. It panics if records is less than 1.
func Buffer[T any](s Stream[T], records int) Stream[T] {
	checkNumber("Buffer", records, 1)
	size := min(max(records/batches, 1), batchSize[T]())
	return Stream[T]{branches: s.branches, feed: func(g *segment, in *scope, to sink[T]) {
		from := newInlet[T](size, records/size)
		up := spawn(g, in, s, from.line())
		defer up.end()
		from.receiveAll(g, in, to)
	}}
}

package stream

import "slices"

// Merge runs several streams concurrently, each on a goroutine of its own, and returns
// their records in the order of arrival, taking turns if several streams have records. The
// records of one stream stay in order. Merge ends when all streams have ended, or with the
// first error, which cancels the others. Merge() has no records.
func Merge[T any](ss ...Stream[T]) Stream[T] {
	ss = slices.Clone(ss)
	return Stream[T]{feed: func(c *chain, in *lifetime, to sink[T]) {
		from := newReceiver[T](batchSize[T](), queueBatches)
		queues := make([]*queue[T], len(ss))
		ups := make([]*chain, len(ss))
		for i, s := range ss {
			queues[i] = from.newQueue()
			ups[i] = spawn(c, in, s, queues[i])
		}
		c.during(func() { merge(c, in, from, queues, to) }, func() {
			for _, up := range ups {
				up.stop()
			}
			for _, up := range ups {
				up.stopAndWait()
			}
		})
	}}
}

// merge passes on the records that arrive in queues, until all streams have ended or one has
// failed. It takes a step of each in turn: no stream waits until the batches of another are
// consumed.
func merge[T any](c *chain, in *lifetime, from *receiver[T], queues []*queue[T], to sink[T]) {
	arrived := make([][]*batch[T], len(queues)) // of each
	open, have := len(queues), 0                // streams that have not ended; batches that have arrived
	for i := 0; open > 0; i = (i + 1) % len(queues) {
		b := from.poll()
		if b == nil && have == 0 {
			if b, _ = from.next(c, in, nil); b == nil {
				return
			}
		}
		for ; b != nil; b = from.poll() {
			j := slices.Index(queues, b.from.to.(*queue[T]))
			arrived[j] = append(arrived[j], b)
			have++
		}
		if len(arrived[i]) == 0 {
			continue
		}
		b = arrived[i][0]
		if b.last {
			open--
			if b.err != nil {
				c.fail(b.err)
				return
			}
		} else {
			step := b.items[b.taken:min(b.taken+c.step, b.n)]
			if !pump(c, step, to) {
				return
			}
			if b.taken += len(step); b.taken < b.n {
				continue
			}
			b.taken = 0
			b.recycle()
		}
		arrived[i] = slices.Delete(arrived[i], 0, 1)
		have--
	}
}

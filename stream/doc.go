// Package stream runs pipelines: records come from a source, go through stages, and
// are consumed, in the order of the source unless something else is asked for.
//
// A [Stream] is a description. Nothing runs before one of the terminals, [Stream.All],
// [Collect], [Each] and [Reduce]; when it returns, all that it has started has ended.
//
//	pages := stream.ParMap(stream.FromSeq(urls), fetch, stint.Limit(16))
//	titles := stream.Filter(stream.Map(pages, title), func(s string) bool { return s != "" })
//	for title, err := range titles.All(ctx) {
//		...
//	}
//
// # Terms
//
// A source is where records come from: a slice, a sequence, a channel, or a function
// that emits them. A stage does something to each. Stages that follow each other run on
// one goroutine, as nested function calls do, and that of the terminal runs the last of them. A
// goroutine begins only at a boundary: what is before [ParMap], [Buffer], [Merge], a
// branch of [Partition], or a [Chunk] with a linger, runs on one of its own.
//
// # Which one
//
//   - one stage after the other: [Map], [Filter], [FlatMap], [Take], [Chunk], and [MapErr] for
//     what can fail
//   - fan-out, several calls of one function at once: ParMap, which keeps the order, or
//     with stint.Unordered; how many is for a [stint.Limiter] or a [stint.Pool] to say
//   - fan-in, several streams in one: Merge
//   - a pipeline, two stages at the same time: Buffer between them
//   - records with the same key in their order, and others at the same time: Partition
//   - records of a slice, each with a result, and no stages: [stint.Map] or
//     [stint.MapSeq] do as well
//
// # Errors, panics and cancellation
//
// An error ends the stream at its position, as in a loop: the terminal has the records
// before it, then the error as it is, once. Who wants to go on makes it a part of the
// record. When the terminal's context ends, its cause is the
// error; also when all records had come already, since a source that ends may have been cut
// short by it. What is on its way then is dropped, a Chunk that is not full too, and a few
// more records may still come: to stop without loss, end the source.
//
// MapErr, ParMap and Generate give their functions a context, in which they find the values
// of the terminal's; functions that are not given one should not wait for long. What functions
// of the stream have done is seen by who called the terminal when it has returned.
//
// When no more is wanted, because a loop is left, a Take has all that it wants or
// there was an error, the context of the functions before it ends, and they are waited for. A
// source that blocks should watch that context, which Generate is given, or the one
// that the terminal has. A panic of a function, on whichever goroutine, cancels
// everything and is raised again in the terminal as a [*stint.PanicError]. Its Also has
// the panics and errors of others. A call of runtime.Goexit is stint.ErrGoexit; on the
// terminal's own goroutine it cannot be stopped, and ends that goroutine after the others
// have ended.
//
// # What it costs
//
// A stage costs 1 to 2 ns a record besides its function, where records come out of a
// slice or over a boundary, and 3 ns where they come one by one, from FromSeq, FromChan,
// Generate or FlatMap. Over a boundary records go in batches, of 32 KiB or 1,024 records at
// most, 256 if they hold pointers, and 16 at least: 1 to 4 ns a record, and 5 ns more where
// the sender has them one by one. Nothing is allocated for a record. A run costs about
// 0.4 µs and a boundary 4 µs, a ParMap 9 µs, so a stream of ten records is for its
// order and its errors, not for speed.
//
// A sender that is faster than what it costs to wake a receiver, some microseconds,
// wants a long Buffer: the receiver is woken when half of it is full. Reading that takes
// 10 ns a record gains nothing by a Buffer behind it; let it read blocks, and send those.
//
// # How long a record waits
//
// Not for a batch to become full: one that is not is sent before its goroutine blocks on
// a boundary or a channel, and at the latest after a millisecond, also while the source
// blocks or a stage is at work on the next record. After a silence, of two milliseconds
// at most, the first record is sent at once. So a record waits, besides for who consumes it
// and for a processor, for a millisecond at most and for the call that the goroutine which has it is
// in. All goroutines of a run share one timer, which is set only while there is something
// to hand on.
//
// # How much there is at once
//
// What a boundary holds is bounded: so many records as Buffer says, and otherwise four
// batches, for each stream of a Merge and each branch of a Partition. ParMap says
// itself what it holds. When the consumer stops, so do the sources. A source is read
// as far ahead as all this holds; where that is too far, as for messages that are lost
// with the process, put a small Buffer before what holds more.
package stream

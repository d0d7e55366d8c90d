// Package stream runs pipelines: records come from a source, pass through stages, and are
// consumed in the order of the source, unless a stage is asked for another order.
//
// A [Stream] only describes a pipeline. One of the terminals, [Stream.All], [Collect], [Each]
// and [Reduce], runs it, and returns when everything it started has finished.
//
//	pages := stream.ParMap(stream.FromSeq(urls), fetch, stint.Limit(16))
//	titles := stream.Filter(stream.Map(pages, title), func(s string) bool { return s != "" })
//	for title, err := range titles.All(ctx) {
//		...
//	}
//
// # Choosing a stage
//
//   - a source that may block or fail, such as a queue of messages: [Generate]
//   - one record after the other: [Map], [Filter], [FlatMap], [Take], [Chunk], and [MapErr]
//     for functions that can fail
//   - fan-out, concurrent calls of one function: [ParMap], in order or stint.Unordered,
//     under a [stint.Limiter], a [stint.Pool], or an adaptive limit
//   - fan-in, several streams in one: [Merge]
//   - pipelining, two stages at the same time: [Buffer] between them
//   - parallel across keys, in order within a key: [ParMapKey]
//   - a result for each element of a slice, without further stages: use [stint.Map] or
//     [stint.MapSeq]
//
// Consecutive stages run as nested function calls on one goroutine, and the last stages on the
// goroutine of the terminal. Only boundaries start goroutines: the stages before a ParMap, a
// Buffer, a Merge, or a Chunk with a linger run on a goroutine of their own.
//
// # Errors, panics and cancellation
//
// An error ends the stream at its position, as in a loop: the terminal gets the records before
// it, and then the error, once. To continue after errors, make the error a part of the record.
// When the terminal's context ends, the stream ends with the cause of the context, even if all
// records have arrived, since the source may have been cut short. Records in the pipeline are
// dropped, except for a few that may still arrive. To stop without loss, end the source.
//
// When the loop is left, a Take has enough, or an error occurs, no more records are wanted.
// Then the contexts that MapErr, ParMap and Generate give to functions of earlier stages end,
// and the terminal waits for these functions. So a source that blocks should watch its context,
// or the context of the terminal. A function without a context should not block for long.
//
// A panic of a function on any goroutine cancels the run, and the terminal panics with a
// [*stint.PanicError]. If the terminal waits more than a second for other functions, the panic
// is also written to standard error. A call of runtime.Goexit is the error [stint.ErrGoexit].
// On the terminal's goroutine it ends that goroutine, after the other goroutines have finished.
// Everything that the functions did happens before the terminal returns.
//
// # Costs
//
// A stage costs 1 to 2 ns a record, or 3 ns behind FromSeq, FromChan, Generate and FlatMap,
// which pass on records one by one. A boundary costs 1 to 9 ns a record, and a ParMap about a
// microsecond. Only a ParMap allocates memory for each record. A run costs about 0.4 µs, each
// boundary 4 µs, and a ParMap 9 µs.
//
// A boundary passes many records to the next goroutine at a time: to wake that goroutine for
// each record would cost more than the stages do. A record waits until the consumer is ready, a
// CPU is free, and the current function call of its goroutine has returned; beyond that it
// waits at most a millisecond. A boundary holds at most 1,024 records. If a record has more
// than 64 bytes, a boundary holds 64 KB, but at least 64 records. A Buffer holds its number of
// records, and a ParMap the records in progress. When the consumer stops, so does the source.
// The [README] of this package has the details.
//
// [README]: https://github.com/stint-go/stint/blob/main/stream/README.md
package stream

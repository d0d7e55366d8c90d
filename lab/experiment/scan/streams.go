package scan

import (
	"context"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// Capacities of the boundary, in records and in blocks.
const (
	bufferSize  = 1 << 14
	blockBuffer = 8
)

// reduced is a stream that ends in the consumer.
func reduced(name, doc string, from func(in input, failed *error) stream.Stream[rating]) model {
	return model{Model: result.Ours.Model(name, doc+", Reduce"), scan: func(ctx context.Context, in input, use consumer) (tally, error) {
		var failed error
		t, err := stream.Reduce(ctx, from(in, &failed), tally{}, use)
		if err == nil {
			err = failed
		}
		return t, err
	}}
}

func generated(in input, _ *error) stream.Stream[rating] {
	return stream.Generate(func(_ context.Context, emit func(rating) bool) error { return in.each(emit) })
}

// sequence turns the reader into a sequence, which stores its error in failed.
func sequence(in input, failed *error) stream.Stream[rating] {
	return stream.FromSeq(func(yield func(rating) bool) { *failed = in.each(yield) })
}

func generateFused() model {
	return reduced("stream.Generate-fused", "Generate", generated)
}

func seqFused() model { return reduced("stream.FromSeq-fused", "FromSeq", sequence) }

func generate() model {
	return reduced(nameGenerate, "Generate, a Buffer of 16,384", func(in input, failed *error) stream.Stream[rating] {
		return stream.Buffer(generated(in, failed), bufferSize)
	})
}

func seq() model {
	return reduced(nameSeq, "FromSeq, a Buffer of 16,384", func(in input, failed *error) stream.Stream[rating] {
		return stream.Buffer(sequence(in, failed), bufferSize)
	})
}

// blocksStream sends blocks of 64 KB across the boundary, and decodes after it.
func blocksStream() model {
	return reduced(nameBlocksStream, "Generate of blocks of 64 KB, a Buffer of 8, FlatMap into records", func(in input, _ *error) stream.Stream[rating] {
		return stream.FlatMap(stream.Buffer(blocksOf(in), blockBuffer), decoded)
	})
}

// blocksOf returns the table as newly allocated blocks.
func blocksOf(in input) stream.Stream[[]byte] {
	return stream.Generate(func(_ context.Context, emit func([]byte) bool) error {
		return readBlocks(in, func() []byte { return make([]byte, blockSize) }, emit)
	})
}

// tallies consumes each block in a stage after the boundary, and adds the
// results.
func tallies() model {
	return tallied(nameTallies, "Generate of blocks of 64 KB, a Buffer of 8, Map of a block to its tally", func(s stream.Stream[[]byte], tally func([]byte) tally) stream.Stream[tally] {
		return stream.Map(stream.Buffer(s, blockBuffer), tally)
	})
}

// parTallies consumes several blocks concurrently.
func parTallies() model {
	return tallied(nameParTallies, "Generate of blocks of 64 KB, ParMap of a block to its tally", func(s stream.Stream[[]byte], f func([]byte) tally) stream.Stream[tally] {
		return stream.ParMap(s, func(_ context.Context, block []byte) (tally, error) { return f(block), nil })
	})
}

func tallied(name, doc string, stage func(stream.Stream[[]byte], func([]byte) tally) stream.Stream[tally]) model {
	return model{Model: result.Ours.Model(name, doc+", Reduce"), scan: func(ctx context.Context, in input, use consumer) (tally, error) {
		return stream.Reduce(ctx, stage(blocksOf(in), func(block []byte) tally { return consumed(block, use) }), tally{}, tally.plus)
	}}
}

// consumed returns the consumer's result for a block.
func consumed(block []byte, use consumer) tally {
	var t tally
	for ; len(block) > 0; block = block[size:] {
		t = use(t, decode(block))
	}
	return t
}

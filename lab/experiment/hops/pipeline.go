package hops

import (
	"context"
	"fmt"
	"iter"

	"github.com/destel/rill"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

const (
	bufferSize = 1024 // records of a Buffer
	batchSize  = 256  // records of a hand-written batch
)

// A pipeline passes records on.
type pipeline struct {
	result.Model
	run runner
}

// A runner passes the records of a source over a number of hops, and folds them.
type (
	runner func(source iter.Seq[record], hops int, fold folder) uint64
	folder func(sum uint64, r record) uint64
)

// prompt are pipelines in which no record waits for further ones.
var prompt = []pipeline{
	{result.Peer.Model("channel", "a goroutine a hop, unbuffered channels"), overChannels(0)},
	{result.Peer.Model("channel-64", "a goroutine a hop, channels of 64"), overChannels(64)},
	{result.Peer.Model("rill", "destel/rill v0.7.0, FromSeq, Map of 1 between two hops, ForEach of 1"), withRill},
	{result.Ours.Model("stream.FromSeq", fmt.Sprintf("FromSeq, a Buffer of %d records a hop, Reduce", bufferSize)), overBoundaries},
}

// batches waits for a full batch.
var batches = pipeline{result.Peer.Model("batches", fmt.Sprintf("a goroutine a hop, slices of %d records over channels of 4", batchSize)), inBatches}

// buffered adds n boundaries to a stream.
func buffered(s stream.Stream[record], n int) stream.Stream[record] {
	for range n {
		s = stream.Buffer(s, bufferSize)
	}
	return s
}

// reduce leaves out the error: after one, the sum differs.
func reduce(s stream.Stream[record], fold folder) uint64 {
	sum, _ := stream.Reduce(context.Background(), s, 0, fold)
	return sum
}

func overChannels(size int) runner {
	return func(source iter.Seq[record], hops int, fold folder) uint64 {
		total := uint64(0)
		for r := range sent(source, hops, size) {
			total = fold(total, r)
		}
		return total
	}
}

func inBatches(source iter.Seq[record], hops int, fold folder) uint64 {
	total := uint64(0)
	for b := range sent(batched(source), hops, 4) {
		for _, r := range b {
			total = fold(total, r)
		}
	}
	return total
}

// sent sends the values of a sequence over a number of channels.
func sent[T any](seq iter.Seq[T], hops, size int) <-chan T {
	c := make(chan T, size)
	go func() {
		defer close(c)
		if hops == 1 {
			for v := range seq {
				c <- v
			}
			return
		}
		for v := range sent(seq, hops-1, size) {
			c <- v
		}
	}()
	return c
}

func batched(in iter.Seq[record]) iter.Seq[[]record] {
	return func(yield func([]record) bool) {
		batch := make([]record, 0, batchSize)
		for r := range in {
			if batch = append(batch, r); len(batch) == batchSize {
				yield(batch)
				batch = make([]record, 0, batchSize)
			}
		}
		yield(batch)
	}
}

func overBoundaries(source iter.Seq[record], hops int, fold folder) uint64 {
	return reduce(buffered(stream.FromSeq(source), hops), fold)
}

func withRill(source iter.Seq[record], hops int, fold folder) uint64 {
	c := rill.FromSeq(source, nil)
	for range hops - 1 {
		c = rill.Map(c, 1, func(r record) (record, error) { return r, nil })
	}
	return rillSum(c, fold)
}

func rillSum(c <-chan rill.Try[record], fold folder) uint64 {
	total := uint64(0)
	_ = rill.ForEach(c, 1, func(r record) error {
		total = fold(total, r)
		return nil
	})
	return total
}

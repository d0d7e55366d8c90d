package hops

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/destel/rill"
	"github.com/sourcegraph/conc/stream"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// batchSize is the number of records in a hand-written batch.
const batchSize = 256

// perRecord returns models that hand over one record at a time.
func perRecord(f input[record], hops int) []experiment.Model {
	out := []experiment.Model{
		f.model(result.Peer.Model("channel", "a goroutine a stage, unbuffered channels"), f.added(1), func(in []record) uint64 {
			return plain(in, f, hops, 0)
		}),
		f.model(result.Peer.Model("channel-64", "a goroutine a stage, channels of 64"), f.added(1), func(in []record) uint64 {
			return plain(in, f, hops, 64)
		}),
		f.model(result.Peer.Model("channel-select", "the same unbuffered, each send in a select with done"), f.added(1), func(in []record) uint64 {
			return selected(in, f, hops, 0)
		}),
		f.model(result.Peer.Model("channel-64-select", "the same of 64, each send in a select with done"), f.added(1), func(in []record) uint64 {
			return selected(in, f, hops, 64)
		}),
		f.model(result.Peer.Model("rill", "destel/rill v0.7.0, FromSlice, Map of 1 between two hops, ForEach of 1"), f.added(1), func(in []record) uint64 {
			return rillHops(in, f, hops)
		}),
	}
	if hops > 1 {
		return out
	}
	return append(out, f.model(result.Peer.Model("conc-stream-1", "sourcegraph/conc v0.3.0, stream.New().WithMaxGoroutines(1), the callbacks add up"), f.added(1), func(in []record) uint64 {
		return concHop(in, f)
	}))
}

// plain sends each record over channels of a size. It cannot be stopped early.
func plain(in []record, f input[record], hops, size int) uint64 {
	first := make(chan record, size)
	go func() {
		defer close(first)
		for _, r := range in {
			first <- f.add(r)
		}
	}()
	last := first
	for range hops - 1 {
		from, to := last, make(chan record, size)
		go func() {
			defer close(to)
			for r := range from {
				to <- r
			}
		}()
		last = to
	}
	return received(last, f.fold)
}

// selected sends each record over channels of a size until done is closed.
func selected(in []record, f input[record], hops, size int) uint64 {
	c := sent(func(yield func(record) bool) {
		for _, r := range in {
			if !yield(f.add(r)) {
				return
			}
		}
	}, size)
	for range hops - 1 {
		c = sent(receiving(c), size)
	}
	return received(c, f.fold)
}

// sent sends the values of a sequence on a goroutine. As in most programs, a
// context can stop it.
func sent[T any](seq iter.Seq[T], size int) <-chan T {
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan T, size)
	go func() {
		defer cancel()
		defer close(out)
		done := ctx.Done()
		for r := range seq {
			select {
			case out <- r:
			case <-done:
				return
			}
		}
	}()
	return out
}

// receiving yields the values of a channel.
func receiving[T any](c <-chan T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for r := range c {
			if !yield(r) {
				return
			}
		}
	}
}

// received folds the values of a channel.
func received[T any](c <-chan T, fold func(uint64, T) uint64) uint64 {
	total := uint64(0)
	for r := range c {
		total = fold(total, r)
	}
	return total
}

// batches sends slices of records, as an experienced programmer would write it.
// A partial batch waits for the end of the input.
func batches(f input[record], hops int) experiment.Model {
	m := result.Peer.Model(nameBatches, fmt.Sprintf("a goroutine a stage, slices of %d records over channels of 4, each send in a select with done", batchSize))
	return f.model(m, f.added(1), func(in []record) uint64 {
		c := sent(batched(in, f.add), 4)
		for range hops - 1 {
			c = sent(receiving(c), 4)
		}
		total := uint64(0)
		for b := range c {
			for _, r := range b {
				total = f.fold(total, r)
			}
		}
		return total
	})
}

func batched(in []record, add func(record) record) iter.Seq[[]record] {
	return func(yield func([]record) bool) {
		batch := make([]record, 0, batchSize)
		for _, r := range in {
			if batch = append(batch, add(r)); len(batch) == batchSize {
				if !yield(batch) {
					return
				}
				batch = make([]record, 0, batchSize)
			}
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
}

// rillHops has a hop after FromSlice, and one after each Map.
func rillHops(in []record, f input[record], hops int) uint64 {
	c := rill.FromSlice(in, nil)
	for range hops - 1 {
		c = rill.Map(c, 1, func(r record) (record, error) { return r, nil })
	}
	return rillSum(c, func(total uint64, r record) uint64 { return f.fold(total, f.add(r)) })
}

func rillSequence[T any](seq iter.Seq[T], fold func(uint64, T) uint64) uint64 {
	return rillSum(rill.FromSeq(seq, nil), fold)
}

func rillSum[T any](c <-chan rill.Try[T], fold func(uint64, T) uint64) uint64 {
	total := uint64(0)
	err := rill.ForEach(c, 1, func(v T) error {
		total = fold(total, v)
		return nil
	})
	if err != nil {
		panic(err)
	}
	return total
}

// concHop passes each record to a task, and its result to a callback.
func concHop(in []record, f input[record]) uint64 {
	total := uint64(0)
	s := stream.New().WithMaxGoroutines(1)
	for _, r := range in {
		s.Go(func() stream.Callback {
			r := f.add(r)
			return func() { total = f.fold(total, r) }
		})
	}
	s.Wait()
	return total
}

// merged sends the records of several slices over one channel.
func merged(parts [][]record, fold func(uint64, record) uint64) uint64 {
	c := make(chan record)
	var senders sync.WaitGroup
	for _, part := range parts {
		senders.Go(func() {
			for _, r := range part {
				c <- r
			}
		})
	}
	go func() {
		senders.Wait()
		close(c)
	}()
	return received(c, fold)
}

package hops

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// bufferSize is the capacity of the buffers.
const bufferSize = 1024

const (
	nameBuffer  = "stream.Buffer"
	nameBatches = "batches"
)

// boundaries measures records that pass from goroutine to goroutine.
func (z sizes) boundaries() []experiment.Study {
	f := structs(z)
	name := func(n int) string { return fmt.Sprintf("record=32-bytes/boundaries=%d", n) }
	var quick, slow experiment.Study
	for _, n := range []int{0, 1, 2, 4} {
		c := experiment.Case{Name: name(n), Doc: "an op is a record of 32 bytes", Reference: nameBuffer, Ops: f.ops(20), Count: samples}
		c.Models = []experiment.Model{f.model(result.Ours.Model(nameBuffer, fmt.Sprintf("From, Map, Buffers of %d records, Reduce", bufferSize)), f.added(1), func(in []record) uint64 {
			return sum(buffered(stream.Map(stream.From(in), f.add), n), f.fold)
		})}
		if n > 0 {
			c.Models = append(c.Models, batches(f, n))
			quick.Claims = append(quick.Claims, more(c.Name, nameBuffer, name(0), 4*float64(n), "4 ns a boundary"))
			beside := c
			beside.Name, beside.Ops, beside.Main = c.Name+"/beside=peers", f.ops(1), n == 1
			beside.Models = slices.Concat(c.Models, perRecord(f, n))
			slow.Cases = append(slow.Cases, beside)
		}
		quick.Cases = append(quick.Cases, c)
	}
	return []experiment.Study{quick, slow}
}

// buffered adds n boundaries to a stream.
func buffered[T any](s stream.Stream[T], n int) stream.Stream[T] {
	for range n {
		s = stream.Buffer(s, bufferSize)
	}
	return s
}

// sources measures records that arrive one by one and cross one boundary: a
// source that may block between any two cannot wait for a full batch.
func (z sizes) sources() []experiment.Study {
	const name, seq, generate = "record=32-bytes/source=sequence", "stream.FromSeq", "stream.Generate"
	f := structs(z)
	c := experiment.Case{Name: name, Doc: "an op is a record of 32 bytes", Reference: "stream.FromSeq-fused", Ops: f.ops(20), Count: samples}
	c.Models = []experiment.Model{
		f.model(result.Floor.Model("publish", "for v := range seq { b[n] = v; n.CompareAndSwap; sum = fold(sum, v) }: the least that a boundary costs whose receiver may arrive after each record"), f.want, func(in []record) uint64 {
			return published(slices.Values(in), f.fold)
		}),
		f.model(result.Ours.Model(c.Reference, "FromSeq, Reduce: no boundary"), f.want, func(in []record) uint64 {
			return sum(stream.FromSeq(slices.Values(in)), f.fold)
		}),
		f.model(result.Ours.Model(seq, fmt.Sprintf("FromSeq, a Buffer of %d records, Reduce", bufferSize)), f.want, func(in []record) uint64 {
			return sum(stream.Buffer(stream.FromSeq(slices.Values(in)), bufferSize), f.fold)
		}),
		f.model(result.Ours.Model(generate, fmt.Sprintf("Generate, a Buffer of %d records, Reduce", bufferSize)), f.want, func(in []record) uint64 {
			return sum(stream.Buffer(stream.Generate(emitting(in)), bufferSize), f.fold)
		}),
	}
	beside := c
	beside.Name, beside.Reference, beside.Ops = name+"/beside=peers", seq, f.ops(1)
	beside.Models = append(slices.Clone(c.Models),
		f.model(result.Peer.Model("seq-select", "a goroutine that ranges over the sequence, a select of a channel and done a record"), f.want, func(in []record) uint64 {
			return received(sent(slices.Values(in), 0), f.fold)
		}),
		f.model(result.Peer.Model("rill-seq", "destel/rill v0.7.0, FromSeq and ForEach of 1"), f.want, func(in []record) uint64 {
			return rillSequence(slices.Values(in), f.fold)
		}))
	return []experiment.Study{experiment.One(c, value(name, seq, 9), value(name, generate, 9)), experiment.One(beside)}
}

// published stores records in a batch and publishes each to a receiver that
// does not exist.
func published(seq iter.Seq[record], fold func(uint64, record) uint64) uint64 {
	batch, total := make([]record, batchSize), uint64(0)
	var n atomic.Uint32
	at := uint32(0)
	for r := range seq {
		batch[at%batchSize] = r
		n.CompareAndSwap(at, at+1)
		at++
		total = fold(total, r)
	}
	return total
}

// emitting is slices.Values for Generate.
func emitting[T any](in []T) func(context.Context, func(T) bool) error {
	return func(_ context.Context, emit func(T) bool) error {
		for _, v := range in {
			if !emit(v) {
				break
			}
		}
		return nil
	}
}

package ours

import (
	"context"
	"slices"
	"testing"

	"github.com/destel/rill"
	"github.com/stint-go/stint/stream"
)

// A record is 32 bytes.
type record struct {
	key uint64
	_   [3]uint64
}

// The functions of stages and consumers are variables, so that hand-written loops call them too.
var (
	stage = func(r record) record { r.key++; return r }
	fold  = func(sum uint64, r record) uint64 { return sum + r.key }
)

// reduce leaves out the error: after one, the sum differs.
func reduce(s stream.Stream[record]) uint64 {
	sum, _ := stream.Reduce(context.Background(), s, 0, fold)
	return sum
}

// batch is the records that wait at most between two goroutines, but for the unbuffered channels.
const batch = 1024

// sent is a channel to which f sends, on a goroutine of its own.
func sent[T any](buffer int, f func(chan<- T)) <-chan T {
	c := make(chan T, buffer)
	go func() { defer close(c); f(c) }()
	return c
}

// BenchmarkHop passes the records of a slice through a stage and to another goroutine, which folds them. To stream.FromSeq
// they are a sequence, which may block between any two: no record waits for further ones.
func BenchmarkHop(b *testing.B) {
	in, sum := make([]record, size(*records)), uint64(0)
	for i := range in {
		in[i].key = mix(i)
		sum += in[i].key + 1
	}
	channel := func(buffer int) func() uint64 {
		return func() (sum uint64) {
			for r := range sent(buffer, func(c chan<- record) {
				for _, r := range in {
					c <- stage(r)
				}
			}) {
				sum = fold(sum, r)
			}
			return sum
		}
	}
	compare(b, "", len(in), sum,
		model[uint64]{"channel", channel(0)}, model[uint64]{"channel-buffered", channel(batch)},
		model[uint64]{"batches", func() (sum uint64) {
			for part := range sent(0, func(c chan<- []record) {
				for part := range slices.Chunk(in, batch) {
					out := make([]record, len(part))
					for i, r := range part {
						out[i] = stage(r)
					}
					c <- out
				}
			}) {
				for _, r := range part {
					sum = fold(sum, r)
				}
			}
			return sum
		}},
		model[uint64]{"rill", func() (sum uint64) {
			must(rill.ForEach(rill.Generate(func(send func(record), _ func(error)) {
				for _, r := range in {
					send(stage(r))
				}
			}), 1, func(r record) error { sum = fold(sum, r); return nil }))
			return sum
		}},
		model[uint64]{"stream.FromSeq", func() uint64 {
			return reduce(stream.Buffer(stream.Map(stream.FromSeq(slices.Values(in)), stage), batch))
		}},
		model[uint64]{"stream.Buffer", func() uint64 { return reduce(stream.Buffer(stream.Map(stream.From(in), stage), batch)) }})
}

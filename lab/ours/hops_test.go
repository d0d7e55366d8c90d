package ours

import (
	"slices"
	"testing"

	"github.com/destel/rill"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
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

// batch is the records that wait at most between two goroutines, but for the unbuffered channels.
const batch = 1024

// BenchmarkHop passes the records of a slice through a stage and to another goroutine, which folds them. To stream.FromSeq
// they are a sequence, which may block between any two: no record waits for further ones.
func BenchmarkHop(b *testing.B) {
	in, sum := make([]record, size(*records)), uint64(0)
	for i := range in {
		in[i].key = mix(i)
		sum += in[i].key + 1
	}
	compare(b, "", len(in), sum,
		model[uint64]{"channel", func() uint64 { return models.Piped(in, 0, stage, fold) }},
		model[uint64]{"channel-buffered", func() uint64 { return models.Piped(in, batch, stage, fold) }},
		model[uint64]{"batches", func() uint64 { return models.Batched(in, batch, 0, stage, fold) }},
		model[uint64]{"rill", func() (sum uint64) {
			bench.Check(rill.ForEach(rill.Generate(func(send func(record), _ func(error)) {
				for _, r := range in {
					send(stage(r))
				}
			}), 1, func(r record) error { sum = fold(sum, r); return nil }))
			return sum
		}},
		model[uint64]{"stream.FromSeq", func() uint64 {
			return models.Streamed(stream.FromSeq(slices.Values(in)), batch, stage, fold)
		}},
		model[uint64]{"stream.Buffer", func() uint64 { return models.Streamed(stream.From(in), batch, stage, fold) }})
}

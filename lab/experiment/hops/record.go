package hops

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// A record is 32 bytes.
type record struct {
	key, value, a uint64
	_             uint64
}

// An input holds the records of a run and their processing: a stage adds one to
// a record, the consumer adds records up.
type input[T any] struct {
	kind string // of record
	in   []T
	add  func(T) T
	fold func(uint64, T) uint64
	want uint64 // sum without any stage
}

// records is the number per run: so many that starting and ending a stream does
// not matter, and few enough for the caches.
const records = 100_000

// The functions of stages and consumers are variables, so that no loop of ours
// inlines them.
var (
	addInt     = func(v int) int { return v + 1 }
	foldInt    = func(sum uint64, v int) uint64 { return sum + uint64(v) }
	addRecord  = func(r record) record { r.value++; return r }
	foldRecord = func(sum uint64, r record) uint64 { return sum + r.value }
	foldKey    = func(sum, key uint64) uint64 { return sum + key }
)

func ints(z sizes) input[int] {
	f := input[int]{kind: "int", in: make([]int, z.n(records)), add: addInt, fold: foldInt}
	for i := range f.in {
		f.in[i] = int(models.Key(i))
		f.want += models.Key(i)
	}
	return f
}

func structs(z sizes) input[record] {
	f := input[record]{kind: "32-bytes", in: make([]record, z.n(records)), add: addRecord, fold: foldRecord}
	for i := range f.in {
		f.in[i] = record{key: uint64(i), value: models.Key(i)}
		f.want += models.Key(i)
	}
	return f
}

// keys returns n records that consist of their result.
func keys(n int) input[uint64] {
	f := input[uint64]{kind: "key", in: make([]uint64, n), add: func(key uint64) uint64 { return key + 1 }, fold: foldKey}
	for i := range f.in {
		f.in[i] = models.Key(i)
		f.want += models.Key(i)
	}
	return f
}

// ops returns the number of records in a sample of the given runs.
func (f input[T]) ops(runs int) int { return runs * len(f.in) }

// added returns the sum after the given number of stages.
func (f input[T]) added(stages int) uint64 { return f.want + uint64(stages*len(f.in)) }

// model passes the records to a consumer as often as the sample needs, and
// compares the sum.
func (f input[T]) model(m result.Model, want uint64, run func(in []T) uint64) experiment.Model {
	return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
		runs, wrong := max(1, m.N/len(f.in)), 0
		m.Start()
		for range runs {
			if run(f.in) != want {
				wrong++
			}
		}
		m.Stop()
		if wrong > 0 {
			return fmt.Errorf("%d of %d runs over %d records gave another sum", wrong, runs, len(f.in))
		}
		return nil
	}}
}

// sum runs a stream of records to its end.
func sum[T any](s stream.Stream[T], fold func(uint64, T) uint64) uint64 {
	return must(stream.Reduce(context.Background(), s, 0, fold))
}

// must is for calls that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

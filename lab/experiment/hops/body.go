package hops

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/destel/rill"
	conc "github.com/sourcegraph/conc/stream"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// A body is what is done with a record by several at once, in the forms that they
// want.
type body struct {
	plain    func(uint64) uint64
	task     func(context.Context, uint64) (uint64, error)
	fallible func(uint64) (uint64, error)
}

// bodyOf is for functions that are so long that a call more does not count.
func bodyOf(f func(uint64) uint64) body {
	return body{f,
		func(_ context.Context, key uint64) (uint64, error) { return f(key), nil },
		func(key uint64) (uint64, error) { return f(key), nil },
	}
}

// nothing hands a record on.
var nothing = body{
	func(key uint64) uint64 { return key },
	func(_ context.Context, key uint64) (uint64, error) { return key, nil },
	func(key uint64) (uint64, error) { return key, nil },
}

// The names of ParMap with what it was told: a limit, that the order does not
// matter, nothing.
const (
	nameParMap    = "stream.ParMap"
	nameUnordered = "stream.ParMap-unordered"
	nameUntold    = "stream.ParMap-untold"
)

var parMaps = []string{nameParMap, nameUnordered, nameUntold}

// A crossing gives the sum of what a body makes of records, at most limit at once.
type crossing struct {
	result.Model
	run func(in []uint64, limit int, b body) uint64
}

// A crossing in form of a loop, which nothing is handed to.
var (
	sequential = crossing{floor("sequential", "for _, v := range s { sum += f(v) }"), func(in []uint64, _ int, b body) uint64 {
		return pieceSum(in, b)
	}}
	static = crossing{peer("static", "one piece a processor, a goroutine and a sum each"), staticSum}
	next   = crossing{peer("workers", "goroutines that take the next record from an atomic counter, a sum each"), nextSum}
)

// streams are ParMap between From and Reduce.
var streams = []crossing{
	{ours(nameParMap, "From, ParMap with a Limit, Reduce"), func(in []uint64, limit int, b body) uint64 {
		return sum(stream.ParMap(stream.From(in), b.task, stint.Limit(limit)), foldKey)
	}},
	{ours(nameUnordered, "From, ParMap with a Limit and Unordered, Reduce"), func(in []uint64, limit int, b body) uint64 {
		return sum(stream.ParMap(stream.From(in), b.task, stint.Limit(limit), stint.Unordered()), foldKey)
	}},
	{ours(nameUntold, "From, ParMap without an option, Reduce"), func(in []uint64, _ int, b body) uint64 {
		return sum(stream.ParMap(stream.From(in), b.task), foldKey)
	}},
}

// libraries are the others.
var libraries = []crossing{
	{peer("rill-ordered", "destel/rill v0.7.0, FromSlice, OrderedMap, ForEach of 1"), func(in []uint64, limit int, b body) uint64 {
		return rillSum(rill.OrderedMap(rill.FromSlice(in, nil), limit, b.fallible), foldKey)
	}},
	{peer("rill-unordered", "destel/rill v0.7.0, FromSlice, Map, ForEach of 1"), func(in []uint64, limit int, b body) uint64 {
		return rillSum(rill.Map(rill.FromSlice(in, nil), limit, b.fallible), foldKey)
	}},
	{peer("conc-stream", "sourcegraph/conc v0.3.0, stream.New().WithMaxGoroutines, the callbacks add up"), concSum},
	{ours("stint.MapSeq", "MapSeq with a Limit over the slice's values, a loop adds up"), seqSum},
}

// models are ways to take the records of f through b.
func (b body) models(f feed[uint64], want uint64, limit int, ways ...crossing) []experiment.Model {
	var out []experiment.Model
	for _, way := range ways {
		out = append(out, f.model(way.Model, want, func(in []uint64) uint64 { return way.run(in, limit, b) }))
	}
	return out
}

func pieceSum(in []uint64, b body) uint64 {
	total := uint64(0)
	for _, key := range in {
		total += b.plain(key)
	}
	return total
}

func staticSum(in []uint64, _ int, b body) uint64 {
	var total atomic.Uint64
	var ended sync.WaitGroup
	pieces := procs()
	for p := range pieces {
		ended.Go(func() { total.Add(pieceSum(in[p*len(in)/pieces:(p+1)*len(in)/pieces], b)) })
	}
	ended.Wait()
	return total.Load()
}

func nextSum(in []uint64, limit int, b body) uint64 {
	var total atomic.Uint64
	var at atomic.Int64
	var ended sync.WaitGroup
	for range limit {
		ended.Go(func() {
			own := uint64(0)
			for i := at.Add(1) - 1; i < int64(len(in)); i = at.Add(1) - 1 {
				own += b.plain(in[i])
			}
			total.Add(own)
		})
	}
	ended.Wait()
	return total.Load()
}

func concSum(in []uint64, limit int, b body) uint64 {
	total := uint64(0)
	s := conc.New().WithMaxGoroutines(limit)
	for _, key := range in {
		s.Go(func() conc.Callback {
			v := b.plain(key)
			return func() { total += v }
		})
	}
	s.Wait()
	return total
}

func seqSum(in []uint64, limit int, b body) uint64 {
	total := uint64(0)
	for v, err := range stint.MapSeq(context.Background(), slices.Values(in), b.task, stint.Limit(limit)) {
		total += must(v, err)
	}
	return total
}

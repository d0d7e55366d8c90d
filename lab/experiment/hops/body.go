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

// A body processes a record concurrently, in the forms that models take.
type body struct {
	plain    func(uint64) uint64
	task     func(context.Context, uint64) (uint64, error)
	fallible func(uint64) (uint64, error)
}

// bodyOf is for functions so long that an extra call does not matter.
func bodyOf(f func(uint64) uint64) body {
	return body{f,
		func(_ context.Context, key uint64) (uint64, error) { return f(key), nil },
		func(key uint64) (uint64, error) { return f(key), nil },
	}
}

// identity returns the record.
var identity = body{
	func(key uint64) uint64 { return key },
	func(_ context.Context, key uint64) (uint64, error) { return key, nil },
	func(key uint64) (uint64, error) { return key, nil },
}

// ParMap with a limit, unordered, and without an option.
const (
	nameParMap    = "stream.ParMap"
	nameUnordered = "stream.ParMap-unordered"
	nameUntold    = "stream.ParMap-untold"
)

var parMaps = []string{nameParMap, nameUnordered, nameUntold}

// A mapper returns the sum of a body's results over records, at most limit of
// them concurrently.
type mapper struct {
	result.Model
	run func(in []uint64, limit int, b body) uint64
}

// Mappers that are loops, without handing records over.
var (
	sequential = mapper{result.Floor.Model("sequential", "for _, v := range s { sum += f(v) }"), func(in []uint64, _ int, b body) uint64 {
		return pieceSum(in, b)
	}}
	static         = mapper{result.Peer.Model("static", "one chunk a processor, a goroutine and a sum each"), staticSum}
	counterWorkers = mapper{result.Peer.Model("workers", "goroutines that take the next record from an atomic counter, a sum each"), nextSum}
)

// streams are ParMap between From and Reduce.
var streams = []mapper{
	{result.Ours.Model(nameParMap, "From, ParMap with a Limit, Reduce"), func(in []uint64, limit int, b body) uint64 {
		return sum(stream.ParMap(stream.From(in), b.task, stint.Limit(limit)), foldKey)
	}},
	{result.Ours.Model(nameUnordered, "From, ParMap with a Limit and Unordered, Reduce"), func(in []uint64, limit int, b body) uint64 {
		return sum(stream.ParMap(stream.From(in), b.task, stint.Limit(limit), stint.Unordered()), foldKey)
	}},
	{result.Ours.Model(nameUntold, "From, ParMap without an option, Reduce"), func(in []uint64, _ int, b body) uint64 {
		return sum(stream.ParMap(stream.From(in), b.task), foldKey)
	}},
}

// libraries are the remaining models.
var libraries = []mapper{
	{result.Peer.Model("rill-ordered", "destel/rill v0.7.0, FromSlice, OrderedMap, ForEach of 1"), func(in []uint64, limit int, b body) uint64 {
		return rillSum(rill.OrderedMap(rill.FromSlice(in, nil), limit, b.fallible), foldKey)
	}},
	{result.Peer.Model("rill-unordered", "destel/rill v0.7.0, FromSlice, Map, ForEach of 1"), func(in []uint64, limit int, b body) uint64 {
		return rillSum(rill.Map(rill.FromSlice(in, nil), limit, b.fallible), foldKey)
	}},
	{result.Peer.Model("conc-stream", "sourcegraph/conc v0.3.0, stream.New().WithMaxGoroutines, the callbacks add up"), concSum},
	{result.Ours.Model("stint.MapSeq", "MapSeq with a Limit over the slice's values, a loop adds up"), seqSum},
}

// models returns models that pass the records of f through b.
func (b body) models(f input[uint64], want uint64, limit int, ways ...mapper) []experiment.Model {
	var out []experiment.Model
	for _, model := range ways {
		out = append(out, f.model(model.Model, want, func(in []uint64) uint64 { return model.run(in, limit, b) }))
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
	chunks := procs()
	for p := range chunks {
		ended.Go(func() { total.Add(pieceSum(in[p*len(in)/chunks:(p+1)*len(in)/chunks], b)) })
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

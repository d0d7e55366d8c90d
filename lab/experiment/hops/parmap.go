package hops

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/destel/rill"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// parMaps measures ParMap of a call that is empty, and of one that takes 1 µs.
func parMaps(procs int, z sizes) []experiment.Study {
	steps := load.Steps(time.Microsecond)
	quick, slow := newWork(z.n(100_000)), newWork(z.n(40_000))
	empty := experiment.Case{Name: "parmap=empty", Doc: "an op is a record without work", Reference: "stream.ParMap", Ops: 5 * len(quick.in), Count: samples}
	empty.Models = quick.mapped(procs, add)
	busy := experiment.Case{Name: "parmap=computing/compute=1µs", Doc: "an op is a record", Reference: "static", Ops: len(slow.in), Count: samples}
	busy.Models = slow.mapped(procs, func(r record) record {
		runtime.KeepAlive(load.Spin(steps))
		return add(r)
	})
	st := []experiment.Study{experiment.One(empty), experiment.One(busy)}
	for _, name := range []string{"stream.ParMap", "stream.ParMap-unordered", "stream.ParMap-untold"} {
		const within = 1.05 // of equal shares
		st[0].Claims = append(st[0].Claims, result.Claim{Case: empty.Name, Model: name, Unit: measure.Time, Form: result.Value, Bar: 8})
		st[1].Claims = append(st[1].Claims, experiment.AtMost(within, busy.Name, name, "static", ""))
	}
	return st
}

// mapped returns models that call f with each record, procs at a time.
func (w work) mapped(procs int, f func(record) record) []experiment.Model {
	loop := func(in []record) uint64 {
		total := uint64(0)
		for _, r := range in {
			total = fold(total, f(r))
		}
		return total
	}
	parMap := func(name, doc string, options ...stint.Option) experiment.Model {
		return w.model(result.Ours.Model(name, doc), 1, func() uint64 {
			return reduce(stream.ParMap(stream.From(w.in), func(_ context.Context, r record) (record, error) { return f(r), nil }, options...), fold)
		})
	}
	fallible := func(r record) (record, error) { return f(r), nil }
	limit := stint.Limit(procs)
	return []experiment.Model{
		w.model(result.Floor.Model("sequential", "for _, r := range s { sum = fold(sum, f(r)) }"), 1, func() uint64 { return loop(w.in) }),
		w.model(result.Peer.Model("static", "one chunk a processor, a goroutine and a sum each"), 1, func() uint64 {
			var total atomic.Uint64
			var ended sync.WaitGroup
			for chunk := range slices.Chunk(w.in, (len(w.in)+procs-1)/procs) {
				ended.Go(func() { total.Add(loop(chunk)) })
			}
			ended.Wait()
			return total.Load()
		}),
		parMap("stream.ParMap", "From, ParMap with a Limit, Reduce", limit),
		parMap("stream.ParMap-unordered", "From, ParMap with a Limit and Unordered, Reduce", limit, stint.Unordered()),
		parMap("stream.ParMap-untold", "From, ParMap without an option, Reduce"),
		w.model(result.Peer.Model("rill-ordered", "destel/rill v0.7.0, FromSlice, OrderedMap, ForEach of 1"), 1, func() uint64 {
			return rillSum(rill.OrderedMap(rill.FromSlice(w.in, nil), procs, fallible), fold)
		}),
		w.model(result.Peer.Model("rill-unordered", "destel/rill v0.7.0, FromSlice, Map, ForEach of 1"), 1, func() uint64 {
			return rillSum(rill.Map(rill.FromSlice(w.in, nil), procs, fallible), fold)
		}),
	}
}

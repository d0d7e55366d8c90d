package hops

import (
	"fmt"
	"iter"
	"slices"

	"github.com/destel/rill"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// selective measures stages that drop most records, or make many of one: a
// single record must not cost a batch.
func (z sizes) selective() []experiment.Study {
	f := keys(z.n(records))
	kept, want := func(key uint64) bool { return key%100 == 0 }, uint64(0)
	for _, key := range f.in {
		if kept(key) {
			want += key
		}
	}
	c := experiment.Case{Name: "filter=1%", Doc: "an op is an input record", Reference: "filter-loop", Ops: f.ops(20), Count: samples}
	c.Models = []experiment.Model{
		f.model(result.Floor.Model("filter-loop", "for _, v := range s { if kept(v) { sum = fold(sum, v) } }"), want, func(in []uint64) uint64 {
			total := uint64(0)
			for _, key := range in {
				if kept(key) {
					total = f.fold(total, key)
				}
			}
			return total
		}),
		f.model(result.Ours.Model("stream.Filter-before", "From, Filter, Buffer, Reduce"), want, func(in []uint64) uint64 {
			return sum(stream.Buffer(stream.Filter(stream.From(in), kept), bufferSize), f.fold)
		}),
		f.model(result.Ours.Model("stream.Filter-behind", "From, Buffer, Filter, Reduce"), want, func(in []uint64) uint64 {
			return sum(stream.Filter(stream.Buffer(stream.From(in), bufferSize), kept), f.fold)
		}),
	}
	return []experiment.Study{experiment.One(c, value(c.Name, "stream.Filter-before", 4), value(c.Name, "stream.Filter-behind", 4)), z.multiplied()}
}

// multiplied makes a thousand records of each.
func (z sizes) multiplied() experiment.Study {
	const each = 1000
	f := keys(z.n(2000))
	many := func(key uint64) iter.Seq[uint64] {
		return func(yield func(uint64) bool) {
			for range each {
				if !yield(key) {
					return
				}
			}
		}
	}
	c := experiment.Case{Name: fmt.Sprintf("flatmap=%d", each), Doc: fmt.Sprintf("an op is an input record, of which %d are made", each), Reference: "nested-loop", Ops: f.ops(1), Count: samples}
	c.Models = []experiment.Model{
		f.model(result.Floor.Model("nested-loop", "for _, v := range s { for w := range many(v) { sum = fold(sum, w) } }"), each*f.want, func(in []uint64) uint64 {
			total := uint64(0)
			for _, key := range in {
				for v := range many(key) {
					total = f.fold(total, v)
				}
			}
			return total
		}),
		f.model(result.Ours.Model("stream.FlatMap", "From, FlatMap, Reduce"), each*f.want, func(in []uint64) uint64 {
			return sum(stream.FlatMap(stream.From(in), many), f.fold)
		}),
		f.model(result.Ours.Model("stream.FlatMap-Buffer", "From, FlatMap, Buffer, Reduce"), each*f.want, func(in []uint64) uint64 {
			return sum(stream.Buffer(stream.FlatMap(stream.From(in), many), bufferSize), f.fold)
		}),
	}
	fusedBar, crossed := value(c.Name, "stream.FlatMap", 4*each), value(c.Name, "stream.FlatMap-Buffer", 9*each)
	fusedBar.Note, crossed.Note = "4 ns a record made", "9 ns a record made: as a sequence across a boundary"
	return experiment.One(c, fusedBar, crossed)
}

// lanes measures records from several sources, or to several consumers.
func (z sizes) lanes() []experiment.Study {
	const lanes = 8
	f := structs(z)
	merging := experiment.Case{Name: fmt.Sprintf("merge=%d", lanes), Doc: "an op is a record of 32 bytes", Reference: "stream.Merge", Ops: f.ops(20), Count: samples}
	merging.Models = []experiment.Model{f.model(result.Ours.Model("stream.Merge", "From, of eight slices, Merge, Reduce"), f.want, func(in []record) uint64 {
		var ss []stream.Stream[record]
		for _, part := range cut(in, lanes) {
			ss = append(ss, stream.From(part))
		}
		return sum(stream.Merge(ss...), f.fold)
	})}
	beside := merging
	beside.Name, beside.Ops = merging.Name+"/beside=peers", f.ops(1)
	beside.Models = append(slices.Clone(merging.Models),
		f.model(result.Peer.Model("channel-merge", "a goroutine a slice, one unbuffered channel"), f.want, func(in []record) uint64 {
			return merged(cut(in, lanes), f.fold)
		}),
		f.model(result.Peer.Model("rill-merge", "destel/rill v0.7.0, FromSlice, eight of them, Merge, ForEach of 1"), f.want, func(in []record) uint64 {
			var cs []<-chan rill.Try[record]
			for _, part := range cut(in, lanes) {
				cs = append(cs, rill.FromSlice(part, nil))
			}
			return rillSum(rill.Merge(cs...), f.fold)
		}))
	parting := experiment.Case{Name: fmt.Sprintf("partition=%d", lanes), Doc: "an op is a record of 32 bytes", Reference: "stream.Partition", Ops: f.ops(20), Count: samples}
	parting.Models = []experiment.Model{f.model(result.Ours.Model("stream.Partition", "From, Partition into eight, Merge, Reduce"), f.want, func(in []record) uint64 {
		return sum(stream.Merge(stream.Partition(stream.From(in), lanes, func(r record) uint64 { return r.key })...), f.fold)
	})}
	return []experiment.Study{experiment.One(merging, value(merging.Name, "stream.Merge", 10)), experiment.One(beside), experiment.One(parting, value(parting.Name, "stream.Partition", 10))}
}

// cut returns a slice in n chunks.
func cut[T any](in []T, n int) [][]T {
	var out [][]T
	for i := range n {
		out = append(out, in[i*len(in)/n:(i+1)*len(in)/n])
	}
	return out
}

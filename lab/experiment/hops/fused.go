package hops

import (
	"fmt"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// fused measures stages without a boundary between them.
func fused[T any](z sizes, f input[T]) []experiment.Study {
	const from, seq = "stream.Map", "stream.Map-seq"
	name := func(stages int) string { return fmt.Sprintf("record=%s/stages=%d", f.kind, stages) }
	var st experiment.Study
	for _, k := range []int{0, 1, 2, 4, 8} {
		c := experiment.Case{Name: name(k), Doc: "an op is a record", Reference: "loop", Ops: f.ops(20), Count: samples}
		want := f.added(k)
		c.Models = append(c.Models,
			f.model(result.Floor.Model("loop", "for _, v := range s { sum = fold(sum, add(v)) }, with as many calls of add as there are stages"), want, func(in []T) uint64 {
				return loop(in, k, f.add, f.fold)
			}),
			f.model(result.Ours.Model(from, "From, Maps, Reduce"), want, func(in []T) uint64 {
				return sum(mapped(stream.From(in), k, f.add), f.fold)
			}),
			f.model(result.Ours.Model(seq, "FromSeq, Maps, Reduce"), want, func(in []T) uint64 {
				return sum(mapped(stream.FromSeq(slices.Values(in)), k, f.add), f.fold)
			}))
		st.Cases = append(st.Cases, c)
	}
	st.Claims = append(st.Claims, more(name(8), from, name(0), 8*2, "2 ns a stage"))
	return []experiment.Study{st}
}

// mapped adds stages to a stream.
func mapped[T any](s stream.Stream[T], stages int, add func(T) T) stream.Stream[T] {
	for range stages {
		s = stream.Map(s, add)
	}
	return s
}

// loop is the code without a stream.
func loop[T any](in []T, stages int, add func(T) T, fold func(uint64, T) uint64) uint64 {
	total := uint64(0)
	for _, v := range in {
		for range stages {
			v = add(v)
		}
		total = fold(total, v)
	}
	return total
}

package hops

import (
	"context"
	"fmt"
	"slices"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// A page is a record of 1 KiB.
type page [128]uint64

// memory measures a source that is faster than the consumer: the memory between
// them must not grow with the number of records.
func (z sizes) memory() []experiment.Study {
	const buffer, parMap = "pages-Buffer", "pages-ParMap"
	name := func(n int) string { return fmt.Sprintf("record=1KiB/records=%d", n) }
	sizes := []int{z.n(1e6), z.n(1e7)}
	var st experiment.Study
	for _, n := range sizes {
		c := experiment.Case{Name: name(n), Doc: "an op is a stream of records of 1 KiB, whose consumer is slower than the source", Reference: buffer, Ops: 1, Count: fewSamples, Peaks: true}
		c.Models = []experiment.Model{
			pages(result.Ours.Model(buffer, fmt.Sprintf("FromSeq, a Buffer of %d records, Reduce", bufferSize)), n, func(s stream.Stream[page]) stream.Stream[page] {
				return stream.Buffer(s, bufferSize)
			}),
			pages(result.Ours.Model(parMap, "FromSeq, ParMap with a Limit, Reduce"), n, func(s stream.Stream[page]) stream.Stream[page] {
				return stream.ParMap(s, func(_ context.Context, p page) (page, error) { return p, nil }, stint.Limit(procs()))
			}),
		}
		st.Cases = append(st.Cases, c)
	}
	for _, model := range []string{buffer, parMap} {
		st.Claims = append(st.Claims, result.Claim{Case: name(sizes[1]), Model: model, Unit: measure.PeakMemory, Form: result.Ratio, Than: model, InCase: name(sizes[0]), Bar: 1.5})
	}
	return []experiment.Study{st}
}

// pages sends n pages through a stream. The consumer reads each several times.
func pages(m result.Model, n int, through func(stream.Stream[page]) stream.Stream[page]) experiment.Model {
	const times = 4
	numbered := func(yield func(page) bool) {
		for i := range n {
			if !yield(page{0: models.Key(i)}) {
				return
			}
		}
	}
	want := uint64(0)
	for i := range n {
		want += times * models.Key(i)
	}
	return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
		m.Start()
		got := sum(through(stream.FromSeq(numbered)), func(total uint64, p page) uint64 {
			for range times {
				for _, v := range p {
					total += v
				}
			}
			return total
		})
		m.Stop()
		if got != want {
			return fmt.Errorf("%d records gave another sum", n)
		}
		return nil
	}}
}

// maxAllocsPerRecord allows a stream's own allocations, such as its timer, but
// not one per batch.
const maxAllocsPerRecord = 0.0001

// allocations compares the allocations of twice as many records.
func (z sizes) allocations() []experiment.Study {
	f := keys(z.n(5e5)) // few, since the records of all cases stay in memory
	n := len(f.in) / 2
	name := func(n int) string { return fmt.Sprintf("allocations=steady/records=%d", n) }
	var st experiment.Study
	for _, in := range [][]uint64{f.in[:n], f.in} {
		half := input[uint64]{in: in}
		for _, key := range in {
			half.want += key
		}
		c := experiment.Case{Name: name(len(in)), Doc: "an op is a whole stream", Reference: allocators[0].Name, Ops: 1, Count: samples}
		for _, model := range allocators {
			c.Models = append(c.Models, half.model(model.Model, half.want, func(in []uint64) uint64 { return sum(model.run(in), foldKey) }))
		}
		st.Cases = append(st.Cases, c)
	}
	for _, model := range allocators {
		st.Claims = append(st.Claims, result.Claim{
			Case: name(len(f.in)), Model: model.Name, Unit: measure.Allocs, Form: result.Difference, Than: model.Name, InCase: name(n), Bar: maxAllocsPerRecord * float64(n), Note: "none a record",
		})
	}
	return []experiment.Study{st}
}

// allocators are streams that must not allocate per record.
var allocators = []struct {
	result.Model
	run func(in []uint64) stream.Stream[uint64]
}{
	{result.Ours.Model("steady-Buffer", "From, Buffer, Reduce"), func(in []uint64) stream.Stream[uint64] {
		return stream.Buffer(stream.From(in), bufferSize)
	}},
	{result.Ours.Model("steady-FromSeq", "FromSeq, Buffer, Reduce"), func(in []uint64) stream.Stream[uint64] {
		return stream.Buffer(stream.FromSeq(slices.Values(in)), bufferSize)
	}},
	{result.Ours.Model("steady-ParMap", "From, ParMap with a Limit, Reduce"), func(in []uint64) stream.Stream[uint64] {
		return stream.ParMap(stream.From(in), identity.task, stint.Limit(procs()))
	}},
	{result.Ours.Model("steady-ParMap-unordered", "From, ParMap with a Limit and Unordered, Reduce"), func(in []uint64) stream.Stream[uint64] {
		return stream.ParMap(stream.From(in), identity.task, stint.Limit(procs()), stint.Unordered())
	}},
	{result.Ours.Model("steady-Merge", "From, of eight slices, Merge, Reduce"), func(in []uint64) stream.Stream[uint64] {
		var ss []stream.Stream[uint64]
		for _, part := range cut(in, 8) {
			ss = append(ss, stream.From(part))
		}
		return stream.Merge(ss...)
	}},
	{result.Ours.Model("steady-Partition", "From, Partition into eight, Merge, Reduce"), func(in []uint64) stream.Stream[uint64] {
		return stream.Merge(stream.Partition(stream.From(in), 8, func(key uint64) uint64 { return key })...)
	}},
}

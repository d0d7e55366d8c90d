package hops

import (
	"context"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/destel/rill"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// An arrivals describes a source: bursts of records with gaps between them.
type arrivals struct {
	name    string
	atOnce  int
	gap     time.Duration
	records int
	claimed bool
}

// latency measures how long records take when few arrive.
func (z sizes) latency() []experiment.Study {
	var out []experiment.Study
	for _, p := range []arrivals{
		{"1-in-10ms", 1, 10 * time.Millisecond, max(6, 60/z.divisor), true},
		{"1-in-1ms", 1, time.Millisecond, z.n(400), true},
		{"10-in-1ms", 10, time.Millisecond, z.n(4000), true},
		{"1000-in-1ms", 1000, time.Millisecond, z.n(400_000), false},
	} {
		out = append(out, p.study())
	}
	return out
}

// A fourStages passes records through four stages and calls arrived with each.
type fourStages struct {
	result.Model
	run func(source iter.Seq[record], arrived func(record))
}

const nameStages = "stream-4-stages"

var fourStageModels = []fourStages{
	{result.Peer.Model("channel-4-stages", "a goroutine a stage, two for the last one, unbuffered channels"), viaChannels},
	{result.Peer.Model("rill-4-stages", "destel/rill v0.7.0, FromSeq, OrderedMap of 1, three times, and of 2, ForEach of 1"), viaRill},
	{result.Ours.Model(nameStages, "FromSeq, Map and Buffer, three times, ParMap with Limit(2), Each"), viaStream},
}

// study reports latencies and no time of an op, which the source determines.
func (p arrivals) study() experiment.Study {
	c := experiment.Case{Name: "latency=4-stages/records=" + p.name, Doc: "p50 and p99 are the times from source to consumer that 50 and 99 of 100 records take at most", Reference: fourStageModels[0].Name, Ops: p.records, Count: fewSamples}
	for _, j := range fourStageModels {
		c.Models = append(c.Models, experiment.Model{Model: j.Model, Run: func(m *measure.Meter) error {
			took, err := p.latencies(m.N, j)
			m.Report(measure.P50, quantile(took, 0.5))
			m.Report(measure.P99, quantile(took, 0.99))
			return err
		}})
	}
	if !p.claimed {
		return experiment.One(c)
	}
	return experiment.One(c, result.Claim{Case: c.Name, Model: nameStages, Unit: measure.P99, Form: result.Value, Bar: float64(2 * time.Millisecond)})
}

// latencies passes n records through and returns their latencies, sorted. A
// record carries its start time.
func (p arrivals) latencies(n int, j fourStages) ([]float64, error) {
	took, total, want := make([]float64, 0, n), uint64(0), uint64(0)
	for i := range n {
		want += models.Key(i)
	}
	runtime.GC() // collect the garbage of earlier samples
	began := time.Now()
	j.run(p.source(n, began), func(r record) {
		took = append(took, float64(time.Since(began))-float64(r.a))
		total += r.key
	})
	if total != want {
		return nil, fmt.Errorf("%d records arrived, want %d, or others", len(took), n)
	}
	slices.Sort(took)
	return took, nil
}

// source yields n records in bursts.
func (p arrivals) source(n int, began time.Time) iter.Seq[record] {
	return func(yield func(record) bool) {
		for i := range n {
			if i%p.atOnce == 0 {
				time.Sleep(p.gap)
			}
			if !yield(record{key: models.Key(i), a: uint64(time.Since(began))}) {
				return
			}
		}
	}
}

// quantile returns the smallest value that is at least as large as the given
// part of the sorted values.
func quantile(sorted []float64, part float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(part*float64(len(sorted))))-1)]
}

func viaStream(source iter.Seq[record], arrived func(record)) {
	s := stream.FromSeq(source)
	for range 3 {
		s = stream.Buffer(stream.Map(s, addRecord), bufferSize)
	}
	last := stream.ParMap(s, func(_ context.Context, r record) (record, error) { return addRecord(r), nil }, stint.Limit(2))
	must(0, stream.Each(context.Background(), last, func(r record) error {
		arrived(r)
		return nil
	}))
}

func viaRill(source iter.Seq[record], arrived func(record)) {
	add := func(r record) (record, error) { return addRecord(r), nil }
	c := rill.FromSeq(source, nil)
	for range 3 {
		c = rill.OrderedMap(c, 1, add)
	}
	must(0, rill.ForEach(rill.OrderedMap(c, 2, add), 1, func(r record) error {
		arrived(r)
		return nil
	}))
}

func viaChannels(source iter.Seq[record], arrived func(record)) {
	stage := func(from iter.Seq[record]) iter.Seq[record] {
		return receiving(sent(func(yield func(record) bool) {
			for r := range from {
				if !yield(addRecord(r)) {
					return
				}
			}
		}, 0))
	}
	last := make(chan record)
	ended := make(chan struct{}, 2)
	in := stage(stage(stage(source)))
	for range 2 {
		go func() {
			for r := range in {
				last <- addRecord(r)
			}
			ended <- struct{}{}
		}()
	}
	go func() {
		<-ended
		<-ended
		close(last)
	}()
	for r := range last {
		arrived(r)
	}
}

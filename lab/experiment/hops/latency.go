package hops

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// hops is the number of hops of the cases below.
const hops = 4

// A pace is that of a source: bursts of records with gaps between them.
type pace struct {
	atOnce  int
	gap     time.Duration
	records int
}

// latencies measures how long records take when few arrive.
func latencies(z sizes) []experiment.Study {
	var out []experiment.Study
	for _, p := range []pace{
		{1, 10 * time.Millisecond, z.n(60)},
		{1, time.Millisecond, z.n(400)},
		{10, time.Millisecond, z.n(4000)},
	} {
		name := fmt.Sprintf("latency=%d-hops/records=%d-in-%v", hops, p.atOnce, p.gap)
		doc := "p50 and p99 are the times from source to consumer that 50 and 99 of 100 records take at most"
		c := experiment.Case{Name: name, Doc: doc, Reference: "channel", Ops: p.records, Count: 6}
		for _, way := range prompt {
			c.Models = append(c.Models, experiment.Model{Model: way.Model, Run: func(m *measure.Meter) error { return p.measure(m, way) }})
		}
		claim := result.Claim{Case: name, Model: "stream.FromSeq", Unit: measure.P99, Form: result.Value, Bar: float64(2 * time.Millisecond)}
		out = append(out, experiment.One(c, claim))
	}
	return out
}

// measure reports latencies and no time of an op, which the source determines.
func (p pace) measure(m *measure.Meter, way pipeline) error {
	runtime.GC() // collect the garbage of earlier samples
	began, want := time.Now(), newWork(m.N).sum
	var took []float64
	sum := way.run(p.source(m.N, began), hops, func(sum uint64, r record) uint64 {
		took = append(took, float64(time.Since(began))-float64(r.at))
		return sum + r.key
	})
	if sum != want {
		return fmt.Errorf("%d records arrived, want %d, or others", len(took), m.N)
	}
	slices.Sort(took)
	m.Report(measure.P50, took[(len(took)+1)/2-1])
	m.Report(measure.P99, took[(len(took)*99+99)/100-1])
	return nil
}

// source yields n records, which carry their start times.
func (p pace) source(n int, began time.Time) iter.Seq[record] {
	return func(yield func(record) bool) {
		for i := range n {
			if i%p.atOnce == 0 {
				time.Sleep(p.gap)
			}
			if !yield(record{key: models.Key(i), at: uint64(time.Since(began))}) {
				return
			}
		}
	}
}

// idle measures the memory of n pipelines that have passed on a record and wait.
func idle(n int) experiment.Study {
	doc := fmt.Sprintf("the peaks are those of %d pipelines of %d hops that wait for a second record", n, hops)
	c := experiment.Case{Name: fmt.Sprintf("idle=%d", n), Doc: doc, Reference: "channel", Ops: 1, Count: 6, Peaks: true}
	for _, way := range prompt {
		c.Models = append(c.Models, experiment.Model{Model: way.Model, Run: func(m *measure.Meter) error {
			var passed, ended sync.WaitGroup
			enough := make(chan struct{})
			source := func(yield func(record) bool) {
				yield(record{})
				<-enough
			}
			passed.Add(n)
			m.Start()
			for range n {
				ended.Go(func() {
					way.run(source, hops, func(sum uint64, _ record) uint64 {
						passed.Done()
						return sum
					})
				})
			}
			passed.Wait()
			close(enough)
			ended.Wait()
			m.Stop()
			delete(m.Sample(), measure.Time) // of starting and ending them
			return nil
		}})
	}
	return experiment.One(c)
}

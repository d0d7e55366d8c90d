// Package hops measures what a record costs when it goes from one goroutine to another:
// at boundaries of streams, over channels, in batches, and with rill; and ParMap, the
// latency of few records, and the memory of pipelines that wait.
package hops

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment hops.
var Experiment = experiment.New("hops", "a record between goroutines: boundaries of streams, ParMap, latency, memory; beside channels, batches, rill",
	sizes{divisor: 1}, sizes{divisor: 40}, run)

// sizes are smaller in quick runs and tests.
type sizes struct{ divisor int }

// n scales a number.
func (z sizes) n(full int) int { return max(8, full/z.divisor) }

// samples is fewer than usual, since some take a second.
const samples = 12

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("hops", "records of 32 bytes between goroutines: boundaries, ParMap, latency, memory",
		"An op is a record, unless the case says otherwise. The sum of the arriving records is checked in each run.",
		"Hand-written loops also call the functions of a record through variables.",
		"Latency cases report how long records take from source to consumer, not the time of an op.")
	studies := append([]experiment.Study{newWork(z.n(100_000)).boundaries()}, parMaps(b.Result.Processors, z)...)
	return b.Run(ctx, append(append(studies, latencies(z)...), idle(z.n(1000)))...)
}

// A record is 32 bytes.
type record struct {
	key, at uint64
	_, _    uint64
}

// The functions of stages and consumers are variables, so that no loop of ours inlines
// them. A stage adds one to a record, the consumer adds records up.
var (
	add  = func(r record) record { r.key++; return r }
	fold = func(sum uint64, r record) uint64 { return sum + r.key }
)

// A work is the records of a run: so many that starting a stream does not matter, and few
// enough for the caches.
type work struct {
	in  []record
	sum uint64
}

func newWork(n int) work {
	w := work{in: make([]record, n)}
	for i := range w.in {
		w.in[i].key = models.Key(i)
		w.sum += models.Key(i)
	}
	return w
}

// model passes the records through a number of stages as often as the sample needs, and
// compares the sum.
func (w work) model(m result.Model, stages int, run func() uint64) experiment.Model {
	want := w.sum + uint64(stages*len(w.in))
	return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
		m.Start()
		for range max(1, m.N/len(w.in)) {
			if got := run(); got != want {
				return fmt.Errorf("a run over %d records gave %d, want %d", len(w.in), got, want)
			}
		}
		m.Stop()
		return nil
	}}
}

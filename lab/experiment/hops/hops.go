// Package hops measures the cost of a record in a stream: in fused stages, at boundaries,
// in ParMap, merged and partitioned, and its latency, compared with channels, hand-written
// batches, and libraries.
package hops

import (
	"context"
	"runtime"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment hops.
var Experiment = experiment.New("hops", "what a record costs in a stream: stages, boundaries, ParMap, latency, memory; beside channels, batches, libraries",
	sizes{divisor: 1}, sizes{divisor: 40}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	divisor int // of the number of records
	procs   int
}

// n scales a number of records.
func (z sizes) n(full int) int { return max(16, full/z.divisor) }

// Fewer samples than usual: there are many cases, and some take seconds.
const (
	samples    = 12
	fewSamples = 6
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("hops", "records through streams: fused stages, boundaries, ParMap, merging, latency, memory",
		"An op is a record, unless the case says otherwise. The sum of the arriving records is checked in each run.",
		"Hand-written loops also call the functions of a record through variables.",
		"Cases named beside=peers have fewer records than those with the claims, since the peers take long.",
		"Latency cases report how long records take from source to consumer, not the time of an op.")
	z.procs = b.Result.Processors
	return b.Run(ctx, slices.Concat(
		fused(z, ints(z)), fused(z, structs(z)), z.boundaries(), z.sources(), z.empty(), z.computing(), z.waiting(),
		z.bottlenecks(), z.early(), z.latency(), z.selective(), z.lanes(), z.memory(), z.allocations())...)
}

// value claims that a record takes at most bar ns.
func value(kase, model string, bar float64) result.Claim {
	return result.Claim{Case: kase, Model: model, Unit: measure.Time, Form: result.Value, Bar: bar}
}

// more claims that a record takes at most bar ns more than in another case.
func more(kase, model, other string, bar float64, note string) result.Claim {
	return result.Claim{Case: kase, Model: model, Unit: measure.Time, Form: result.Difference, Than: model, InCase: other, Bar: bar, Note: note}
}

// procs returns GOMAXPROCS, for models that need a limit.
func procs() int { return runtime.GOMAXPROCS(0) }

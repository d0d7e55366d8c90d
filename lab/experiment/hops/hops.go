// Package hops measures what a record costs on its way through a stream: in fused
// stages, at boundaries, in ParMap, merged and partitioned, and how long it is on
// its way; beside channels, batches sent by hand, and libraries.
package hops

import (
	"context"
	"runtime"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "hops",
	Doc:  "what a record costs in a stream: stages, boundaries, ParMap, latency, memory; beside channels, batches, libraries",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		z := sizes{divisor: 1}
		if s.Quick {
			z.divisor = 40
		}
		return run(ctx, s, z)
	},
}

// sizes are what a quick run and a test make smaller.
type sizes struct {
	divisor int // of the number of records
	procs   int
}

// n is a number of records that is full in a full run.
func (z sizes) n(full int) int { return max(16, full/z.divisor) }

// Samples are not the usual number: there are many cases. Those of the cases that
// take seconds are the fewest that give an interval.
const (
	samples    = 12
	fewSamples = 6
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("hops", "records through streams: fused stages, boundaries, ParMap, merging, latency, memory",
		"An op is a record, unless the case says otherwise. The sum of the records that arrive is compared with what it must be, in each run.",
		"Functions of a record are called through variables in the hand-written loops too.",
		"Cases named beside=peers have fewer records than those with the claims: the peers take long.",
		"Of latency there is no time of an op, but how long records are on their way.")
	z.procs = b.Result.Processors
	return b.Run(ctx, slices.Concat(
		fused(z, ints(z)), fused(z, structs(z)), z.boundaries(), z.sources(), z.empty(), z.computing(), z.waiting(),
		z.bottlenecks(), z.early(), z.latency(), z.selective(), z.lanes(), z.memory(), z.allocations())...)
}

// The models, by whose they are.

func ours(name, doc string) result.Model {
	return result.Model{Name: name, Kind: result.Ours, Doc: doc}
}

func peer(name, doc string) result.Model {
	return result.Model{Name: name, Kind: result.Peer, Doc: doc}
}

func floor(name, doc string) result.Model {
	return result.Model{Name: name, Kind: result.Floor, Doc: doc}
}

// value is the claim that a record takes at most so many ns.
func value(kase, model string, bar float64) result.Claim {
	return result.Claim{Case: kase, Model: model, Unit: measure.Time, Form: result.Value, Bar: bar}
}

// more is the claim that a record takes at most bar ns more than in another case.
func more(kase, model, other string, bar float64, note string) result.Claim {
	return result.Claim{Case: kase, Model: model, Unit: measure.Time, Form: result.Difference, Than: model, InCase: other, Bar: bar, Note: note}
}

// procs is GOMAXPROCS, for models that must be told how many to run at once.
func procs() int { return runtime.GOMAXPROCS(0) }

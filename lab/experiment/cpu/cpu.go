// Package cpu measures a list of items that compute: the cost of channels,
// pools and libraries beside a loop, on one processor and on all.
package cpu

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment cpu.
var Experiment = experiment.New("cpu", "one list, computing: loop, pipelines, fans, pools, libraries, calls without an option",
	sizes{long: 1_000_000, short: 100, once: 1}, sizes{long: 10_000, short: 10, once: 1}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	long, short int // items
	once        int // long lists per sample
	ops         int // short lists per sample; 0: chosen by time
}

// Samples of a case. One of the long list takes half a second with some models.
const (
	longSamples  = 6 // the fewest that give an interval
	shortSamples = 10
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("cpu", fmt.Sprintf("math.Pow of %d and of %d numbers", z.long, z.short),
		"An op is a whole list. An item takes some 15 ns in the short list and 50 ns in the long one, whose exponents are larger. The result of an item is the bits of the power, which most models add up: the powers themselves soon are infinite, and their sum would show nothing.",
		"NumCPU is runtime.NumCPU, as in the articles that the models are from. It is not GOMAXPROCS: the column goroutines shows what a model makes of it.",
		"Libraries have the limit NumCPU. stint.Each, stint.Map and par.Reduce have no option.",
		"The articles' figures, on 1 core / 8: in ms, sequential 95 to 101, pipeline 512 / 865, pipeline-buffered 220 / 370, fan 715 / 913, fan-buffered 320 / 428, parallelize 95 / 19.4; of 100 items in µs, pool-min 33 / 72, pool 38 / 78, pool-max 143 / 282.")
	long := experiment.Case{Ops: z.once, Count: longSamples, Main: true}
	short := experiment.Case{Ops: z.ops, Count: shortSamples}
	return b.Run(ctx, study(b, long, z.long, channels), study(b, short, z.short, smallList))
}

// study compares all models on a list of n items.
func study(b *experiment.Bench, c experiment.Case, n int, claims func(experiment.Names) []result.Claim) experiment.Study {
	c.Name, c.Doc, c.Reference = fmt.Sprintf("n=%d", n), "items of math.Pow", models.NameSequential
	c.Models = list(n).Models(slices.Concat(models.ByHand(), models.Peers(runtime.NumCPU()), models.Calls(), []models.Model{models.Reduce()})...)
	return b.OnBoth(c, claims)
}

func list(n int) models.List {
	l := models.List{N: n, Item: power}
	l.Want = l.Sum()
	return l
}

func power(i int) uint64 {
	return math.Float64bits(math.Pow(3.1415926, float64(i))) + models.Key(i)
}

// The conclusions of the articles about items that compute.
const (
	loopWins   = "When items compute, a loop is faster than a pipeline and than a fan of goroutines."
	coresHurt  = "When items compute, a pipeline and a fan are slower on many processors than on one."
	bufferHelp = "When items compute, buffers make channels faster."
	chunksWin  = "When items compute, one chunk a processor is the fastest, on many processors only."
	poolsHurt  = "When items compute, more workers make a pool slower."
	numCPU     = "runtime.NumCPU does not follow GOMAXPROCS."
)

// ours are the models of our claims.
var ours = []string{models.NameEach, models.NameMap, models.NameReduce}

// channels returns the claims about many items: a channel operation costs more
// than an item.
func channels(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out,
			experiment.AtMost(1, kase, models.NameSequential, models.NamePipeline, loopWins),
			experiment.AtMost(1, kase, models.NameSequential, models.NameFan, loopWins),
			experiment.AtMost(1, kase, models.NamePipelineBuffered, models.NamePipeline, bufferHelp),
			experiment.AtMost(1, kase, models.NameFanBuffered, models.NameFan, bufferHelp))
	}
	out = append(out, experiment.AtMost(1.05, on.One, models.NameSequential, models.NameParallelize, chunksWin))
	out = append(out, pools(on)...)
	out = append(out, models.Unhinted(on, ours...)...)
	if on.All == "" {
		return out
	}
	same := result.Claim{
		Case: on.All, Model: models.NameParallelize, Unit: measure.Goroutines, Form: result.Difference, Than: models.NameParallelize, InCase: on.One,
		Conclusion: numCPU,
	}
	return append(out,
		experiment.AtMost(1, on.All, models.NameParallelize, models.NameSequential, chunksWin),
		experiment.AtMost(1, on.All, models.NameParallelize, result.BestPeer, chunksWin),
		experiment.Across(1, on.One, on.All, models.NamePipeline, coresHurt),
		experiment.Across(1, on.One, on.All, models.NameFan, coresHurt),
		same)
}

// smallList returns the claims about few items.
func smallList(on experiment.Names) []result.Claim {
	return append(pools(on), models.SmallList(on, ours...)...)
}

// pools returns the claims about pools.
func pools(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out,
			experiment.AtMost(1, kase, models.NamePoolMin, models.NamePool, poolsHurt),
			experiment.AtMost(1, kase, models.NamePool, models.NamePoolMax, poolsHurt))
	}
	return out
}

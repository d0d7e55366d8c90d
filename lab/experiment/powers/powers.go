// Package powers is the experiment cpu. It measures one list of items that compute:
// what channels, pools and libraries cost beside a loop, on one processor and on all.
package powers

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

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "cpu",
	Doc:  "one list, computing: loop, pipelines, fans, pools, libraries, calls without an option",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		z := sizes{long: 1_000_000, short: 100, once: 1}
		if s.Quick {
			z = sizes{long: 10_000, short: 10, once: 1}
		}
		return run(ctx, s, z)
	},
}

// sizes are what a quick run and a test make smaller.
type sizes struct {
	long, short int // items
	once        int // lists a sample, of the long list
	ops         int // of the short one; 0: as many as take long enough
}

// Samples of a case. Those of the long list take half a second with some models.
const (
	longSamples  = 6 // the fewest that give an interval
	shortSamples = 10
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("cpu", fmt.Sprintf("math.Pow of %d and of %d numbers", z.long, z.short),
		"An op is a whole list. An item takes some 15 ns in the short one and 50 ns in the long one, whose exponents are larger. What an item gives is the bits of the power, which most models add up as they go: the powers themselves soon are infinite, and of their sum nothing could be told.",
		"NumCPU is runtime.NumCPU, as in the articles that the models are from. It is not GOMAXPROCS: the column goroutines is what a model makes of it.",
		"Libraries are told NumCPU. stint.Each, stint.Map and par.Reduce are told nothing.",
		"The articles' figures, on 1 core / 8: in ms, sequential 95 to 101, pipeline 512 / 865, pipeline-buffered 220 / 370, fan 715 / 913, fan-buffered 320 / 428, parallelize 95 / 19.4; of 100 items in µs, pool-min 33 / 72, pool 38 / 78, pool-max 143 / 282.")
	long := experiment.Case{Ops: z.once, Count: longSamples, Main: true}
	short := experiment.Case{Ops: z.ops, Count: shortSamples}
	return b.Run(ctx, study(b, long, z.long, channels), study(b, short, z.short, few))
}

// study compares all models on a list of n items.
func study(b *experiment.Bench, c experiment.Case, n int, claims func(experiment.Names) []result.Claim) experiment.Study {
	c.Name, c.Doc, c.Reference = fmt.Sprintf("n=%d", n), "items of math.Pow", models.NameSequential
	c.Models = powers(n).Models(slices.Concat(models.ByHand(), models.Peers(runtime.NumCPU()), models.Calls(), []models.Model{models.Reduce()})...)
	return b.OnBoth(c, claims)
}

func powers(n int) models.List {
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
	piecesWin  = "When items compute, one piece a processor is the fastest, on many processors only."
	poolsHurt  = "When items compute, more workers make a pool slower."
	numCPU     = "runtime.NumCPU does not follow GOMAXPROCS."
)

// ours are the models that claims of ours are about.
var ours = []string{models.NameEach, models.NameMap, models.NameReduce}

// channels are the claims about many items: a channel an item costs more than
// the item.
func channels(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out,
			experiment.AtMost(1, kase, models.NameSequential, models.NamePipeline, loopWins),
			experiment.AtMost(1, kase, models.NameSequential, models.NameFan, loopWins),
			experiment.AtMost(1, kase, models.NamePipelineBuffered, models.NamePipeline, bufferHelp),
			experiment.AtMost(1, kase, models.NameFanBuffered, models.NameFan, bufferHelp))
	}
	out = append(out, experiment.AtMost(1.05, on.One, models.NameSequential, models.NameParallelize, piecesWin))
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
		experiment.AtMost(1, on.All, models.NameParallelize, models.NameSequential, piecesWin),
		experiment.AtMost(1, on.All, models.NameParallelize, result.BestPeer, piecesWin),
		experiment.Across(1, on.One, on.All, models.NamePipeline, coresHurt),
		experiment.Across(1, on.One, on.All, models.NameFan, coresHurt),
		same)
}

// few are the claims about few items.
func few(on experiment.Names) []result.Claim {
	return append(pools(on), models.Few(on, ours...)...)
}

// pools are the claims about pools, with many items and with few.
func pools(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out,
			experiment.AtMost(1, kase, models.NamePoolMin, models.NamePool, poolsHurt),
			experiment.AtMost(1, kase, models.NamePool, models.NamePoolMax, poolsHurt))
	}
	return out
}

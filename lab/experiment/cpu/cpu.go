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
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment cpu.
var Experiment = experiment.New("cpu", "one list, computing: loop, pipelines, fans, pools, the lock of a channel, libraries, calls without an option",
	sizes{long: 1_000_000, sends: 200_000}, sizes{long: 10_000, sends: 10_000}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	long  int // items of the long list
	sends int // items of the cases about one channel
}

// short is the number of items of the short list, as in the article.
const short = 100

const (
	longTable  = "computing, 1,000,000 items"
	shortTable = "pool, computing, 100 items"
)

// The article's figures.
var (
	ofLong = []result.Figure{
		{Model: models.NameSequential, Text: "95 to 101 ms on 8 cores"},
		{Model: models.NamePipeline, Text: "512 ms on 1 core, 865 on 8"},
		{Model: models.NamePipelineBuffered, Text: "220 ms on 1 core, 370 on 8"},
		{Model: models.NameFan, Text: "715 ms on 1 core, 913 on 8"},
		{Model: models.NameFanBuffered, Text: "320 ms on 1 core, 428 on 8"},
		{Model: models.NameParallelize, Text: "95 ms on 1 core, 19.4 on 8"},
	}
	ofShort = []result.Figure{
		{Model: models.NamePoolMin, Text: "33 µs on 1 core, 72 on 8"},
		{Model: models.NamePool, Text: "38 µs on 1 core, 78 on 8"},
		{Model: models.NamePoolMax, Text: "143 µs on 1 core, 282 on 8"},
	}
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	shape := models.ShapeOf(s, 2)
	b := s.NewBench("cpu", fmt.Sprintf("math.Pow of %d and of %d numbers", z.long, short),
		"An op is a whole list. An item takes some 15 ns in the short list and 50 ns in the long one, whose exponents are larger.",
		"The models add up the bits of the powers: the powers themselves soon are infinite, and their sum would show nothing.",
		shape.Note(),
		"Libraries have the limit NumCPU. stint.Each, stint.Map and par.Reduce have no option.",
		models.NoteNoGC)
	others := slices.Concat(models.Peers(runtime.NumCPU()), models.Calls(), []models.Model{models.Reduce()})
	kase := func(n int, table string, figures []result.Figure, others ...models.Model) experiment.Case {
		return experiment.Case{
			Name: fmt.Sprintf("n=%d", n), Doc: "items of math.Pow", Reference: models.NameSequential, Article: result.Pools, Table: table, Figures: figures,
			Models: list(n).Models(append(shape.Models(), others...)...), Count: 10,
		}
	}
	few, fewNoGC := kase(short, shortTable, ofShort, others...), kase(short, shortTable, ofShort)
	fewNoGC.NoGC, fewNoGC.Name = true, "gc=off/"+fewNoGC.Name
	many, noGC := kase(z.long, longTable, ofLong, others...), kase(z.long, longTable, ofLong)
	many.Main, noGC.NoGC, noGC.Name = true, true, "gc=off/"+noGC.Name
	for _, c := range []*experiment.Case{&many, &noGC} {
		c.Ops, c.Count = 1, 6 // give an interval; some models take half a second for one list
	}
	return b.Run(ctx,
		b.OnBoth(many, func(on experiment.Names) []result.Claim {
			return append(articleClaims(on), models.Unhinted(on, ours...)...)
		}),
		b.OnBoth(few, func(on experiment.Names) []result.Claim {
			return append(poolClaims(on), models.SmallList(on, ours...)...)
		}),
		b.OnBoth(noGC, articleClaims), b.OnBoth(fewNoGC, poolClaims), channelStudy(b, z.sends))
}

func list(n int) models.List {
	l := models.List{N: n, Item: power}
	l.Want = l.Sum()
	return l
}

func power(i int) uint64 {
	return math.Float64bits(math.Pow(3.1415926, float64(i))) + models.Key(i)
}

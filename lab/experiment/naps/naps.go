// Package naps is the experiment io. It measures one list of items that wait: how
// much pipelines, pools, libraries and calls without an option let them wait at the
// same time.
package naps

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "io",
	Doc:  "one list, waiting: loop, pipelines, fans, pools, libraries, calls without an option",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		n := 100
		if s.Quick {
			n = 6
		}
		return run(ctx, s, n)
	},
}

// samples are few: a model that does not wait at the same time takes half a
// second for one. They are enough for an interval.
const samples = 6

func run(ctx context.Context, s *experiment.Session, n int) (*result.Result, error) {
	b := s.NewBench("io", fmt.Sprintf("%d items that sleep for a random whole number of milliseconds, from 0 to 9; the same in each run", n),
		"An op is a whole list. The column at once is how many items slept at the same time, at most.",
		"NumCPU is runtime.NumCPU, as in the articles that the models are from. It is not GOMAXPROCS.",
		"Libraries are told 10 x NumCPU, as the largest of the pools is. stint.Each and stint.Map are told nothing.",
		"The articles' figures, on 1 and 8 cores, in ms: sequential 442 to 457, pipeline 454 to 467, fan 37, parallelize 87 to 89, pool-min 37, pool 21.4, pool-max 9.4.")
	c := experiment.Case{Name: fmt.Sprintf("n=%d", n), Doc: "items that sleep for 0 to 9 ms", Reference: models.NameSequential, Ops: 1, Count: samples, Main: true}
	list := naps(n, time.Millisecond)
	c.Models = list.Models(slices.Concat(models.ByHand(), models.Peers(models.Many()), models.Calls())...)
	fixed := c
	fixed.Name, fixed.Reference, fixed.Main = "sweep=workers/"+c.Name, models.NameEach, false
	fixed.Models = list.Models(append(models.Sweep(n), models.Each())...)
	return b.Run(ctx, b.OnBoth(c, claims), b.OnBoth(fixed, func(on experiment.Names) []result.Claim {
		return models.Unhinted(on, models.NameEach)
	}))
}

// naps are n items that sleep for up to nine units, and give how many.
func naps(n int, unit time.Duration) models.List {
	r := rand.New(rand.NewPCG(7, 8))
	units := make([]int, n)
	want := uint64(0)
	for i := range units {
		units[i] = r.IntN(10)
		want += uint64(units[i]) + models.Key(i)
	}
	g := new(engine.Gauge)
	return models.List{N: n, Want: want, Gauge: g, Item: func(i int) uint64 {
		g.Enter()
		time.Sleep(time.Duration(units[i]) * unit)
		g.Leave()
		return uint64(units[i]) + models.Key(i)
	}}
}

// The conclusions of the articles about items that wait.
const (
	bufferIdle = "When items wait, buffers do not make channels faster."
	fanWins    = "When items wait, a fan of goroutines is faster than one piece a processor."
	coresIdle  = "When items wait, more processors do not help."
	poolsHelp  = "When items wait, more workers make a pool faster."
)

// claims are what is said of items that wait: how many wait at once decides, and
// neither buffers nor processors do.
func claims(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out,
			experiment.AtMost(1.05, kase, models.NamePipeline, models.NamePipelineBuffered, bufferIdle),
			experiment.AtMost(1.05, kase, models.NameFan, models.NameFanBuffered, bufferIdle),
			experiment.AtMost(1, kase, models.NameFan, models.NameParallelize, fanWins),
			experiment.AtMost(1, kase, models.NamePool, models.NamePoolMin, poolsHelp),
			experiment.AtMost(1, kase, models.NamePoolMax, models.NamePool, poolsHelp))
	}
	if on.All != "" {
		for _, m := range []string{models.NamePipeline, models.NameFan, models.NameParallelize, models.NamePoolMax} {
			out = append(out, experiment.Across(1.05, on.One, on.All, m, coresIdle))
		}
	}
	return append(out, models.Unhinted(on, models.NameEach, models.NameMap)...)
}

// Package io measures a list of items that wait: how many of them pipelines,
// pools, libraries and calls without an option let wait concurrently.
package io

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

// Experiment is the experiment io.
var Experiment = experiment.New("io", "one list, waiting: loop, pipelines, fans, pools, libraries, calls without an option",
	100, 6, run)

// samples give an interval. A sequential model takes half a second for one.
const samples = 6

func run(ctx context.Context, s *experiment.Session, n int) (*result.Result, error) {
	b := s.NewBench("io", fmt.Sprintf("%d items that sleep for a random whole number of milliseconds, from 0 to 9; the same in each run", n),
		"An op is a whole list. The column at once is the most items that slept concurrently.",
		"NumCPU is runtime.NumCPU, as in the articles that the models are from. It is not GOMAXPROCS.",
		"Libraries have the limit 10 x NumCPU, as the largest pool has. stint.Each and stint.Map have no option.",
		"The articles' figures, on 1 and 8 cores, in ms: sequential 442 to 457, pipeline 454 to 467, fan 37, parallelize 87 to 89, pool-min 37, pool 21.4, pool-max 9.4.")
	c := experiment.Case{Name: fmt.Sprintf("n=%d", n), Doc: "items that sleep for 0 to 9 ms", Reference: models.NameSequential, Ops: 1, Count: samples, Main: true}
	list := sleeps(n, time.Millisecond)
	c.Models = list.Models(slices.Concat(models.ByHand(), models.Peers(models.TenPerCPU()), models.Calls())...)
	fixed := c
	fixed.Name, fixed.Reference, fixed.Main = "sweep=workers/"+c.Name, models.NameEach, false
	fixed.Models = list.Models(append(models.Sweep(n), models.Each())...)
	return b.Run(ctx, b.OnBoth(c, claims), b.OnBoth(fixed, func(on experiment.Names) []result.Claim {
		return models.Unhinted(on, models.NameEach)
	}))
}

// sleeps returns a list of n items that sleep for up to nine units. The result
// of an item is that number.
func sleeps(n int, unit time.Duration) models.List {
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
	fanWins    = "When items wait, a fan of goroutines is faster than one chunk a processor."
	coresIdle  = "When items wait, more processors do not help."
	poolsHelp  = "When items wait, more workers make a pool faster."
)

// claims returns the claims about items that wait: only the number of
// concurrent items matters, not buffers or processors.
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

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
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment io.
var Experiment = experiment.New("io", "one list, waiting: loop, pipelines, fans, pools, libraries, calls without an option",
	100, 3, run)

// The article's figures: of the models that are the same on all machines, and of the others.
var ofLoop = []result.Figure{
	{Model: models.NameSequential, Text: "442 to 457 ms"},
	{Model: models.NamePipeline, Text: "454 to 467 ms"},
}
var ofShape = []result.Figure{
	{Model: models.NameFan, Text: "37 ms"},
	{Model: models.NameParallelize, Text: "87 to 89 ms"},
	{Model: models.NameBalanced, Text: "not measured"},
	{Model: models.NamePoolMin, Text: "37 ms"},
	{Model: models.NamePool, Text: "21.4 ms"},
	{Model: models.NamePoolMax, Text: "9.4 ms"},
}

// author is the shape of the author's machine: the figures fit 28 CPUs.
var author = models.Shape{Fan: 14, CPUs: 28}

func run(ctx context.Context, s *experiment.Session, n int) (*result.Result, error) {
	shape := models.ShapeOf(s, 4)
	b := s.NewBench("io", fmt.Sprintf("%d items that sleep for a random whole number of milliseconds, from 0 to 9; the same in each run", n),
		"An op is a whole list. The column at once is the most items that slept concurrently.",
		shape.Note(),
		"The fan has at least 4 workers. On fewer than 8 CPUs these are more than half of the pieces of parallelize, which is the article's proportion.",
		"In workers=14 the models are those of a machine of 28 CPUs, which the article's figures fit: 14 workers, 28 pieces, pools of 14, 28 and 280.",
		"Libraries have the limit 10 x NumCPU, as the largest pool has. stint.Each and stint.Map have no option.",
		models.NoteNoGC)
	kase := func(prefix, reference string, n int, all ...models.Model) experiment.Case {
		return experiment.Case{
			Name: fmt.Sprintf("%sn=%d", prefix, n), Doc: "items that sleep for 0 to 9 ms", Reference: reference, Models: sleeps(n, time.Millisecond).Models(all...),
			Ops: 1, Count: 6, // give an interval; a sequential model takes half a second for one
		}
	}
	main := kase("", models.NameSequential, n, slices.Concat(shape.Models(), models.Peers(models.TenPerCPU()), models.Calls())...)
	authors := kase("workers=14/", models.NameParallelize, 100, append(author.Concurrent(), models.Each())...)
	sweep := kase("sweep=workers/", models.NameEach, n, append(models.Sweep(n), models.Each())...)
	main.Main, main.Article, main.Table, main.Figures = true, result.Pools, "waiting, 100 items: loop and pipeline", ofLoop
	authors.Main, authors.Article, authors.Table, authors.Figures = true, result.Pools, "waiting, 100 items: the others, as on 28 CPUs", ofShape
	noGC := kase("gc=off/", models.NameSequential, n, shape.Models()...)
	noGC.NoGC = true
	unhinted := func(on experiment.Names) []result.Claim { return models.Unhinted(on, models.NameEach) }
	r, err := b.Run(ctx, b.OnBoth(main, func(on experiment.Names) []result.Claim {
		return append(claims(on), models.Unhinted(on, models.NameEach, models.NameMap)...)
	}), b.OnBoth(noGC, claims), b.OnBoth(authors, authorsClaims), b.OnBoth(sweep, unhinted))
	r.Notes = append(r.Notes, remainder(r, authors.Name)...)
	return r, err
}

// sleeps returns a list of n items that sleep for up to nine units. The result
// of an item is that number.
func sleeps(n int, unit time.Duration) models.List {
	r := rand.New(rand.NewPCG(7, 8))
	units := make([]int, n)
	g := new(engine.Gauge)
	l := models.List{N: n, Gauge: g, Item: func(i int) uint64 {
		g.Enter()
		time.Sleep(time.Duration(units[i]) * unit)
		g.Leave()
		return uint64(units[i]) + models.Key(i)
	}}
	for i := range units {
		units[i] = r.IntN(10)
		l.Want += uint64(units[i]) + models.Key(i)
	}
	return l
}

// claims returns the article's claims about items that wait: only the number of
// concurrent items matters, not buffers or processors. Whether a fan beats pieces depends
// on the numbers of both, so that this is claimed for the author's alone.
func claims(on experiment.Names) []result.Claim {
	const pipe, fan, pieces = models.NamePipeline, models.NameFan, models.NameParallelize
	const least, pool, most = models.NamePoolMin, models.NamePool, models.NamePoolMax
	return slices.Concat(
		says("When items wait, buffers do not make channels faster.",
			models.Both(1.05, on, pipe, models.NamePipelineBuffered), models.Both(1.05, on, fan, models.NameFanBuffered)),
		says("When items wait, more processors do not help.", models.NoGain(1.05, on, models.NameSequential, pipe, fan, pieces)),
		says("When items wait, a pool on one shared channel gains nothing from more processors.", models.NoGain(1.05, on, least, pool, most)),
		says(poolsHelp, models.Both(1, on, pool, least), models.Both(1, on, most, pool)))
}

// The conclusions that the author's machine matters for.
const (
	fanWins   = "When items wait, a fan of goroutines is faster than one piece a processor."
	poolsHelp = "When items wait, more workers make a pool faster."
)

func authorsClaims(on experiment.Names) []result.Claim {
	const fan, pieces = models.NameFan, models.NameParallelize
	return slices.Concat(
		says(fanWins, models.Both(1, on, fan, pieces)),
		says(poolsHelp, models.Both(1, on, models.NamePool, models.NamePoolMin), models.Both(1, on, models.NamePoolMax, models.NamePool)),
		models.Says("", "When items wait, a fan beats one piece a processor because the last piece has the remainder: cut evenly, the pieces are faster.",
			models.Both(1, on, fan, pieces), models.Both(1, on, models.NameBalanced, fan)),
		models.Unhinted(on, models.NameEach))
}

func says(conclusion string, claims ...[]result.Claim) []result.Claim {
	return models.Says(result.Pools, conclusion, claims...)
}

// remainder says how much of the article's result is due to its cut.
func remainder(r *result.Result, kase string) []string {
	ms := func(model string) float64 { return r.Row(kase, model).Median(measure.Time).Median / 1e6 }
	cut, even, fan := ms(models.NameParallelize), ms(models.NameBalanced), ms(models.NameFan)
	if cut == 0 || even == 0 || fan == 0 {
		return nil // not measured
	}
	return []string{fmt.Sprintf("%s: parallelize takes %.1f ms cut as in the article, with the remainder in the last piece, and %.1f ms cut evenly: "+
		"%.0f %% of its time is the remainder. The fan takes %.1f ms.", kase, cut, even, 100*(cut-even)/cut, fan)}
}

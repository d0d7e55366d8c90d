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
	sizes{n: 100, author: 100}, sizes{n: 3, author: 100}, run)

// sizes are the items of the lists, smaller in quick runs and tests.
type sizes struct {
	n      int
	author int // of the author's machine, where the remainder of 100 items matters
}

// samples give an interval. A sequential model takes half a second for one.
const samples = 6

// figures are the article's, which fit a machine of about 28 CPUs.
var figures = []result.Figure{
	{Model: models.NameSequential, Text: "442 to 457 ms"},
	{Model: models.NamePipeline, Text: "454 to 467 ms"},
	{Model: models.NameFan, Text: "37 ms"},
	{Model: models.NameParallelize, Text: "87 to 89 ms"},
	{Model: models.NamePoolMin, Text: "37 ms"},
	{Model: models.NamePool, Text: "21.4 ms"},
	{Model: models.NamePoolMax, Text: "9.4 ms"},
}

// author is the shape of the author's machine, as its figures show.
var author = models.Shape{Fan: 14, CPUs: 28}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	shape := models.ShapeOf(s, 4)
	b := s.NewBench("io", fmt.Sprintf("%d items that sleep for a random whole number of milliseconds, from 0 to 9; the same in each run", z.n),
		"An op is a whole list. The column at once is the most items that slept concurrently.",
		fmt.Sprintf("NumCPU is runtime.NumCPU, as in the article, or twice the flag --workers. It is not GOMAXPROCS. A fan has %d workers here: NumCPU/2 as in the article, but at least 4.", shape.Fan),
		fmt.Sprintf("In workers=%d the models have the numbers of the author's machine, as its figures show: a fan of %d, %d pieces, pools of %d, %d and %d workers.", author.Fan, author.Fan, author.CPUs, author.Fan, author.CPUs, 10*author.CPUs),
		"Libraries have the limit 10 x NumCPU, as the largest pool has. stint.Each and stint.Map have no option.")
	kase := func(prefix, reference string, n int, all []models.Model) experiment.Case {
		return experiment.Case{Name: fmt.Sprintf("%sn=%d", prefix, n), Doc: "items that sleep for 0 to 9 ms", Reference: reference, Ops: 1, Count: samples,
			Models: sleeps(n, time.Millisecond).Models(all...)}
	}
	main := kase("", models.NameSequential, z.n, slices.Concat(shape.Models(), models.Peers(models.TenPerCPU()), models.Calls()))
	authors := kase(fmt.Sprintf("workers=%d/", author.Fan), models.NameParallelize, z.author, append(author.Concurrent(), models.Each()))
	sweep := kase("sweep=workers/", models.NameEach, z.n, append(models.Sweep(z.n), models.Each()))
	for _, c := range []*experiment.Case{&main, &authors} {
		c.Main, c.Article, c.Table, c.Figures = true, result.Pools, "waiting, 100 items", figures
	}
	r, err := b.Run(ctx, b.OnBoth(main, claims), b.OnBoth(authors, authorsClaims), b.OnBoth(sweep, unhinted))
	r.Notes = append(r.Notes, remainder(r, authors.Name)...)
	return r, err
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

// remainder says how much of the article's result is due to its cut.
func remainder(r *result.Result, kase string) []string {
	ms := func(model string) float64 { return r.Row(kase, model).Median(measure.Time).Median / 1e6 }
	cut, even, fan := ms(models.NameParallelize), ms(models.NameBalanced), ms(models.NameFan)
	if even == 0 || fan == 0 || cut == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: parallelize takes %.1f ms cut as in the article, where the last piece has the remainder, and %.1f ms cut evenly: %.0f %% of its time is the remainder. The fan takes %.1f ms.",
		kase, cut, even, 100*(cut-even)/cut, fan)}
}

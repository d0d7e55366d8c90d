// Package find measures items that wait and then compute: documents that are
// read, decoded and searched. The best number of concurrent documents does not
// follow from the number of processors.
package find

import (
	"cmp"
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

// Experiment is the experiment find.
var Experiment = experiment.New("find", "reading, decoding and searching documents: loop, workers, libraries, and fixed numbers of workers beside none",
	1000, 40, run)

// readTime is the wait of reading a document.
const readTime = time.Millisecond

// nameWorkers is the article's model.
const nameWorkers = "workers"

var figures = []result.Figure{
	{Model: models.NameSequential, Text: "1.45 to 1.5 s on 1 core as on 8"},
	{Model: nameWorkers, Text: "0.18 to 0.19 s on 1 core as on 8"},
}

func run(ctx context.Context, s *experiment.Session, n int) (*result.Result, error) {
	workers := cmp.Or(s.Workers, 8)
	b := s.NewBench("find", fmt.Sprintf("%d documents, RSS of about ten items each; an item waits %v, decodes one and counts the matches", n, readTime),
		"An op is all documents. The column at once is the most documents in work concurrently: for models without a number, what they have chosen.",
		fmt.Sprintf("One document in %d cannot be decoded and is skipped, as in the article.", unreadable),
		fmt.Sprintf("workers has %d goroutines: as many as the article's machine has hardware threads, or the flag --workers.", workers),
		"Libraries have the limit 10 x NumCPU. stint.Each and stint.Map have no option.",
		"In sweep=workers the number in a model's name is its number of goroutines, or its Limit.",
		models.NoteSwitches,
		models.NoteNoGC,
		"The article leaves open how many goroutines a processor should have; stint's answers are the last notes.")
	kase := func(name, reference string, n int, models ...models.Model) experiment.Case {
		return experiment.Case{
			Name: fmt.Sprintf("%sdocuments=%d", name, n), Doc: "items that wait and decode", Reference: reference, Models: read(n, readTime).Models(models...),
			Ops: 1, Count: 6, // give an interval; a loop takes more than a second for one
		}
	}
	articles := []models.Model{models.Sequential(), models.Workers(nameWorkers, "a fixed number of goroutines", workers, n)}
	others := slices.Concat([]models.Model{models.Goroutines()}, models.Peers(models.TenPerCPU()), models.Calls())
	main := kase("", models.NameSequential, n, append(articles, others...)...)
	noGC := kase("gc=off/", models.NameSequential, n, articles...)
	main.Main, noGC.NoGC = true, true
	for _, c := range []*experiment.Case{&main, &noGC} {
		c.Scheduling, c.Article, c.Table, c.Figures = true, result.Scheduling, "searching documents", figures
	}
	// The sweep has fewer documents, since one worker reads them sequentially.
	sweep := kase("sweep=workers/", models.NameEach, n/2, append(models.Sweep(n/2, models.EachLimit), models.Each())...)
	var swept []string
	r, err := b.Run(ctx, b.OnBoth(main, func(on experiment.Names) []result.Claim {
		return append(claims(on), models.Unhinted(on, models.NameEach, models.NameMap)...)
	}), b.OnBoth(noGC, claims), b.OnBoth(sweep, func(on experiment.Names) []result.Claim {
		swept = on.Both()
		return models.Unhinted(on, models.NameEach)
	}))
	r.Notes = append(r.Notes, answers(r, swept)...)
	return r, err
}

// read returns a list of n documents. The result of an item is its number of
// matches, or skipped.
func read(n int, readTime time.Duration) models.List {
	r := rand.New(rand.NewPCG(11, 12))
	texts := make([][]byte, n)
	want := uint64(0)
	for i := range texts {
		var found uint64
		if texts[i], found = feed(r); i%unreadable == unreadable-1 {
			texts[i], found = texts[i][:len(texts[i])/2], skipped
		}
		want += found + models.Key(i)
	}
	g := new(engine.Gauge)
	return models.List{N: n, Want: want, Gauge: g, Item: func(i int) uint64 {
		g.Enter()
		time.Sleep(readTime)
		found := find(texts[i])
		g.Leave()
		return found + models.Key(i)
	}}
}

// claims returns the claims of the article. Its figures on one processor and on
// many differ by less than 6 %.
func claims(on experiment.Names) []result.Claim {
	return slices.Concat(
		models.Says(result.Scheduling, "Reading documents with 8 goroutines, or --workers, takes 87 % less time than a loop, on one processor as on many.",
			models.Both(0.13, on, nameWorkers, models.NameSequential), models.NoGain(1.06, on, nameWorkers)),
		models.Says(result.Scheduling, "Work that waits can afford context switches between goroutines: also on one processor it takes less time with several.",
			models.One(1, on, nameWorkers, models.NameSequential)))
}

// answers describes, for each sweep, the limit that the call without an option
// has found and the fastest fixed number.
func answers(r *result.Result, sweeps []string) (out []string) {
	for _, kase := range sweeps {
		ours, best := r.Row(kase, models.NameEach), r.Best(kase, measure.Time, func(m result.Model) bool { return m.Sweep != "" })
		if ours != nil && best != nil {
			out = append(out, fmt.Sprintf("%s: %s without an option runs up to %.0f concurrently; the fastest fixed number, %s, takes %.2f of its time.",
				kase, ours.Model, ours.Median(measure.AtOnce).Median, best.Model, best.Median(measure.Time).Median/ours.Median(measure.Time).Median))
		}
	}
	return out
}

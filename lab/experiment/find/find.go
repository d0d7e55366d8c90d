// Package find measures items that wait and then compute: documents that are
// read, decoded and searched. The best number of concurrent documents does not
// follow from the number of processors.
package find

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment find.
var Experiment = experiment.New("find", "reading, decoding and searching documents: loop, workers, libraries, and fixed numbers of workers beside none",
	1000, 40, run)

// samples give an interval. A model that reads documents sequentially takes
// more than a second for one.
const samples = 6

// readTime is the wait of reading a document.
const readTime = time.Millisecond

const (
	nameWorkers = "workers"
	sweepPrefix = "sweep=workers/" // prefix of cases with fixed numbers of workers
)

func run(ctx context.Context, s *experiment.Session, n int) (*result.Result, error) {
	b := s.NewBench("find", fmt.Sprintf("%d documents, RSS of about ten items each; an item of the list waits %v, decodes one and counts the matches", n, readTime),
		"An op is all documents. The column at once is the most documents in work concurrently: for models without a number, what they have chosen.",
		"NumCPU is runtime.NumCPU, as in the article that workers is from. Libraries have the limit 10 x NumCPU. stint.Each and stint.Map have no option.",
		"In sweep=workers the number in a model's name is its number of goroutines, or its Limit.",
		"The article's figures, on 1 core as on 8: sequential 1.45 to 1.5 s, workers 0.18 to 0.19. It leaves open how many goroutines a processor should have; stint's answers are the last notes.")
	r, err := b.Run(ctx, b.OnBoth(search(n), claims), b.OnBoth(sweep(n/2), func(on experiment.Names) []result.Claim {
		return models.Unhinted(on, models.NameEach)
	}))
	r.Notes = append(r.Notes, answers(r)...)
	return r, err
}

// search compares the models of the article and libraries.
func search(n int) experiment.Case {
	return experiment.Case{
		Name: fmt.Sprintf("documents=%d", n), Doc: "items that wait and decode", Reference: models.NameSequential, Ops: 1, Count: samples, Main: true,
		Models: read(n, readTime).Models(slices.Concat(
			[]models.Model{models.Sequential(), models.Workers(nameWorkers, "NumCPU goroutines", runtime.NumCPU(), n), models.Goroutines()},
			models.Peers(models.TenPerCPU()), models.Calls())...),
	}
}

// sweep compares fixed numbers of workers with none. It has fewer documents,
// since one worker reads them sequentially.
func sweep(n int) experiment.Case {
	return experiment.Case{
		Name: fmt.Sprintf("%sdocuments=%d", sweepPrefix, n), Doc: "items that wait and decode", Reference: models.NameEach, Ops: 1, Count: samples,
		Models: read(n, readTime).Models(append(models.Sweep(n, models.EachLimit), models.Each())...),
	}
}

// read returns a list of n documents. The result of an item is its number of
// matches.
func read(n int, readTime time.Duration) models.List {
	r := rand.New(rand.NewPCG(11, 12))
	texts := make([][]byte, n)
	want := uint64(0)
	for i := range texts {
		var found int
		texts[i], found = feed(r)
		want += uint64(found) + models.Key(i)
	}
	g := new(engine.Gauge)
	return models.List{N: n, Want: want, Gauge: g, Item: func(i int) uint64 {
		g.Enter()
		time.Sleep(readTime)
		found, err := find(texts[i])
		g.Leave()
		if err != nil {
			panic(err)
		}
		return uint64(found) + models.Key(i)
	}}
}

// The conclusion of the article.
const pays = "Reading several documents at once pays on one processor as much as on many."

// claims returns the claims of the article.
func claims(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out, experiment.AtMost(0.6, kase, nameWorkers, models.NameSequential, pays))
	}
	if on.All != "" {
		out = append(out, experiment.Across(1.1, on.One, on.All, nameWorkers, pays))
	}
	return append(out, models.Unhinted(on, models.NameEach, models.NameMap)...)
}

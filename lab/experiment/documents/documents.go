// Package documents is the experiment find. It measures items that wait and then
// compute: documents that are read, decoded and searched. How many to work on at once
// is a question that the number of processors does not answer.
package documents

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

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "find",
	Doc:  "reading, decoding and searching documents: loop, workers, libraries, and fixed numbers of workers beside none",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		n := 1000
		if s.Quick {
			n /= 25
		}
		return run(ctx, s, n)
	},
}

// samples are few: a model that reads one document after the other takes more
// than a second for one. They are enough for an interval.
const samples = 6

// nap is how long reading a document waits.
const nap = time.Millisecond

const (
	nameWorkers = "workers"
	sweeping    = "sweep=workers/" // begins the names of the cases with fixed numbers
)

func run(ctx context.Context, s *experiment.Session, n int) (*result.Result, error) {
	b := s.NewBench("find", fmt.Sprintf("%d documents, RSS of about ten items each; an item of the list waits %v, decodes one and counts what it looks for", n, nap),
		"An op is all documents. The column at once is how many of them were worked on at the same time, at most: what the models without a number have chosen.",
		"NumCPU is runtime.NumCPU, as in the article that workers is from. Libraries are told 10 x NumCPU. stint.Each and stint.Map are told nothing.",
		"The workers of sweep=workers are as many goroutines, and as many as a Limit, as their names say.",
		"The article's figures, on 1 core as on 8: sequential 1.45 to 1.5 s, workers 0.18 to 0.19. How many goroutines a processor should have it leaves open; the answers of stint are the last notes.")
	r, err := b.Run(ctx, b.OnBoth(search(n), claims), b.OnBoth(sweep(n/2), func(on experiment.Names) []result.Claim {
		return models.Unhinted(on, models.NameEach)
	}))
	r.Notes = append(r.Notes, answers(r)...)
	return r, err
}

// search compares the models of the article, and libraries.
func search(n int) experiment.Case {
	return experiment.Case{
		Name: fmt.Sprintf("documents=%d", n), Doc: "items that wait and decode", Reference: models.NameSequential, Ops: 1, Count: samples, Main: true,
		Models: read(n, nap).Models(slices.Concat(
			[]models.Model{models.Sequential(), models.Workers(nameWorkers, "NumCPU goroutines", runtime.NumCPU(), n), models.Goroutines()},
			models.Peers(models.Many()), models.Calls())...),
	}
}

// sweep compares fixed numbers of workers with none, on fewer documents: those
// that read one after the other are in it too.
func sweep(n int) experiment.Case {
	return experiment.Case{
		Name: fmt.Sprintf("%sdocuments=%d", sweeping, n), Doc: "items that wait and decode", Reference: models.NameEach, Ops: 1, Count: samples,
		Models: read(n, nap).Models(append(models.Sweep(n, models.EachLimit), models.Each())...),
	}
}

// read is the list of n documents, which give how often they have the topic.
func read(n int, nap time.Duration) models.List {
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
		time.Sleep(nap)
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

// claims are what the article says: reading at the same time pays, and on one
// processor as much as on many.
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

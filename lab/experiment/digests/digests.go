// Package digests is the experiment sha. It measures many jobs of a fraction of a
// microsecond: a pool of workers beside a goroutine a job, how many workers are too
// many, and when a pool is not worth it.
package digests

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "sha",
	Doc:  "ten thousand digests: a pool of ten beside a goroutine each, one to 1,024 workers, few jobs",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		z := sizes{jobs: 10_000, long: 8}
		if s.Quick {
			z = sizes{jobs: 500, long: 4}
		}
		return run(ctx, s, z)
	},
}

// sizes are what a quick run and a test make smaller.
type sizes struct {
	jobs int
	long int // samples of all jobs are as many lists: the slowest model would allow too few
	ops  int // lists a sample of few jobs; 0: as many as take long enough
}

// Samples of a case: there are many.
const samples = 12

// workers is the size of the article's pool.
const workers = 10

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("sha", fmt.Sprintf("%d digests of a short text, and few of them", z.jobs),
		"An op is all jobs: for each, fmt.Sprintf and SHA-256 of what it gives, which are two allocations.",
		"The channels of pool and of the workers hold all jobs of a case, as in the article that they are from.",
		fmt.Sprintf("Libraries are told %d, as the pool is. stint.Each, stint.Map and stint.Pool are told nothing.", workers),
		"The article's figures, on 14 cores: goroutines 2.50 ms, 639 KB and 39,754 allocations, pool 1.79 ms, 321 KB and 19,762.")
	studies := []experiment.Study{b.OnBoth(z.many(), claims), b.OnBoth(z.sweep(), tooMany)}
	for _, n := range []int{1, 10, 100} {
		studies = append(studies, b.OnBoth(z.few(n), plain))
	}
	return b.Run(ctx, studies...)
}

// jobs is the list of n digests.
func jobs(n int) models.List {
	l := models.List{N: n, Item: func(i int) uint64 {
		digest := sha256.Sum256([]byte(fmt.Sprintf("payload-%d", i)))
		return binary.BigEndian.Uint64(digest[:])
	}}
	l.Want = l.Sum()
	return l
}

func kase(name string, n, ops int) experiment.Case {
	return experiment.Case{Name: fmt.Sprintf("%sjobs=%d", name, n), Doc: "jobs of SHA-256", Reference: models.NameSequential, Ops: ops, Count: samples}
}

// pool is the article's: its channel holds all jobs.
func pool(n int) models.Model {
	m := models.Workers(models.NamePool, "", workers, n)
	m.Doc = fmt.Sprintf("%d goroutines on a channel that holds all jobs, a sum each, one lock at the end", workers)
	return m
}

// many compares all models.
func (z sizes) many() experiment.Case {
	c := kase("", z.jobs, z.long)
	c.Main = true
	c.Models = jobs(z.jobs).Models(slices.Concat(
		[]models.Model{models.Sequential(), models.Goroutines(), pool(z.jobs)}, models.Peers(workers), []models.Model{models.Pool()}, models.Calls())...)
	return c
}

// sweep compares pools of many sizes.
func (z sizes) sweep() experiment.Case {
	c := kase("sweep=workers/", z.jobs, z.long)
	c.Reference = models.NameEach
	c.Models = jobs(z.jobs).Models(append(models.Sweep(z.jobs), models.Each())...)
	return c
}

// few is so few jobs that they are done before a pool is there.
func (z sizes) few(n int) experiment.Case {
	c := kase("", n, z.ops)
	c.Models = jobs(n).Models(append([]models.Model{models.Sequential(), models.Goroutines(), pool(n), models.Pool()}, models.Calls()...)...)
	return c
}

// The conclusions of the article.
const (
	poolWins = "A pool of workers is faster than a goroutine a job, and allocates about half."
	manyHurt = "Too many workers hurt."
	loopWins = "A pool is not worth it for few small jobs: a loop is faster."
)

// claims are what the article says of the pool: it is faster than a goroutine a
// job and allocates half.
func claims(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out, experiment.AtMost(1, kase, models.NamePool, models.NameGoroutines, poolWins))
		for _, u := range []measure.Unit{measure.Bytes, measure.Allocs} {
			out = append(out, result.Claim{
				Case: kase, Model: models.NamePool, Unit: u, Form: result.Ratio, Than: models.NameGoroutines, Bar: 0.55, Conclusion: poolWins,
			})
		}
	}
	return append(out, models.Unhinted(on, models.NameEach, models.NameMap)...)
}

// tooMany are the claims about the sweep.
func tooMany(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out, experiment.AtMost(0.95, kase, "workers-8", "workers-1024", manyHurt))
	}
	return append(out, models.Unhinted(on, models.NameEach)...)
}

// plain are the claims about few jobs: no pool is as fast as a loop.
func plain(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out, experiment.AtMost(1, kase, models.NameSequential, models.NamePool, loopWins))
	}
	return append(out, models.Few(on, models.NameEach, models.NameMap)...)
}

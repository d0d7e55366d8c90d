// Package sha measures many jobs of a fraction of a microsecond: a pool of
// workers beside a goroutine per job, how many workers are too many, and when a
// pool does not pay.
package sha

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

// Experiment is the experiment sha.
var Experiment = experiment.New("sha", "ten thousand digests: a pool of ten beside a goroutine each, one to 1,024 workers, few jobs",
	sizes{jobs: 10_000, long: 8}, sizes{jobs: 500, long: 4}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	jobs int
	long int // lists of all jobs per sample: chosen by time, the slowest model would allow too few
	ops  int // lists of few jobs per sample; 0: chosen by time
}

// samples is less than usual: there are many cases.
const samples = 12

// workers is the size of the article's pool.
const workers = 10

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("sha", fmt.Sprintf("%d digests of a short text, and few of them", z.jobs),
		"An op is all jobs. A job is fmt.Sprintf and SHA-256 of its result, with two allocations.",
		"The channels of pool and workers hold all jobs of a case, as in the article.",
		fmt.Sprintf("Libraries have the limit %d, as the pool has. stint.Each, stint.Map and stint.Pool have no option.", workers),
		"The article's figures, on 14 cores: goroutines 2.50 ms, 639 KB and 39,754 allocations, pool 1.79 ms, 321 KB and 19,762.")
	studies := []experiment.Study{b.OnBoth(z.many(), claims), b.OnBoth(z.sweep(), tooMany)}
	for _, n := range []int{1, 10, 100} {
		studies = append(studies, b.OnBoth(z.smallList(n), smallListClaims))
	}
	return b.Run(ctx, studies...)
}

// jobs returns a list of n digests.
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

// pool is the article's pool, whose channel holds all jobs.
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

// smallList has so few jobs that a loop ends before a pool is ready.
func (z sizes) smallList(n int) experiment.Case {
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

// claims returns the article's claims about the pool.
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

// tooMany returns the claims about the sweep.
func tooMany(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out, experiment.AtMost(0.95, kase, "workers-8", "workers-1024", manyHurt))
	}
	return append(out, models.Unhinted(on, models.NameEach)...)
}

// smallListClaims returns the claims about few jobs: no pool is as fast as a
// loop.
func smallListClaims(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out, experiment.AtMost(1, kase, models.NameSequential, models.NamePool, loopWins))
	}
	return append(out, models.SmallList(on, models.NameEach, models.NameMap)...)
}

// Package sha measures many jobs of a fraction of a microsecond: a pool of
// workers beside a goroutine per job, what each benefit of a pool is, how many
// workers are too many, and when a pool does not pay.
package sha

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment sha.
var Experiment = experiment.New("sha", "ten thousand digests: a pool of ten beside a goroutine each, the benefits of a pool, too many workers, few jobs",
	sizes{jobs: 10_000, long: 40, data: 64 << 20}, sizes{jobs: 10_000, long: 4, few: 50, data: 32 << 20}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	jobs int
	long int // lists of all jobs per sample: chosen by time, the slowest model would allow too few
	few  int // lists of few jobs per sample; 0: chosen by time
	data int // bytes that the jobs of a case about locality read
}

// samples are fewer than usual: there are many cases.
const samples = 12

// workers is the size of the article's pool.
const workers = 10

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("sha", fmt.Sprintf("%d digests of a short text, and few of them", z.jobs),
		"An op is all jobs. A job is fmt.Sprintf and SHA-256 of its result, with two allocations.",
		"unbounded and pool-10 allocate as the article's code. Their channel holds all jobs, and digests are not read. Other models add the digests up.",
		"The response time of a job is from its submission to its end. The spread is p99.9 less p50.",
		"A job of a case with set= reads data of its own eight times, and yields the processor in between, as one that waits a little. The article's sentence is judged where the data fits a cache.",
		fmt.Sprintf("Libraries have the limit %d, as the pool has. stint.Each, stint.Map and stint.Pool have no option.", workers))
	studies := []experiment.Study{
		b.OnBoth(z.article(), articleClaims), b.OnBoth(z.response(), responseClaims),
		z.locality(b, "16KB", cached), z.locality(b, "8MB", 8<<20),
		b.OnBoth(z.sweep(), sweepClaims),
	}
	for _, n := range []int{1, 10, 100, z.jobs} {
		studies = append(studies, z.summed(b, n))
	}
	return b.Run(ctx, studies...)
}

// The conclusions of the article.
const (
	poolWins  = "A pool of workers is faster than a goroutine a job, and allocates about half."
	peakLower = "A pool of workers has a lower peak of memory than a goroutine a job."
	steadier  = "A pool of workers has steadier response times than a goroutine a job: p99.9 is nearer to p50."
	schedules = "A pool of workers causes fewer garbage collections and context switches than a goroutine a job."
	fits      = "A pool of workers keeps the data of its jobs in the caches, where a goroutine a job does not."
	manyHurt  = "More workers than CPUs make jobs that compute slower."
	loopWins  = "A pool is not worth it for few small jobs: a goroutine a job is at least as fast, and a loop too."
)

// sameShape is ours.
const sameShape = "The two models allocate at most 3 % more than the article's code."

// noTable is where the article has no figures.
const noTable = "none: the text claims it"

// of is a claim that a model has at most bar times as much of a unit as another.
func of(kase, model, than string, u measure.Unit, bar float64) result.Claim {
	return result.Claim{Case: kase, Model: model, Than: than, Unit: u, Form: result.Ratio, Bar: bar}
}

// kase completes a case of the article's models.
func (z sizes) kase(name, table string, all ...experiment.Model) experiment.Case {
	return experiment.Case{
		Name: fmt.Sprintf("%s/jobs=%d", name, z.jobs), Doc: "jobs of SHA-256", Reference: all[0].Name, Ops: z.long, Count: samples,
		Article: result.WorkerPools, Table: table, Models: all,
	}
}

// article is the article's benchmark.
func (z sizes) article() experiment.Case {
	c := z.kase("code=article", "unbounded goroutines beside a pool of ten workers", unbounded.digests(z.jobs), tenWorkers.digests(z.jobs))
	c.Main, c.Scheduling = true, true
	c.Figures = []result.Figure{
		{Model: nameUnbounded, Text: "2.50 ms, 639 KB and 39,754 allocations on 14 cores"},
		{Model: nameTen, Text: "1.79 ms, 321 KB and 19,762 allocations on 14 cores"},
	}
	return c
}

func articleClaims(on experiment.Names) []result.Claim {
	value := func(kase, model string, u measure.Unit, figure float64) result.Claim {
		return result.Claim{Case: kase, Model: model, Unit: u, Form: result.Value, Bar: 1.03 * figure}
	}
	return on.Each(func(kase string) []result.Claim {
		than := func(u measure.Unit, bar float64) result.Claim { return of(kase, nameTen, nameUnbounded, u, bar) }
		return slices.Concat(
			experiment.Concludes("", sameShape, value(kase, nameUnbounded, measure.Bytes, 639e3), value(kase, nameUnbounded, measure.Allocs, 39_754),
				value(kase, nameTen, measure.Bytes, 321e3), value(kase, nameTen, measure.Allocs, 19_762)),
			experiment.Concludes(result.WorkerPools, poolWins, than(measure.Time, 1), than(measure.Bytes, 0.55), than(measure.Allocs, 0.55)),
			experiment.Concludes(result.WorkerPools, schedules, than(measure.Collections, 0.99), than(measure.Switches, 0.99)))
	})
}

// response compares the times until a job has ended, and the memory.
func (z sizes) response() experiment.Case {
	c := z.kase("response", noTable, unbounded.timed(z.jobs), tenWorkers.timed(z.jobs))
	c.Peaks = true
	return c
}

func responseClaims(on experiment.Names) []result.Claim {
	return on.Each(func(kase string) []result.Claim {
		return append(experiment.Concludes(result.WorkerPools, steadier, of(kase, nameTen, nameUnbounded, measure.Spread, 1)),
			experiment.Concludes(result.WorkerPools, peakLower, of(kase, nameTen, nameUnbounded, measure.PeakMemory, 1))...)
	})
}

// cached is a set of data that fits the cache of a CPU.
const cached = 16 << 10

// locality compares as many workers as CPUs with a goroutine a job, where each job has a
// set of data.
func (z sizes) locality(b *experiment.Bench, text string, set int) experiment.Study {
	c := z.kase("", noTable, unbounded.reads(z.data, set), perCPU(1).reads(z.data, set))
	c.Name, c.Doc, c.Ops = "set="+text, fmt.Sprintf("%d jobs that read %s each, 8 times", z.data/set, text), 1
	return b.OnBoth(c, func(on experiment.Names) []result.Claim {
		if set > cached {
			return nil
		}
		return on.Each(func(kase string) []result.Claim {
			return experiment.Concludes(result.WorkerPools, fits, experiment.AtMost(1, kase, nameWorkers(1), nameUnbounded, ""))
		})
	})
}

// perCPUs are the points of the sweep.
var perCPUs = []int{1, 2, 4, 8, 64, 512}

// sweep compares pools with more and more workers than CPUs.
func (z sizes) sweep() experiment.Case {
	var all []experiment.Model
	for _, times := range perCPUs {
		all = append(all, perCPU(times).digests(z.jobs))
	}
	return z.kase("sweep=workers", noTable, all...)
}

func sweepClaims(on experiment.Names) []result.Claim {
	return on.Each(func(kase string) (out []result.Claim) {
		for _, times := range perCPUs[1:4] {
			out = append(out, experiment.AtMost(1, kase, nameWorkers(1), nameWorkers(times), ""))
		}
		return experiment.Concludes(result.WorkerPools, manyHurt, out...)
	})
}

// list returns a list of n digests.
func list(n int) models.List {
	l := models.List{N: n, Item: func(i int) uint64 {
		d := digest(i)
		return binary.BigEndian.Uint64(d[:])
	}}
	l.Want = l.Sum()
	return l
}

// summed compares a loop, the article's pool, libraries and ours, which add the digests
// up. A loop finishes few jobs before a pool is ready.
func (z sizes) summed(b *experiment.Bench, n int) experiment.Study {
	pool := models.Workers(models.NamePool, "", workers, n)
	pool.Doc = fmt.Sprintf("%d goroutines on a channel that holds all jobs, a sum each, one lock at the end", workers)
	c := experiment.Case{
		Name: fmt.Sprintf("jobs=%d", n), Doc: "jobs of SHA-256", Reference: models.NameSequential, Ops: z.few, Count: samples,
		Article: result.WorkerPools, Table: noTable,
		Models: list(n).Models(slices.Concat(
			[]models.Model{models.Sequential(), models.Goroutines(), pool, models.Pool()}, models.Peers(workers), models.Calls())...),
	}
	if n == z.jobs {
		c.Ops = z.long
		return b.OnBoth(c, func(on experiment.Names) []result.Claim { return models.Unhinted(on, models.NameEach, models.NameMap) })
	}
	return b.OnBoth(c, func(on experiment.Names) []result.Claim {
		return append(on.Each(func(kase string) []result.Claim {
			return experiment.Concludes(result.WorkerPools, loopWins, experiment.AtMost(1, kase, models.NameGoroutines, models.NamePool, ""),
				experiment.AtMost(1, kase, models.NameSequential, models.NamePool, ""))
		}), models.SmallList(on, models.NameEach, models.NameMap)...)
	})
}

// Package load measures response times, memory and refusals of jobs that arrive whether or
// not the ones before have finished, at parts of what the CPUs can do: when a pool helps,
// and when it does not.
package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment load.
var Experiment = experiment.New("load", "jobs that arrive at 10 % to 120 % of capacity: a goroutine a job, pools that refuse, stint with and without a number",
	sizes{2 * time.Millisecond, 20 * time.Millisecond, 2 * time.Second}, sizes{time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	cost   time.Duration // that a job computes
	wait   time.Duration // that a job of some cases also waits
	length time.Duration // of a sample, from the first arrival to the last
}

// samples give an interval; one takes two seconds.
const samples = 6

// queuePerCPU is how many jobs may wait for each CPU, in all pools.
const queuePerCPU = 16

// A kind of jobs arrives at several loads, in percent of capacity.
type kind struct {
	prefix  string
	wait    time.Duration // after it has computed
	workers int           // for each CPU, of the pools with a number
	loads   []int
}

// computing are jobs that only compute.
var computing = kind{"", 0, 1, []int{10, 25, 50, 75, 90, 100, 120}}

// waiting returns jobs that also wait. For ten times as long as they compute, 11 workers a
// CPU are the fewest that can keep the CPUs busy.
func (z sizes) waiting() kind {
	return kind{fmt.Sprintf("wait=%v/", z.wait), z.wait, 16, []int{25, 75, 120}}
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("load", fmt.Sprintf("jobs that compute for %v, and some that wait for %v too, arrive at random times for %v", z.cost, z.wait, z.length),
		"A load of 100 is as many jobs a second as all CPUs finish that do nothing else.",
		"The generator of the jobs sleeps between two arrivals. It may wake up a millisecond late, and later when all CPUs compute; then it submits all that are due.",
		"Arrivals are planned before, at exponential distances, the same for all models of a round.",
		"A response time counts from the planned arrival, however late the job was submitted.",
		"An op is a job that was accepted, and refused is the part that was not. Response times are those of accepted jobs.",
		fmt.Sprintf("All pools have room for %d waiting jobs a CPU, and refuse when it is full.", queuePerCPU),
		"Pools with a number have a worker a CPU, or 16 where jobs wait.")
	g := newGenerator(z)
	return b.Run(ctx, g.study(computing, articleClaims()...), g.study(z.waiting()))
}

func (k kind) name(percent int) string { return fmt.Sprintf("%sload=%d", k.prefix, percent) }

// study compares the servers at the loads. It adds our claims.
func (g *generator) study(k kind, claims ...result.Claim) experiment.Study {
	st := experiment.Study{Claims: append(claims, k.ourClaims()...)}
	for _, percent := range k.loads {
		c := experiment.Case{
			Name: k.name(percent), Doc: "an op is an accepted job", Reference: nameGoroutines, Ops: 1, Count: samples, Peaks: true,
			Main:    percent == 25 || percent == 120,
			Article: result.WorkerPools, Table: "no table: the text advises against a pool where latency comes first, jobs are few or load is low",
		}
		for _, s := range servers {
			c.Models = append(c.Models, experiment.Model{Model: s.Model, Run: func(m *measure.Meter) error { return g.measure(m, s, k, percent) }})
		}
		st.Cases = append(st.Cases, c)
	}
	return st
}

// measure takes a sample of a server at a load.
func (g *generator) measure(m *measure.Meter, s server, k kind, percent int) error {
	cpus := runtime.GOMAXPROCS(0)
	plan := g.plan(percent, m.Round)
	took := make([]time.Duration, len(plan)) // 0: not run
	var began time.Time
	try, finish := s.open(k.workers*cpus, queuePerCPU*cpus, func(i int) {
		g.compute()
		if k.wait > 0 {
			time.Sleep(k.wait)
		}
		took[i] = max(time.Since(began)-plan[i], 1)
	})
	m.Start()
	began = time.Now()
	refused := 0
	for i, at := range plan {
		time.Sleep(time.Until(began.Add(at)))
		if !try(i) {
			refused++
		}
	}
	finish()
	m.N = max(1, len(plan)-refused)
	m.Stop()
	took = slices.DeleteFunc(took, func(d time.Duration) bool { return d == 0 })
	if len(took) != len(plan)-refused {
		return errors.New("the jobs that ran are not those that were accepted")
	}
	m.ReportTimes(took)
	m.Report(measure.Refused, float64(refused)/float64(len(plan)))
	return nil
}

// The conclusions of the article.
const (
	lowLoad = "Where latency comes first and load is low, a pool does not help: a goroutine a job responds at least as fast."
	bounds  = "Under overload a pool of workers keeps response times and memory bounded, where those of a goroutine a job grow as long as it lasts."
)

// Our conclusions.
const (
	asFast = "Up to a load of 75 %, stint.Pool with and without a number responds as fast as a hand-written pool, and refuses at most 1 % of the jobs."
	asMuch = "Under overload, stint.Pool with and without a number finishes as many jobs as a hand-written pool, with a p99 that is no higher."
)

// ratio claims that a model has at most bar times as much of a unit as another.
func ratio(bar float64, kase, model, than string, u measure.Unit) result.Claim {
	return result.Claim{Case: kase, Model: model, Than: than, Unit: u, Form: result.Ratio, Bar: bar}
}

// articleClaims are about jobs that compute.
func articleClaims() []result.Claim {
	over := computing.name(120)
	grows := ratio(0.1, computing.name(75), nameGoroutines, nameGoroutines, measure.P99)
	grows.InCase, grows.Note = over, "it grows tenfold, in the two seconds of a sample"
	var low []result.Claim
	for _, percent := range []int{10, 25, 50} {
		kase := computing.name(percent)
		low = append(low, ratio(1, kase, nameGoroutines, namePool, measure.P50), ratio(1, kase, nameGoroutines, namePool, measure.P99))
	}
	return append(experiment.Concludes(result.WorkerPools, lowLoad, low...), experiment.Concludes(result.WorkerPools, bounds,
		grows, ratio(0.5, over, namePool, nameGoroutines, measure.P99), ratio(1, over, namePool, nameGoroutines, measure.PeakMemory))...)
}

// ourClaims are about both kinds of jobs.
func (k kind) ourClaims() []result.Claim {
	var below, above []result.Claim
	for _, model := range []string{nameLimit, nameAuto} {
		for _, percent := range k.loads {
			switch kase := k.name(percent); {
			case percent <= 75:
				below = append(below, ratio(1.1, kase, model, namePool, measure.P50),
					result.Claim{Case: kase, Model: model, Unit: measure.Refused, Form: result.Value, Bar: 0.01})
			case percent > 100:
				above = append(above, ratio(1.05, kase, model, namePool, measure.Time), ratio(1.1, kase, model, namePool, measure.P99))
			}
		}
	}
	return append(experiment.Concludes("", asFast, below...), experiment.Concludes("", asMuch, above...)...)
}

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
	sizes{100 * time.Microsecond, time.Millisecond, time.Second}, sizes{100 * time.Microsecond, time.Millisecond, 30 * time.Millisecond}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	cost   time.Duration // that a job computes
	wait   time.Duration // that a job of some cases also waits
	length time.Duration // of a sample, from the first arrival to the last
}

// The loads in percent of capacity.
var (
	loads        = []int{10, 25, 50, 75, 90, 100, 120}
	waitingLoads = []int{25, 75, 120}
)

// queuePerCPU is how many jobs may wait for each CPU, in all pools.
const queuePerCPU = 16

// workersPerWait is the number of workers for each CPU where jobs wait for ten times as
// long as they compute: the fewest that can keep the CPUs busy, and half as many again.
const workersPerWait = 16

// samples are fewer than usual: one takes a second.
const samples = 8

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("load", fmt.Sprintf("jobs that compute for %v, and some that wait for %v too, arrive at random times for %v", z.cost, z.wait, z.length),
		"A load of 100 is as many jobs a second as all CPUs finish that do nothing else. The generator of the jobs also needs CPU time, more at higher loads.",
		"Arrivals are planned before, at exponential distances, the same for all models of a round. A response time counts from the planned arrival, however late the job was submitted.",
		"An op is a job that was accepted, and refused is the part that was not. Response times are those of accepted jobs.",
		fmt.Sprintf("All pools have room for %d waiting jobs a CPU, and refuse when it is full. Where jobs wait, the pools with a number have %d workers a CPU, and one a CPU elsewhere.", queuePerCPU, workersPerWait))
	g := newGenerator(z)
	return b.Run(ctx, z.study(g, 0, loads), z.study(g, z.wait, waitingLoads))
}

// name is the name of a case.
func name(wait time.Duration, percent int) string {
	if wait > 0 {
		return fmt.Sprintf("wait=%v/load=%d", wait, percent)
	}
	return fmt.Sprintf("load=%d", percent)
}

// study compares the models at some loads, of jobs that wait for a time or not.
func (z sizes) study(g *generator, wait time.Duration, loads []int) experiment.Study {
	st := experiment.Study{Claims: ourClaims(wait, loads)}
	if wait == 0 {
		st.Claims = slices.Concat(articleClaims(loads), st.Claims)
	}
	for _, percent := range loads {
		c := experiment.Case{
			Name: name(wait, percent), Doc: "an op is an accepted job", Reference: nameGoroutines, Ops: 1, Count: samples, Peaks: true, Main: percent == 25 || percent == 120,
			Article: result.WorkerPools, Table: "none: the text advises against a pool where latency comes first, jobs are few or load is low",
		}
		for _, s := range servers {
			c.Models = append(c.Models, experiment.Model{Model: s.Model, Run: func(m *measure.Meter) error { return g.measure(m, s, wait, percent) }})
		}
		st.Cases = append(st.Cases, c)
	}
	return st
}

// measure takes a sample of a server at a load.
func (g *generator) measure(m *measure.Meter, s server, wait time.Duration, percent int) error {
	cpus, workers := runtime.GOMAXPROCS(0), 1
	if wait > 0 {
		workers = workersPerWait
	}
	plan := g.plan(percent, m.Round)
	took := make([]time.Duration, len(plan)) // 0: not run
	var began time.Time
	try, finish := s.open(workers*cpus, queuePerCPU*cpus, func(i int) {
		g.compute()
		if wait > 0 {
			time.Sleep(wait)
		}
		took[i] = max(time.Since(began)-plan[i], 1)
	})
	m.Start()
	began = time.Now()
	refused := 0
	for i, at := range plan {
		if ahead := at - time.Since(began); ahead > 0 {
			time.Sleep(ahead)
		}
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
	lowLoad = "Where latency comes first and load is low, a pool does not help: a goroutine a job responds as early."
	bounds  = "Under overload a pool of workers keeps response times and memory bounded, where those of a goroutine a job grow."
)

// Our conclusions.
const (
	asByHand = "Below capacity, stint.Pool with TryGo, with and without a number, responds as early as a pool written by hand, and refuses at most 1 % of the jobs up to a load of 75."
	asMuch   = "Under overload, stint.Pool with TryGo, with and without a number, does as much as a pool written by hand, and responds at the latest as early."
	noNumber = "Where jobs wait, stint.Pool without a number does under overload as much as a pool whose number was chosen for them."
)

// ratio claims that a model has at most bar times as much of a unit as another.
func ratio(bar float64, kase, model, than string, u measure.Unit) result.Claim {
	return result.Claim{Case: kase, Model: model, Than: than, Unit: u, Form: result.Ratio, Bar: bar}
}

func articleClaims(loads []int) []result.Claim {
	var low []result.Claim
	for _, percent := range loads[:3] {
		for _, u := range []measure.Unit{measure.P50, measure.P99} {
			low = append(low, ratio(1, name(0, percent), nameGoroutines, namePool, u))
		}
	}
	over := name(0, slices.Max(loads))
	grows := ratio(0.1, name(0, 75), nameGoroutines, nameGoroutines, measure.P99)
	grows.InCase, grows.Note = over, "it grows tenfold"
	return append(experiment.Concludes(result.WorkerPools, lowLoad, low...),
		experiment.Concludes(result.WorkerPools, bounds, grows,
			ratio(0.5, over, namePool, nameGoroutines, measure.P99), ratio(1, over, namePool, nameGoroutines, measure.PeakMemory))...)
}

func ourClaims(wait time.Duration, loads []int) []result.Claim {
	over := name(wait, slices.Max(loads))
	if wait > 0 {
		return experiment.Concludes("", noNumber, ratio(1.1, over, nameAuto, namePool, measure.Time))
	}
	var below, above []result.Claim
	for _, model := range []string{nameLimit, nameAuto} {
		for _, percent := range loads[:4] {
			kase := name(wait, percent)
			below = append(below, ratio(1.1, kase, model, namePool, measure.P50),
				result.Claim{Case: kase, Model: model, Unit: measure.Refused, Form: result.Value, Bar: 0.01})
		}
		above = append(above, ratio(1.05, over, model, namePool, measure.Time), ratio(1.1, over, model, namePool, measure.P99))
	}
	return append(experiment.Concludes("", asByHand, below...), experiment.Concludes("", asMuch, above...)...)
}

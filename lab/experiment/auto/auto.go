// Package auto measures the adaptive limit: stint's calls without an option,
// beside a sweep of fixed limits, on work that computes, waits, or both. The
// best limit of each workload is known, so a claim can name it.
package auto

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment auto.
var Experiment = experiment.New("auto", "calls without an option beside fixed limits: tasks that compute, wait, lock, or are few",
	sizes{divisor: 1, batchSize: 100}, sizes{divisor: 8, batchSize: 50}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	divisor   int // of the number of tasks
	batchSize int // tasks of a batch
	ops       int // tiny tasks per sample; 0: chosen by time
	p         int // processors
}

// n scales a number of tasks.
func (z sizes) n(full int) int { return max(4, full/z.divisor) }

// samples is slightly more than an interval needs: there are many models.
const samples = 7

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("auto", "work whose best limit is known, at fixed limits and without one",
		"limit-N is stint.Range with stint.Limit(N), a good choice or a bad one. stint.Range has no option.",
		"Where an op is a task, the time starts at the end of the first quarter of the tasks: the cost of finding a limit shows in the batches, where an op is all tasks.",
		"CPU quotas of the system are not among the cases: setting one takes privileges.")
	z.p = b.Result.Processors
	var studies []experiment.Study
	for _, p := range z.workloads() {
		studies = append(studies, experiment.One(p.kase(), p.claims()...))
	}
	return b.Run(ctx, append(studies, z.tiny()...)...)
}

// workloads returns the cases, except those with tiny tasks.
func (z sizes) workloads() []workload {
	return []workload{
		z.computing("compute=1µs", z.n(40_000), spinning(exponential, 1e3)).withoutCounting(),
		z.computing("compute=20µs", z.n(2000), spinning(exponential, 20e3)),
		z.computing("compute=1ms", z.n(100), spinning(exponential, 1e6)),
		z.computing("compute=20µs/neighbour=1", z.n(2000), spinning(exponential, 20e3)).with(burn),
		z.batch("compute=1ms", spinning(alike, 1e6), sweep(z.p, 1, 4, 256), z.p).within(1.02).atOnce(z.p + 2).shown(),
		z.mixed("compute=0.5ms/wait=4.5ms", z.n(300), 0.5e6, 4.5e6),
		z.mixed("compute=1ms/wait=1ms", z.n(150), 1e6, 1e6),
		z.locked(),
		z.sleeping(),
		z.slotted(),
		z.batch("wait=0-9ms", sleeping(uniform, 4.5e6), sweep(100, 8, 32, 64), 100).within(16 / 8.955).shown(),
		z.batch("wait=5ms/slots=20", slots(20, 5e6), sweep(20, 8, 40, 100), 20).within(1.2),
		z.batch("wait=100ms", sleeping(alike, 100e6), sweep(100, 50), 100).within(3),
	}
}

// computing tasks each need a processor: the best limit is the number of
// processors. The adaptive limit may be somewhat larger.
func (z sizes) computing(name string, n int, w tasks) workload {
	return workload{name: name, n: n, tasks: w, limits: sweep(z.p, 1, 4, 16, 256), best: z.p, bar: 1 / 0.97, maxAtOnce: 2*z.p + 4}
}

// mixed tasks compute and wait for times in ns. Because the times vary, keeping
// the processors busy takes half as many tasks again as the mean times suggest.
func (z sizes) mixed(name string, n int, compute, wait float64) workload {
	balance, best := 1.5*float64(z.p)*(compute+wait)/compute, 1
	for best < 256 && float64(best) < balance {
		best *= 2
	}
	return workload{name: name, n: n, tasks: mixed(compute, wait), limits: sweep(best, best/2, 2*best, 256), best: best, bar: 1 / 0.9}
}

// locked tasks compute, then compute under one lock: two can make progress.
func (z sizes) locked() workload {
	best := min(2, z.p)
	return workload{name: "compute=50µs/lock=50µs", n: z.n(1000), tasks: locked(50e3), limits: sweep(best, 1, 16, 256), best: best, bar: 1 / 0.95, maxAtOnce: 8 * best}
}

// sleeping tasks need no resource: the best limit is the largest.
func (z sizes) sleeping() workload {
	return workload{name: "wait=0-9ms", n: z.n(5000), tasks: sleeping(uniform, 4.5e6), limits: []int{64, 128, 256}, best: 256, bar: 1 / 0.95}
}

// slotted tasks use a server with 20 slots.
func (z sizes) slotted() workload {
	return workload{name: "wait=5ms/slots=20", n: z.n(600), tasks: slots(20, 5e6), limits: sweep(20, 10, 256), best: 20, bar: 1 / 0.95, maxAtOnce: 80}
}

// batch measures all tasks, from the first to the last.
func (z sizes) batch(name string, w tasks, limits []int, best int) workload {
	return workload{name: fmt.Sprintf("%s/batch=%d", name, z.batchSize), n: z.batchSize, whole: true, tasks: w, limits: limits, best: best}
}

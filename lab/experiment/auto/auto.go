// Package auto measures the limit that nobody chose: stint's calls without an
// option, beside a sweep of fixed limits, on work that computes, waits, or both.
// The best limit of each kind of work is known, so a claim can name it.
package auto

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "auto",
	Doc:  "calls without an option beside fixed limits: tasks that compute, wait, lock, or are few",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		z := sizes{divisor: 1, few: 100}
		if s.Quick {
			z = sizes{divisor: 8, few: 50}
		}
		return run(ctx, s, z)
	},
}

// sizes are what a quick run and a test make smaller.
type sizes struct {
	divisor int // of the number of tasks
	few     int // tasks of a batch
	ops     int // tiny tasks a sample; 0: as many as take long enough
	p       int // processors
}

// n is a number of tasks that is full in a full run.
func (z sizes) n(full int) int { return max(4, full/z.divisor) }

// samples are the fewest that give an interval, and some: there are many models.
const samples = 7

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("auto", "work whose best limit is known, at fixed limits and without one",
		"limit-N is stint.Range with stint.Limit(N): what somebody has chosen who knew, or did not. stint.Range has no option.",
		"Where an op is a task, the time is from the end of the first quarter of the tasks: what finding a limit costs is in the batches, where an op is all tasks.",
		"Processors that are shared out by a quota of the system are not among the cases: setting one takes rights.")
	z.p = b.Result.Processors
	var studies []experiment.Study
	for _, p := range z.plants() {
		studies = append(studies, experiment.One(p.kase(), p.claims()...))
	}
	return b.Run(ctx, append(studies, z.tiny()...)...)
}

// plants are the cases, but for those with tiny tasks.
func (z sizes) plants() []plant {
	return []plant{
		z.computing("compute=1µs", z.n(40_000), spinning(exponential, 1e3)).untouched(),
		z.computing("compute=20µs", z.n(2000), spinning(exponential, 20e3)),
		z.computing("compute=1ms", z.n(100), spinning(exponential, 1e6)),
		z.computing("compute=20µs/neighbour=1", z.n(2000), spinning(exponential, 20e3)).beside(burn),
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

// computing is tasks that need a processor each: best is one a processor. Without
// a limit there may be some more, which wait for their turn.
func (z sizes) computing(name string, n int, w work) plant {
	return plant{name: name, n: n, work: w, limits: sweep(z.p, 1, 4, 16, 256), best: z.p, bar: 1 / 0.97, most: 2*z.p + 4}
}

// mixed is tasks that compute and wait for times in ns. To keep the processors
// busy takes half more of them than the balance of both: the times vary.
func (z sizes) mixed(name string, n int, compute, wait float64) plant {
	balance, best := 1.5*float64(z.p)*(compute+wait)/compute, 1
	for best < 256 && float64(best) < balance {
		best *= 2
	}
	return plant{name: name, n: n, work: mixed(compute, wait), limits: sweep(best, best/2, 2*best, 256), best: best, bar: 1 / 0.9}
}

// locked is tasks of which only one at a time gets on, and one before it.
func (z sizes) locked() plant {
	best := min(2, z.p)
	return plant{name: "compute=50µs/lock=50µs", n: z.n(1000), work: locked(50e3), limits: sweep(best, 1, 16, 256), best: best, bar: 1 / 0.95, most: 8 * best}
}

// sleeping is tasks that need nothing: best is as many as may be.
func (z sizes) sleeping() plant {
	return plant{name: "wait=0-9ms", n: z.n(5000), work: sleeping(uniform, 4.5e6), limits: []int{64, 128, 256}, best: 256, bar: 1 / 0.95}
}

// slotted is tasks for a server that has 20 slots.
func (z sizes) slotted() plant {
	return plant{name: "wait=5ms/slots=20", n: z.n(600), work: slots(20, 5e6), limits: sweep(20, 10, 256), best: 20, bar: 1 / 0.95, most: 80}
}

// batch is all tasks of a program, and timed from the first to the last.
func (z sizes) batch(name string, w work, limits []int, best int) plant {
	return plant{name: fmt.Sprintf("%s/batch=%d", name, z.few), n: z.few, whole: true, work: w, limits: limits, best: best}
}

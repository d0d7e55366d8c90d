// Package auto measures the adaptive limit: stint's calls without an option,
// beside fixed limits, on work that computes, waits, or both. The best limit of
// each workload is known, so a claim can name it. A last case has a limit that
// background tasks share with others.
package auto

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment auto.
var Experiment = experiment.New("auto", "calls without an option beside fixed limits: tasks that compute, wait, lock, or are few; low priority",
	sizes{divisor: 1, batch: 100, asks: 100}, sizes{divisor: 8, batch: 50, asks: 5}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	divisor int // of the number of tasks
	batch   int // tasks of a batch
	asks    int // tasks beside background tasks
	p       int // processors
}

// n scales a number of tasks.
func (z sizes) n(full int) int { return max(4, full/z.divisor) }

// samples is slightly more than an interval needs: there are many models.
const samples = 7

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("auto", "work whose best limit is known, at fixed limits and without one; and background tasks on a shared limit",
		"limit-N is stint.Range with stint.Limit(N), a good choice or a bad one. stint.Range has no option.",
		"Where an op is a task, the time starts at the end of the first quarter of the tasks: "+
			"the cost of finding a limit shows in the batches, where an op is all tasks.",
		"CPU quotas of the system are not among the cases: setting one takes privileges.",
		"permits=8: p50 and p99 are the times from a call until its task runs. Nothing interrupts a background task.")
	z.p = b.Result.Processors
	var studies []experiment.Study
	for _, w := range z.workloads() {
		studies = append(studies, w.study())
	}
	return b.Run(ctx, append(studies, z.background())...)
}

// workloads returns the cases of finding a limit. Where tasks compute and wait, keeping the
// processors busy takes half as many again as the mean times suggest, since the times vary.
func (z sizes) workloads() []workload {
	const µs, ms = time.Microsecond, time.Millisecond
	p, two, batch := z.p, min(2, z.p), fmt.Sprintf("/batch=%d", z.batch)
	compute := tasks{spread: exponential, compute: 20 * µs}
	beside := compute
	beside.neighbour = true
	mixed := tasks{spread: exponential, compute: ms / 2, wait: 9 * ms / 2}
	locked := tasks{spread: alike, compute: 50 * µs, locked: true}
	sleep, slots := tasks{spread: uniform, wait: 9 * ms / 2}, tasks{spread: alike, wait: 5 * ms, slots: 20}
	return []workload{
		{"compute=20µs", compute, z.n(2000), p, []int{1, 4, 16, 256}, 1.03, 2*p + 4, false},
		{"compute=20µs/neighbour=1", beside, z.n(2000), p, []int{1, 4, 16, 256}, 1.03, 2*p + 4, false},
		{"compute=0.5ms/wait=4.5ms", mixed, z.n(300), min(15*p, 256), []int{8 * p, 256}, 1.11, 0, false},
		{"compute=50µs/lock=50µs", locked, z.n(1000), two, []int{1, 16, 256}, 1.05, 8 * two, false},
		{"wait=0-9ms", sleep, z.n(5000), 256, []int{64, 128}, 1.05, 0, false},
		{"wait=5ms/slots=20", slots, z.n(600), 20, []int{10, 256}, 1.05, 80, false},

		{"compute=1ms" + batch, tasks{spread: alike, compute: ms}, z.batch, p, []int{1, 4, 256}, 1.02, p + 2, true},
		{"wait=0-9ms" + batch, sleep, z.batch, 100, []int{8, 32, 64}, 1.79, 0, true},
		{"wait=5ms/slots=20" + batch, slots, z.batch, 20, []int{8, 40, 100}, 1.2, 0, true},
		{"wait=100ms" + batch, tasks{spread: alike, wait: 100 * ms}, z.batch, 100, []int{50}, 3, 0, true},
	}
}

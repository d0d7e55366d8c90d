package load

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	z := sizes{cost: 10 * time.Microsecond, wait: 100 * time.Microsecond, length: 3 * time.Millisecond}
	trial.Run(t, run, z, trial.Want{Processors: 2, Cases: 10, Verdicts: 41})
}

// A pool refuses what it has no room for, runs what it has accepted, and finish waits for it.
func TestServers(t *testing.T) {
	const workers, queue, arrivals = 2, 3, 100
	for _, s := range servers {
		var ran atomic.Int64
		release := make(chan struct{})
		try, finish := s.open(workers, queue, func(int) { <-release; ran.Add(1) })
		accepted := 0
		for i := range arrivals {
			if try(i) {
				accepted++
			}
		}
		close(release)
		finish()
		if n := int(ran.Load()); n != accepted || accepted == 0 {
			t.Errorf("%s accepted %d jobs, and %d ran", s.Name, accepted, n)
		}
		if all := accepted == arrivals; all != s.Unbounded {
			t.Errorf("%s accepted %d of %d jobs", s.Name, accepted, arrivals)
		}
	}
}

// The arrivals of a round are the same for all, and have the rate.
func TestPlan(t *testing.T) {
	g := newGenerator(sizes{cost: time.Microsecond, length: time.Second})
	g.capacities[runtime.GOMAXPROCS(0)] = 10_000
	plan := g.plan(50, 1)
	if n := len(plan); n < 4500 || n > 5500 || !slices.IsSorted(plan) || plan[n-1] >= time.Second {
		t.Errorf("%d arrivals from %v to %v, want about 5000 in a second", n, plan[0], plan[n-1])
	}
	if !slices.Equal(plan, g.plan(50, 1)) || slices.Equal(plan, g.plan(50, 2)) {
		t.Error("the arrivals are not those of the round")
	}
}

// A response time counts from the planned arrival: a server that blocks the generator does
// not look fast.
func TestLateSubmission(t *testing.T) {
	g := newGenerator(sizes{length: 20 * time.Millisecond})
	g.capacities[runtime.GOMAXPROCS(0)] = 1000
	blocks := server{open: func(_, _ int, job func(int)) (func(int) bool, func()) {
		return func(i int) bool { time.Sleep(10 * time.Millisecond); job(i); return true }, func() {}
	}}
	m := &measure.Meter{N: 1}
	if err := g.measure(m, blocks, computing, 100); err != nil {
		t.Fatal(err)
	}
	if got := time.Duration(m.Sample()[measure.P99]); got < 50*time.Millisecond {
		t.Errorf("p99 %v, want at least what the jobs before took", got)
	}
}

package load

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	spin "github.com/stint-go/stint/lab/load"
)

// A generator plans arrivals. Its methods are called at the GOMAXPROCS of a case.
type generator struct {
	sizes
	steps      int
	capacities map[int]float64 // jobs a second, by GOMAXPROCS
}

func newGenerator(z sizes) *generator {
	return &generator{sizes: z, capacities: map[int]float64{}}
}

// compute is what a job computes.
func (g *generator) compute() { runtime.KeepAlive(spin.Spin(g.steps)) }

// capacity returns how many jobs a second the CPUs finish that do nothing else. It is
// measured once, as the most of several tries, since every disturbance makes a try slower.
func (g *generator) capacity() float64 {
	cpus := runtime.GOMAXPROCS(0)
	if g.capacities[cpus] == 0 {
		g.steps = spin.Steps(g.cost)
		for range 5 {
			g.capacities[cpus] = max(g.capacities[cpus], g.try(cpus))
		}
	}
	return g.capacities[cpus]
}

// try computes on all CPUs for at least ten jobs, and returns how many jobs that were a second.
func (g *generator) try(cpus int) float64 {
	var jobs atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range cpus {
		wg.Go(func() {
			for time.Since(began) < 10*g.cost {
				g.compute()
				jobs.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(jobs.Load()) / time.Since(began).Seconds()
}

// plan returns the arrivals of a round, from its start.
func (g *generator) plan(percent, round int) []time.Duration {
	distance := float64(time.Second) / (g.capacity() * float64(percent) / 100)
	random := rand.New(rand.NewPCG(uint64(percent), uint64(round)))
	var plan []time.Duration
	for at := 0.0; ; {
		at += distance * random.ExpFloat64()
		if at >= float64(g.length) {
			return plan
		}
		plan = append(plan, time.Duration(at))
	}
}

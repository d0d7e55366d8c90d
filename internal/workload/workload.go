// Package workload simulates tasks, and the servers, CPUs and locks that they use, in
// virtual time: event by event under a Governor, or as tasks that run in a bubble of
// testing/synctest. The unit of time is the millisecond. It is for tests.
package workload

import (
	"math"
	"math/rand/v2"
)

// A Workload is what tasks do. A task computes, then waits, then is served; each part may
// be 0.
type Workload struct {
	Name  string
	Procs int     // CPUs
	Quota float64 // share of the CPUs that it gets; 0: all of them
	Total int     // tasks; 0: without end
	Until float64 // when a run ends
	From  float64 // throughput is counted from here on
	Best  float64 // throughput of the best limit, in tasks a millisecond; 0: not known

	// Next draws the parts of a task.
	Next Parts

	Slots  func(now float64) int // serves first come, first served, so many at once
	Rate   func(n int) float64   // or all at once, each at this rate
	Reject int                   // a task that finds so many in service fails after 1 ms
}

// Parts draws the parts of a task.
type Parts = func(now float64, r *rand.Rand) (compute, wait, serve float64)

// touch is what a task that waits computes.
const touch = 0.01

func exp(r *rand.Rand, mean float64) float64     { return r.ExpFloat64() * mean }
func uniform(r *rand.Rand, a, b float64) float64 { return a + (b-a)*r.Float64() }
func pareto(r *rand.Rand, a, mean float64) float64 {
	return mean * (a - 1) / a / math.Pow(1-r.Float64(), 1/a)
}
func lognormal(r *rand.Rand, sigma, mean float64) float64 {
	return math.Exp(math.Log(mean) - sigma*sigma/2 + sigma*r.NormFloat64())
}

func slots(k int) func(float64) int { return func(float64) int { return k } }

// shared is the rate of each of n jobs that share k CPUs.
func shared(k float64) func(int) float64 {
	return func(n int) float64 { return min(1, k/float64(n)) }
}

// cliff is shared, but above a knee the rate of all together falls too.
func cliff(k, knee float64) func(int) float64 {
	return func(n int) float64 {
		f := float64(n)
		return min(1, k/f) * min(1, knee/f)
	}
}

// contended is the universal scalability law of N. J. Gunther.
func contended(a, b float64) func(int) float64 {
	return func(n int) float64 {
		f := float64(n)
		return 1 / (1 + a*(f-1) + b*f*(f-1))
	}
}

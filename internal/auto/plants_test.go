package auto

import (
	"math"
	"math/rand/v2"
)

func exp(r *rand.Rand, mean float64) float64     { return r.ExpFloat64() * mean }
func uniform(r *rand.Rand, a, b float64) float64 { return a + (b-a)*r.Float64() }
func pareto(r *rand.Rand, a, mean float64) float64 {
	return mean * (a - 1) / a / math.Pow(1-r.Float64(), 1/a)
}
func lognormal(r *rand.Rand, sigma, mean float64) float64 {
	return math.Exp(math.Log(mean) - sigma*sigma/2 + sigma*r.NormFloat64())
}

func slots(k int) func(float64) int { return func(float64) int { return k } }

// shared is the rate of each of n jobs that share k processors.
func shared(k float64) func(int) float64 {
	return func(n int) float64 { return min(1, k/float64(n)) }
}

// cliff is shared, but beyond a knee the rate of all together falls too.
func cliff(k, knee float64) func(int) float64 {
	return func(n int) float64 {
		f := float64(n)
		return min(1, k/f) * min(1, knee/f)
	}
}

// contended is the universal scalability law.
func contended(a, b float64) func(int) float64 {
	return func(n int) float64 {
		f := float64(n)
		return 1 / (1 + a*(f-1) + b*f*(f-1))
	}
}

const touch = 0.01 // the computing of a task that waits

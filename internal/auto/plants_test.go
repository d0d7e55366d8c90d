package auto

import (
	"fmt"
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

// random returns a plant that is drawn by seed.
func random(seed uint64) *plant {
	r := rand.New(rand.NewPCG(seed, 4242))
	log := func(a, b float64) float64 { return a * math.Exp(r.Float64()*math.Log(b/a)) }
	p := &plant{procs: 1 << r.IntN(5)}
	k := math.Round(log(2, 150))
	s := log(.5, 40)
	const tasks = 3500
	var rate float64
	kind := r.IntN(8)
	dist := r.IntN(3)
	serve := func(r *rand.Rand) float64 {
		switch dist {
		case 0:
			return s
		case 1:
			return exp(r, s)
		}
		return lognormal(r, 1, s)
	}
	switch kind {
	case 0:
		p.name = fmt.Sprintf("slots k=%v s=%.1f dist=%d", k, s, dist)
		p.slots, rate = slots(int(k)), k/s
		p.next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, serve(r) }
	case 1:
		p.name = fmt.Sprintf("shared k=%v s=%.1f dist=%d", k, s, dist)
		p.rate, rate = shared(k), k/s
		p.next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, serve(r) }
	case 2:
		k = max(2, math.Round(k/8))
		w := s * log(1, 10)
		p.name = fmt.Sprintf("rtt %.1f + slots k=%v s=%.1f dist=%d", w, k, s, dist)
		p.slots, rate = slots(int(k)), min(k/s, 256/(s+w))
		p.next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, w, serve(r) }
	case 3:
		a, b := log(.005, .1), log(.0001, .01)
		n := math.Sqrt((1 - a) / b)
		p.name = fmt.Sprintf("contended N*=%.0f s=%.1f", n, s)
		p.rate, rate = contended(a, b), n/(1+a*(n-1)+b*n*(n-1))/s
		p.next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, exp(r, s) }
	case 4:
		knee := k * uniform(r, 1.2, 3)
		p.name = fmt.Sprintf("cliff k=%v knee=%.1f s=%.1f", k, knee, s)
		p.rate, rate = cliff(k, knee), k/s
		p.next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, exp(r, s) }
	case 5:
		f := log(.01, .9)
		p.name = fmt.Sprintf("mixed %.0f%% P=%d d=%.1f", f*100, p.procs, s)
		rate = min(float64(p.procs)/(f*s), 256/s)
		p.next = func(_ float64, r *rand.Rand) (float64, float64, float64) {
			return exp(r, f*s), exp(r, (1-f)*s), 0
		}
	case 6:
		p.name = fmt.Sprintf("sleep %.1f dist=%d", s, dist)
		rate = 256 / s
		p.next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, serve(r), 0 }
		if float64(p.procs)/touch < rate {
			rate = float64(p.procs) / touch
		}
	case 7:
		p.name = fmt.Sprintf("bimodal k=%v", k)
		p.slots, rate = slots(int(k)), k/(.9*s/5+.1*8.2*s)
		p.next = func(_ float64, r *rand.Rand) (float64, float64, float64) {
			if r.Float64() < .9 {
				return touch, 0, s / 5
			}
			return touch, 0, 8.2 * s
		}
	}
	p.until = tasks / rate
	return p
}

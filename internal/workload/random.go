package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Random returns a workload drawn by seed.
func Random(seed uint64) *Workload {
	r := rand.New(rand.NewPCG(seed, 4242))
	log := func(a, b float64) float64 { return a * math.Exp(r.Float64()*math.Log(b/a)) }
	p := &Workload{Procs: 1 << r.IntN(5)}
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
		p.Name = fmt.Sprintf("slots k=%v s=%.1f dist=%d", k, s, dist)
		p.Slots, rate = slots(int(k)), k/s
		p.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, serve(r) }
	case 1:
		p.Name = fmt.Sprintf("shared k=%v s=%.1f dist=%d", k, s, dist)
		p.Rate, rate = shared(k), k/s
		p.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, serve(r) }
	case 2:
		k = max(2, math.Round(k/8))
		w := s * log(1, 10)
		p.Name = fmt.Sprintf("rtt %.1f + slots k=%v s=%.1f dist=%d", w, k, s, dist)
		p.Slots, rate = slots(int(k)), min(k/s, 256/(s+w))
		p.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, w, serve(r) }
	case 3:
		a, b := log(.005, .1), log(.0001, .01)
		n := math.Sqrt((1 - a) / b)
		p.Name = fmt.Sprintf("contended N*=%.0f s=%.1f", n, s)
		p.Rate, rate = contended(a, b), n/(1+a*(n-1)+b*n*(n-1))/s
		p.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, exp(r, s) }
	case 4:
		knee := k * uniform(r, 1.2, 3)
		p.Name = fmt.Sprintf("cliff k=%v knee=%.1f s=%.1f", k, knee, s)
		p.Rate, rate = cliff(k, knee), k/s
		p.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, exp(r, s) }
	case 5:
		f := log(.01, .9)
		p.Name = fmt.Sprintf("mixed %.0f%% P=%d d=%.1f", f*100, p.Procs, s)
		rate = min(float64(p.Procs)/(f*s), 256/s)
		p.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) {
			return exp(r, f*s), exp(r, (1-f)*s), 0
		}
	case 6:
		p.Name = fmt.Sprintf("sleep %.1f dist=%d", s, dist)
		rate = 256 / s
		p.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, serve(r), 0 }
		if float64(p.Procs)/touch < rate {
			rate = float64(p.Procs) / touch
		}
	case 7:
		p.Name = fmt.Sprintf("bimodal k=%v", k)
		p.Slots, rate = slots(int(k)), k/(.9*s/5+.1*8.2*s)
		p.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) {
			if r.Float64() < .9 {
				return touch, 0, s / 5
			}
			return touch, 0, 8.2 * s
		}
	}
	p.Until = tasks / rate
	return p
}

// Trap returns a server with 2 or 3 slots that collapses when up to three times as many
// tasks are at work: the first tasks, started before anything is known, do that.
func Trap(seed uint64) *Workload {
	r := rand.New(rand.NewPCG(seed, 9))
	k := 2.0
	if seed%3 == 0 {
		k = 3
	}
	return &Workload{Procs: 2, Until: 3500 * 10 / k, Rate: cliff(k, k*uniform(r, 1.2, 3)), Next: about(10)}
}

// Scattered returns k slots for tasks of 10 ms, each of which arrives after up to by.
func Scattered(k int, by float64) *Workload {
	return &Workload{
		Name: fmt.Sprintf("%d slots, scattered by %v ms", k, by), Procs: 2, Until: 10000, Best: float64(k) / 10, Slots: slots(k),
		Next: func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, by * r.Float64(), 10 },
	}
}

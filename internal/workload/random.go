package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Random returns a workload drawn by seed, of one of eight kinds.
func Random(seed uint64) *Workload {
	r := rand.New(rand.NewPCG(seed, 4242))
	w := &Workload{Procs: 1 << r.IntN(5)}
	k := math.Round(logUniform(r, 2, 150))
	s := logUniform(r, .5, 40)
	kind, dist := r.IntN(8), r.IntN(3)
	draw := func(_ float64, r *rand.Rand) float64 {
		switch dist {
		case 0:
			return s
		case 1:
			return exp(r, s)
		}
		return lognormal(r, 1, s)
	}
	rate := k / s
	switch kind {
	case 0:
		w.Slots, w.Next = slots(int(k)), served(draw)
	case 1:
		w.Rate, w.Next = shared(k), served(draw)
	case 2:
		k = max(2, math.Round(k/8))
		wait := s * logUniform(r, 1, 10)
		w.Slots, rate = slots(int(k)), min(k/s, 256/(s+wait))
		w.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, wait, draw(0, r) }
	case 3:
		a, b := logUniform(r, .005, .1), logUniform(r, .0001, .01)
		n := math.Sqrt((1 - a) / b)
		w.Rate, rate = contended(a, b), n/(1+a*(n-1)+b*n*(n-1))/s
		w.Next = about(s)
	case 4:
		w.Rate, w.Next = cliff(k, k*uniform(r, 1.2, 3)), about(s)
	case 5:
		f := logUniform(r, .01, .9)
		rate = min(float64(w.Procs)/(f*s), 256/s)
		w.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) { return exp(r, f*s), exp(r, (1-f)*s), 0 }
	case 6:
		rate = min(256/s, float64(w.Procs)/touch)
		w.Next = waiting(func(r *rand.Rand) float64 { return draw(0, r) })
	case 7:
		w.Slots, rate = slots(int(k)), k/(.9*s/5+.1*8.2*s)
		w.Next = served(func(_ float64, r *rand.Rand) float64 {
			if r.Float64() < .9 {
				return s / 5
			}
			return 8.2 * s
		})
	}
	w.Name = fmt.Sprintf("random %d: kind %d, k=%v s=%.1f", seed, kind, k, s)
	w.Until = 3500 / rate
	return w
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

// EvenTrap is Trap with tasks that all take about as long: they finish in groups.
func EvenTrap(seed uint64) *Workload {
	w, spread := Trap(seed), 0.02*float64(seed%5)
	w.Next = func(_ float64, r *rand.Rand) (float64, float64, float64) {
		return touch, 0, 10 * max(0.1, 1+spread*r.NormFloat64())
	}
	return w
}

// Steep returns a server drawn by seed that collapses a little above its slots: the more
// tasks it has beyond 1.2 to 2 times as many, the fewer it finishes in total. Some tasks
// wait for something else first.
func Steep(seed uint64) *Workload {
	r := rand.New(rand.NewPCG(seed, 1717))
	k := math.Round(logUniform(r, 4, 150))
	s, knee := logUniform(r, .5, 40), k*uniform(r, 1.2, 2)
	wait := 0.0
	if r.IntN(2) == 0 {
		wait = s * uniform(r, 0, 2)
	}
	w := &Workload{
		Name:  fmt.Sprintf("%v slots, %.1f ms after %.1f ms, collapse above %.1f", k, s, wait, knee),
		Procs: 1 << r.IntN(5), Rate: cliff(k, knee),
		Next: func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, wait, exp(r, s) },
	}
	w.Until = 3500 / min(k/s, 256/(s+wait))
	return w
}

// Slow returns a server drawn by seed whose throughput rises slowly: twice as many tasks
// are worth 2 to 20 % more, as with a disk that writes for several at once, or with
// processes that share the CPUs with the tasks.
func Slow(seed uint64) *Workload {
	r := rand.New(rand.NewPCG(seed, 2929))
	e, s, knee := logUniform(r, .03, .26), logUniform(r, .1, 5), logUniform(r, 16, 256)
	rate := func(n int) float64 { return math.Pow(min(float64(n), knee), e) / float64(n) }
	w := &Workload{
		Name: fmt.Sprintf("throughput n^%.2f up to %.0f, %.1f ms", e, knee, s), Procs: 2, Rate: rate,
		Next: func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, exp(r, s) },
	}
	w.Until = 20_000 * s / math.Pow(knee, e)
	return w
}

// logUniform draws from a to b; each factor is as likely as any other.
func logUniform(r *rand.Rand, a, b float64) float64 { return a * math.Exp(r.Float64()*math.Log(b/a)) }

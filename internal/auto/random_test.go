package auto

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint/internal/race"
)

// seed is that of the first random plant, and of random calls; a failure names the
// one to give. No constant of the search was chosen by plants from 10,000 on.
var seed = flag.Uint64("stint.seed", 10_000, "seed of the first random plant or call")

// spread calls f with each index below n, on all processors.
func spread(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// sweep are the fixed limits of which the best is what the others are compared to.
var sweep = []int{1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}

// best returns the throughput of the best fixed limit, and the limit.
func best(p *plant, seed uint64) (throughput float64, limit int) {
	for _, n := range sweep {
		if x := simulate(p, fixed(n), seed).throughput(); x > throughput {
			throughput, limit = x, n
		}
	}
	return throughput, limit
}

// A score is what a governor reached on a random plant, of what the best fixed limit
// does with the same tasks.
type score struct {
	seed  uint64
	about string
	ratio float64
}

// tabled returns a line about the scores of a governor. They are sorted.
func tabled(name string, scores []score) (line string, mean float64) {
	sum, good, bad := 0.0, 0, 0
	for _, s := range scores {
		sum += math.Log(s.ratio)
		if s.ratio >= 0.9 {
			good++
		}
		if s.ratio < 0.5 {
			bad++
		}
	}
	mean = math.Exp(sum / float64(len(scores)))
	w := scores[0]
	return fmt.Sprintf("%-10s %.3f  %3d  %3d  %.3f: %d %s", name, mean, good, bad, w.ratio, w.seed, w.about), mean
}

// compete returns how the search and others do on random plants, each sorted from the
// worst. They run for 3,500 tasks, start included: many of them end before the first
// window of Gradient2.
func compete(plants int) (names []string, scores [][]score) {
	names = []string{"search", "fixed 64", "Gradient2", "AIMD"}
	scores = make([][]score, len(names))
	for g := range scores {
		scores[g] = make([]score, plants)
	}
	spread(plants, func(i int) {
		s := *seed + uint64(i)
		p := random(s)
		b, at := best(p, s)
		limit := aimd(20)
		for g, governor := range []governor{newSearched(p), fixed(64), newGradient2(), &limit} {
			x := simulate(p, governor, s).throughput() / b
			scores[g][i] = score{s, fmt.Sprintf("%s, best %d, ended at %d", p.name, at, governor.limit()), x}
		}
	})
	for _, of := range scores {
		slices.SortFunc(of, func(a, b score) int { return cmp.Compare(a.ratio, b.ratio) })
	}
	return names, scores
}

// TestRandomPlants compares the search with the best fixed limit, and others with it,
// on plants by which nothing was tuned.
func TestRandomPlants(t *testing.T) {
	plants := 200
	if race.Enabled {
		plants = 12
	}
	names, scores := compete(plants)
	var table strings.Builder
	for g, name := range names {
		line, mean := tabled(name, scores[g])
		fmt.Fprintln(&table, line)
		if g == 0 && !race.Enabled && mean < 0.92 {
			t.Errorf("geometric mean %.3f, want 0.92; from seed %d", mean, *seed)
		}
	}
	t.Logf("geometric mean, plants from .9, plants under .5, worst\n%s", &table)
	for i, s := range scores[0] {
		if i < 20 {
			t.Logf("%.3f: %d %s", s.ratio, s.seed, s.about)
		}
		if s.ratio < 0.5 {
			t.Errorf("%.3f on %s, want 0.5; -stint.seed=%d", s.ratio, s.about, s.seed)
		}
	}
}

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

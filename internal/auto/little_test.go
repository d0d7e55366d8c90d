package auto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stint-go/stint/internal/race"
)

// figuresTold are the throughputs in a reason, each with how many ran.
var figuresTold = regexp.MustCompile(`([0-9.]+)(?: a second)? with ([0-9]+)`)

// An audited governor is a search of which all is read that it tells.
type audited struct {
	*searched
	slots    float64 // of the plant; 0: not known
	capacity float64 // of these, in tasks a millisecond
	shortest float64 // task that has ended, in milliseconds
	peak     int     // most that ran at once
	figures  int     // that were read
	wrong    string  // what cannot have been
}

func newAudited(p *plant) *audited {
	g := &audited{searched: newSearched(p), shortest: math.Inf(1)}
	g.note = func(_ time.Duration, throughput float64, reason string) {
		g.check(throughput, g.peak, reason)
		for _, m := range figuresTold.FindAllStringSubmatch(reason, -1) {
			x, _ := strconv.ParseFloat(m[1], 64)
			n, _ := strconv.Atoi(m[2])
			g.check(x, n, reason)
		}
	}
	return g
}

// check notes when n workers cannot have ended x tasks a second. What people read is
// rounded, to three digits at least.
func (g *audited) check(x float64, n int, what string) {
	if x == 0 {
		return
	}
	g.figures++
	if x/1000*g.shortest > float64(n)*1.005 {
		g.wrong = fmt.Sprintf("%s: %.0f a second with %d, none of less than %v ms", what, x, n, g.shortest)
	}
}

func (g *audited) done(now, took float64, running int, full, overloaded bool) float64 {
	g.shortest = min(g.shortest, took)
	g.peak = max(g.peak, running)
	before, w := g.latest, g.window
	again := g.searched.done(now, took, running, full, overloaded)
	g.check(g.latest, g.peak, "throughput")
	// Of the tasks of a window each slot may have begun one before it.
	time := w.time/1e6 + now - float64(w.last)/1e6
	if most := g.capacity + g.slots/time; g.latest != before && g.slots > 0 && g.latest/1000 > most*1.001 {
		g.wrong = fmt.Sprintf("%.0f a second in a window of %.3f ms, of a plant that can do %.0f", g.latest, time, most*1000)
	}
	return again
}

// scattered is slots for tasks of 10 ms, each of which comes there after a while.
func scattered(k int, by float64) *plant {
	return &plant{
		name: fmt.Sprintf("%d slots, scattered by %v ms", k, by), procs: 2, until: 10000, best: float64(k) / 10, slots: slots(k),
		next: func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, by * r.Float64(), 10 },
	}
}

// TestToldIsPossible reads what the search tells of each plant: by J. D. C. Little, n
// workers at tasks of d each end n / d in a time of one, and no more.
func TestToldIsPossible(t *testing.T) {
	plants, seeds, randoms := []*plant{}, 2, uint64(100)
	if race.Enabled {
		seeds, randoms = 1, 5
	}
	for _, tr := range trials() {
		plants = append(plants, &tr.plant)
	}
	for seed := range randoms {
		plants = append(plants, random(10_000+seed))
	}
	spread(len(plants)*seeds, func(i int) {
		p, seed := plants[i/seeds], uint64(i%seeds)
		g := newAudited(p)
		simulate(p, g, seed)
		if g.wrong != "" {
			t.Errorf("%s, seed %d: %s", p.name, seed, g.wrong)
		}
	})
}

// TestToldIsWithinCapacity is the same for plants that cannot do more than is known, in
// any time: those where tasks end one by one, or in swarms that end at once, are told
// with that at most; where the ends of a swarm are scattered a window may have one task
// a slot too many.
func TestToldIsWithinCapacity(t *testing.T) {
	exact := map[string]bool{
		"5 slots k=4 always": true, "5 slots k=20 always": true, "6 shared": true,
		"8 rate and latency": true, "11 latency step": true, "20 lock": true,
	}
	for _, tr := range trials() {
		if !exact[tr.name] {
			continue
		}
		g := newAudited(&tr.plant)
		simulate(&tr.plant, &within{g, t, tr.best}, 1)
		if g.figures == 0 {
			t.Errorf("%s: nothing is told", tr.name)
		}
	}
	for _, k := range []int{7, 20, 64} {
		for _, by := range []float64{1, 3, 5} {
			p := scattered(k, by)
			g := newAudited(p)
			g.slots, g.capacity = float64(k), p.best
			simulate(p, g, 1)
			if g.wrong != "" || g.figures == 0 {
				t.Errorf("%s: %d figures, %s", p.name, g.figures, g.wrong)
			}
		}
	}
}

// within fails the test for a throughput beyond what is most.
type within struct {
	*audited
	t    *testing.T
	most float64
}

func (g *within) done(now, took float64, running int, full, overloaded bool) float64 {
	before := g.latest
	again := g.audited.done(now, took, running, full, overloaded)
	if g.latest != before && g.latest/1000 > g.most*1.002 {
		g.t.Errorf("%.0f a second at %v ms, of %v a millisecond", g.latest, now, g.most)
	}
	return again
}

package auto

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/workload"
)

// seed is the seed of the first random workload, and of random calls; a failure names the
// seed to give. No constant of the search was chosen by workloads from 10,000 on.
var seed = flag.Uint64("stint.seed", 10_000, "seed of the first random workload or call")

var rounds = flag.Int("stint.rounds", 1, "times as many seeds of the simulated workloads as a usual run has")

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

// TestTrials holds the search to the goals of its workloads, on average over seeds.
func TestTrials(t *testing.T) {
	seeds := 10 * *rounds
	if race.Enabled {
		seeds = 1
	}
	all := workload.Trials()
	outcomes := make([]workload.Outcome, seeds*len(all))
	spread(len(outcomes), func(i int) {
		tr, seed := &all[i/seeds], uint64(i%seeds)
		outcomes[i] = tr.Outcome(workload.Simulate(&tr.Workload, newSearched(&tr.Workload), seed), seed)
	})
	for i, tr := range all {
		mean := workload.Mean(outcomes[i*seeds : (i+1)*seeds])
		t.Logf("%-22s %v", tr.Name, mean)
		for _, miss := range tr.Misses(mean) {
			if !race.Enabled { // one run may miss a goal
				t.Error(miss)
			}
		}
	}
}

// A score is what the search reached on a random workload, of what the best fixed limit
// does with the same tasks.
type score struct {
	seed  uint64
	about string
	ratio float64
}

// scored returns the scores of the search on n workloads, the worst first.
func scored(n int, seed uint64, draw func(seed uint64) *workload.Workload) []score {
	scores := make([]score, n)
	spread(n, func(i int) {
		s := seed + uint64(i)
		w := draw(s)
		best, at := workload.BestThroughput(w, s)
		g := newSearched(w)
		x := workload.Simulate(w, g, s).Throughput() / best
		scores[i] = score{s, fmt.Sprintf("%s, best %d, ended at %d", w.Name, at, g.Limit()), x}
	})
	slices.SortFunc(scores, func(a, b score) int { return cmp.Compare(a.ratio, b.ratio) })
	return scores
}

// logMean returns the geometric mean of the ratios.
func logMean(scores []score) float64 {
	sum := 0.0
	for _, s := range scores {
		sum += math.Log(s.ratio)
	}
	return math.Exp(sum / float64(len(scores)))
}

// TestUnseenWorkloads compares the search with the best fixed limit on workloads by which
// nothing was tuned. They run for 3,500 tasks, 20,000 if throughput rises slowly, start included.
func TestUnseenWorkloads(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 600 workloads, each under many limits")
	}
	for _, c := range []struct {
		name            string
		n               int
		draw            func(seed uint64) *workload.Workload
		mean, low, rare float64 // geometric mean; what nearly all reach, and which share may miss it
	}{
		{"random", 150, workload.Random, 0.93, 0.6, 0.02},
		{"collapse a little above their slots", 250, workload.Steep, 0.85, 0.6, 0.01},
		{"collapse at once", 75, workload.Trap, 0.84, 0.5, 0.02},
		{"collapse at once, tasks alike", 75, workload.EvenTrap, 0.5, 0.25, 0.1},
		{"rise slowly", 50, workload.Slow, 0.93, 0.75, 0.03},
	} {
		if race.Enabled {
			c.n /= 8
		}
		c.n *= *rounds
		scores, below := scored(c.n, *seed, c.draw), 0
		for i, s := range scores {
			if s.ratio < c.low {
				below++
			}
			if i < 5 {
				t.Logf("%.3f: %d %s", s.ratio, s.seed, s.about)
			}
		}
		mean := logMean(scores)
		t.Logf("%s: geometric mean %.3f, worst %.3f, %d of %d below %v", c.name, mean, scores[0].ratio, below, c.n, c.low)
		if !race.Enabled && (mean < c.mean || float64(below) > c.rare*float64(c.n)) {
			t.Errorf("%s: geometric mean %.3f, want %v; %d of %d below %v; from seed %d", c.name, mean, c.mean, below, c.n, c.low, *seed)
		}
	}
}

// TestShortBatches compares batches with the best fixed limit of 1 to 256.
func TestShortBatches(t *testing.T) {
	always := func(ms float64) workload.Parts {
		return func(float64, *rand.Rand) (float64, float64, float64) { return 0.01, ms, 0 }
	}
	for _, c := range []struct {
		total int
		next  workload.Parts
		bar   float64 // times as long as the best
	}{
		{300, always(20), 1.6},
		{1000, always(5), 1.5},
		{100, func(_ float64, r *rand.Rand) (float64, float64, float64) { return 0.01, 9 * r.Float64(), 0 }, 1.5},
	} {
		w, ours, best := workload.Workload{Procs: 2, Total: c.total, Next: c.next}, 0.0, 0.0
		for seed := range uint64(20) {
			ours += workload.Simulate(&w, newSearched(&w), seed).Now
			best += workload.Fastest(&w, seed)
		}
		t.Logf("%d tasks: %.1f ms, %.3f times the best", c.total, ours/20, ours/best)
		if ours > c.bar*best {
			t.Errorf("%d tasks: %.3f times the best, want %v", c.total, ours/best, c.bar)
		}
	}
}

package auto

import (
	"cmp"
	"flag"
	"fmt"
	"math"
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
	seeds := 20
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

// TestRandomWorkloads compares the search with the best fixed limit on workloads by which
// nothing was tuned. They run for 3,500 tasks, start included.
func TestRandomWorkloads(t *testing.T) {
	n := 200
	if race.Enabled {
		n = 12
	}
	scores, sum := scored(n, *seed, workload.Random), 0.0
	for i, s := range scores {
		sum += math.Log(s.ratio)
		if i < 20 {
			t.Logf("%.3f: %d %s", s.ratio, s.seed, s.about)
		}
		if s.ratio < 0.5 {
			t.Errorf("%.3f on %s, want 0.5; -stint.seed=%d", s.ratio, s.about, s.seed)
		}
	}
	mean := math.Exp(sum / float64(n))
	t.Logf("geometric mean %.3f", mean)
	if !race.Enabled && mean < 0.92 {
		t.Errorf("geometric mean %.3f, want 0.92; from seed %d", mean, *seed)
	}
}

// TestTrap has servers that collapse at once. Tasks end too rarely then to learn from
// quickly; the limit has to come down all the same.
func TestTrap(t *testing.T) {
	n := 150
	if race.Enabled {
		n = 10
	}
	mean, bad := 0.0, 0
	for _, s := range scored(n, 0, workload.Trap) {
		mean += s.ratio / float64(n)
		if s.ratio < 0.5 {
			bad++
		}
	}
	t.Logf("mean %.3f, under .5: %d", mean, bad)
	if mean < 0.7 || 50*bad > n {
		t.Errorf("%.3f of the best throughput, want 0.7; %d of %d under 0.5", mean, bad, n)
	}
}

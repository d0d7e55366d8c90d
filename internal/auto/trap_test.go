package auto

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stint-go/stint/internal/race"
)

// trap returns a server with 2 or 3 slots that collapses when more than up to three
// times as many are at work: the first tasks, begun before anything is known, do
// that.
func trap(seed uint64) *plant {
	r := rand.New(rand.NewPCG(seed, 9))
	k := 2.0
	if seed%3 == 0 {
		k = 3
	}
	return &plant{procs: 2, until: 3500 * 10 / k, rate: cliff(k, k*uniform(r, 1.2, 3)), next: about(10)}
}

// TestTrap has servers that collapse at once. Tasks end too rarely then to learn
// from quickly; the limit has to come down all the same.
func TestTrap(t *testing.T) {
	plants := 150
	if race.Enabled {
		plants = 10
	}
	ratios := make([]float64, plants)
	spread(plants, func(i int) {
		s := uint64(i)
		p := trap(s)
		b, _ := best(p, s)
		ratios[i] = simulate(p, newSearched(p), s).throughput() / b
	})
	slices.Sort(ratios)
	mean, bad := 0.0, 0
	for _, x := range ratios {
		mean += x / float64(plants)
		if x < 0.5 {
			bad++
		}
	}
	t.Logf("mean %.3f, least %.3f, 5 %% quantile %.3f, under .5: %d", mean, ratios[0], ratios[plants/20], bad)
	if mean < 0.7 || 50*bad > plants {
		t.Errorf("%.3f of the best throughput, want 0.7; %d of %d under 0.5", mean, bad, plants)
	}
}

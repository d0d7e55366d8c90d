package loops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// unequalLoops returns the loops for unequal items.
func unequalLoops() []engine.Loop {
	return append(fastLoops(), engine.ErrgroupEach(), engine.ParRange())
}

// unequal measures items of different cost. The plain loop takes the sum of
// all, so the bar on p processors is slightly more than a p-th of it.
func (z sizes) unequal(yield func(experiment.Study) bool) {
	up := make([]int, z.n(3000))
	for i := range up {
		up[i] = load.Steps(12 * time.Microsecond * time.Duration(i) / time.Duration(len(up))) // 4 ns more each
	}
	down := slices.Clone(up)
	slices.Reverse(down)
	large := z.large()
	_ = yield(z.shares("item=unequal/cost=rising", "items of 0 to 12 µs", up, 1.05/z.p, ours)) &&
		yield(z.shares("item=unequal/cost=falling", "items of 12 to 0 µs", down, 1.05/z.p, ours)) &&
		yield(z.oneLarge("first")) && yield(z.oneLarge("middle")) && yield(z.oneLarge("last")) &&
		yield(z.phases()) &&
		yield(z.shares("item=unequal/cost=lognormal", "items of 1 µs on average, log-normal", lognormal(z.n(20_000)), 1.05/z.p, ours)) &&
		yield(z.shares("item=unequal/cost=zipf", "items of 1 µs on average, the k-th largest of a k-th of the largest", zipf(z.n(20_000)), 1.05/z.p, ours)) &&
		yield(z.shares("item=large/n=8", fmt.Sprintf("8 items of %v", large), alike(8, load.Steps(large)), 1.02*math.Ceil(8/z.p)/8, callers))
}

// large is the time of a large item.
func (z sizes) large() time.Duration { return 10 * time.Millisecond / time.Duration(z.divisor) }

// shares compares items that could be split evenly, with claims for some
// models.
func (z sizes) shares(name, doc string, cost []int, bar float64, who []string) experiment.Study {
	c := experiment.Case{Name: name, Doc: doc, Reference: "plain", Ops: z.ops, Models: models(spinning(cost), unequalLoops())}
	return experiment.One(c, claims(who, ratio(name, "plain", bar))...)
}

// phases measures items that become large when nearly all are done.
func (z sizes) phases() experiment.Study {
	cost := append(alike(z.n(200_000), 1), alike(z.n(200), load.Steps(95*time.Microsecond))...)
	st := z.shares("item=unequal/cost=phases", fmt.Sprintf("%d items of a few ns, then %d of 95 µs", z.n(200_000), z.n(200)), cost, 1.25/z.p, callers)
	worst := ratio(st.Cases[0].Name, "plain", 1.4/z.p)
	worst.Form = result.Worst
	st.Claims = append(st.Claims, claims(callers, worst)...)
	return st
}

// oneLarge measures one large item among tiny ones. No loop is faster than the
// large item. A loop that starts with it may be delayed before it has helpers.
func (z sizes) oneLarge(where string) experiment.Study {
	cost := alike(z.n(100_000), 1)
	large := load.Steps(z.large())
	cost[map[string]int{"first": 0, "middle": len(cost) / 2, "last": len(cost) - 1}[where]] = large
	doc := fmt.Sprintf("one item of %v among %d of a few ns", z.large(), len(cost))
	c := experiment.Case{Name: "item=unequal/giant=" + where, Doc: doc, Reference: "giant", Ops: z.ops}
	alone := result.Floor.Model("giant", "the large item alone")
	c.Models = append(c.Models, experiment.Model{Model: alone, Run: func(m *measure.Meter) error {
		want := load.Spin(large)
		m.Start()
		for range m.N {
			if load.Spin(large) != want {
				return fmt.Errorf("other results")
			}
		}
		m.Stop()
		return nil
	}})
	c.Models = append(c.Models, models(spinning(cost), unequalLoops())...)
	claim := ratio(c.Name, "giant", 1.1*max(1, 1.05/z.p))
	if where == "first" {
		claim.Bar, claim.Stretch = 1.1*(max(1, 1.05/z.p)+(z.p-1)/z.p), claim.Bar
	}
	return experiment.One(c, claims(ours, claim)...)
}

// lognormal returns costs of 1 µs on average, a few much larger, always the
// same.
func lognormal(n int) []int {
	r := rand.New(rand.NewPCG(1, 2))
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = math.Exp(1.5 * r.NormFloat64())
	}
	return shared(weights)
}

// zipf returns costs of 1 µs on average, the k-th largest a k-th of the
// largest, in random but fixed order.
func zipf(n int) []int {
	r := rand.New(rand.NewPCG(3, 4))
	weights := make([]float64, n)
	for i, k := range r.Perm(n) {
		weights[i] = 1 / float64(k+1)
	}
	return shared(weights)
}

// shared distributes 1 µs per item by weight.
func shared(weights []float64) []int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	cost := make([]int, len(weights))
	for i, w := range weights {
		cost[i] = load.Steps(time.Duration(w / sum * float64(len(weights)) * float64(time.Microsecond)))
	}
	return cost
}

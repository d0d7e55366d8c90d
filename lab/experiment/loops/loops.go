// Package loops measures a known number of items: the cost of a loop beside the
// best hand-written one for tiny, unequal, waiting, nested or few items.
package loops

import (
	"context"
	"iter"
	"slices"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment loops.
var Experiment = experiment.New("loops", "loops over tiny, unequal, waiting, nested and few items, beside hand-written ones",
	sizes{divisor: 1, waits: 5}, sizes{divisor: 40, waits: 2}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	divisor int     // of the number of items
	ops     int     // loops per sample; 0: chosen by time
	waits   int     // loops per sample, where each waits first
	p       float64 // processors
}

// n scales a number of items.
func (z sizes) n(full int) int { return max(1, full/z.divisor) }

// samples is less than usual: there are many cases.
const samples = 12

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("loops", "loops over tiny, few, unequal, waiting, failing, nested and cold items",
		"An op is a whole loop. Loops that need a limit have GOMAXPROCS; stint's limit is adaptive.",
		"Items are called functions, in hand-written loops too. plain-range, static-range and par.Range call the body with a range of indexes, which is less work for tiny items: these are compared in cases of their own, form=range.",
		"The results of all items are checked after each sample.")
	z.p = float64(b.Result.Processors)
	parts := []iter.Seq[experiment.Study]{z.tiny, z.few, z.series, z.unequal, z.waiting, z.ending, z.nested, z.cold, z.mapped, z.reduced, z.counted, z.found, z.slow}
	return b.RunSeq(ctx, func(yield func(experiment.Study) bool) {
		all(func(st experiment.Study) bool {
			for i := range st.Cases {
				st.Cases[i].Count = samples
			}
			return yield(st)
		}, parts...)
	})
}

// The models that the claims are about. parRange calls the body with a range of
// indexes, the others an item at a time.
const (
	parEach  = "par.Each"
	parRange = "par.Range"
)

var (
	stints  = []string{"stint.Range", "stint.Each"}
	callers = append(slices.Clone(stints), parEach)
	ours    = append(slices.Clone(callers), parRange)
)

// claims returns each claim for each model.
func claims(models []string, c ...result.Claim) []result.Claim {
	var out []result.Claim
	for _, c := range c {
		for _, c.Model = range models {
			out = append(out, c)
		}
	}
	return out
}

// ofRange returns claims about par.Range.
func ofRange(c ...result.Claim) []result.Claim { return claims([]string{parRange}, c...) }

// ratio claims a time of at most bar times another model's.
func ratio(kase, than string, bar float64) result.Claim {
	return result.Claim{Case: kase, Unit: measure.Time, Form: result.Ratio, Than: than, Bar: bar}
}

// atMostMore claims that a loop over few items takes little more than another
// model: it is too short for a helper, and finding that out takes time.
func atMostMore(kase, than string, n int) result.Claim {
	c := result.Claim{Case: kase, Unit: measure.Time, Form: result.Difference, Than: than, Bar: 400}
	if n > 100 {
		c.Bar = 800
	}
	return c
}

// fastLoops returns the loops for a million items. Loops that hand over one
// item at a time take too long for most cases.
func fastLoops() []engine.Loop {
	return []engine.Loop{
		engine.Plain(), engine.Static(), engine.Counter(1), engine.Counter(1024), engine.ConcIter(),
		engine.Range(), engine.Each(), engine.ParEach(),
	}
}

// rangeLoops returns the loops that call the body with a range of indexes,
// which are compared in cases of their own.
func rangeLoops() []engine.Loop {
	return []engine.Loop{engine.PlainRange(), engine.StaticRange(), engine.ParRange()}
}

// formRange names the case that compares rangeLoops.
func formRange(kase string) string { return kase + "/form=range" }

// models returns loops that do the same work.
func models(w work, loops []engine.Loop) []experiment.Model {
	var out []experiment.Model
	for _, l := range loops {
		out = append(out, experiment.Model{Model: l.Model, Run: func(m *measure.Meter) error {
			w.clear()
			m.Start()
			for range m.N {
				l.Run(w.n, w.limit, w.body)
			}
			m.Stop()
			return w.check(m.N)
		}})
	}
	return out
}

// all yields the studies of several parts, each created when its turn comes.
func all(yield func(experiment.Study) bool, parts ...iter.Seq[experiment.Study]) {
	for _, part := range parts {
		for st := range part {
			if !yield(st) {
				return
			}
		}
	}
}

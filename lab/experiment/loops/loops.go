// Package loops measures finite work: what a loop over indexes costs beside the
// loop that one would write by hand for it, when the items are tiny, unequal,
// waiting, nested or few.
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

// Experiment is the experiment.
var Experiment = experiment.Experiment{
	Name: "loops",
	Doc:  "loops over tiny, unequal, waiting, nested and few items, beside hand-written ones",
	Run: func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		z := sizes{divisor: 1, waits: 5}
		if s.Quick {
			z = sizes{divisor: 40, waits: 2}
		}
		return run(ctx, s, z)
	},
}

// sizes are what a quick run and a test make smaller.
type sizes struct {
	divisor int     // of the number of items
	ops     int     // loops a sample; 0: as many as take long enough
	waits   int     // loops a sample where something is waited for before each
	p       float64 // processors
}

// n is a number of items that is full in a full run.
func (z sizes) n(full int) int { return max(1, full/z.divisor) }

// samples are not the usual number: there are many cases.
const samples = 12

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("loops", "loops over tiny, few, unequal, waiting, failing, nested and cold items",
		"An op is a whole loop. Loops that must be given a limit have GOMAXPROCS; stint finds its own.",
		"Items are functions that are called, in the hand-written loops too. plain-range, static-range and par.Range call the body with a range of indexes, and it has the loop: where an item is tiny that is less work, and they have a case of their own, form=range.",
		"The results of all items are compared with what they must be after each sample.")
	z.p = float64(b.Result.Processors)
	parts := []iter.Seq[experiment.Study]{z.tiny, z.few, z.series, z.unequal, z.waiting, z.ending, z.nested, z.cold, z.mapped, z.reduced, z.found, z.slow}
	return b.RunSeq(ctx, func(yield func(experiment.Study) bool) {
		all(func(st experiment.Study) bool {
			for i := range st.Cases {
				st.Cases[i].Count = samples
			}
			return yield(st)
		}, parts...)
	})
}

// The models that the claims are about: those that call a function an item, and
// the one that calls it with a range of indexes.
const (
	parEach  = "par.Each"
	parRange = "par.Range"
)

var (
	stints  = []string{"stint.Range", "stint.Each"}
	callers = append(slices.Clone(stints), parEach)
	ours    = append(slices.Clone(callers), parRange)
)

// claims are some for each of several models, of which c is the rest.
func claims(models []string, c ...result.Claim) []result.Claim {
	var out []result.Claim
	for _, c := range c {
		for _, c.Model = range models {
			out = append(out, c)
		}
	}
	return out
}

// ofRange are claims about par.Range.
func ofRange(c ...result.Claim) []result.Claim { return claims([]string{parRange}, c...) }

// ratio is a claim about the time beside that of another model.
func ratio(kase, than string, bar float64) result.Claim {
	return result.Claim{Case: kase, Unit: measure.Time, Form: result.Ratio, Than: than, Bar: bar}
}

// more is a claim about the time that a loop over few items takes beside that
// of another model: so short a loop is not worth a helper, and finding that out
// costs some.
func more(kase, than string, n int) result.Claim {
	c := result.Claim{Case: kase, Unit: measure.Time, Form: result.Difference, Than: than, Bar: 400}
	if n > 100 {
		c.Bar = 800
	}
	return c
}

// Engines that are compared. Those that start or hand over an item at a time
// take long for a million items, and are with some cases only.
func fastLoops() []engine.Loop {
	return []engine.Loop{
		engine.Plain(), engine.Static(), engine.Counter(1), engine.Counter(1024), engine.ConcIter(),
		engine.Range(), engine.Each(), engine.ParEach(),
	}
}

// rangeLoops call the body with a range of indexes. Where the items are tiny
// that is other work than a call an item, and they have a case of their own.
func rangeLoops() []engine.Loop {
	return []engine.Loop{engine.PlainRange(), engine.StaticRange(), engine.ParRange()}
}

// formRange is the name of the case that compares the rangeLoops.
func formRange(kase string) string { return kase + "/form=range" }

// models are loops that do the same work.
func models(w work, loops []engine.Loop) []experiment.Model {
	var out []experiment.Model
	for _, l := range loops {
		out = append(out, experiment.LoopModel(l, func(m *measure.Meter) error {
			w.clear()
			m.Start()
			for range m.N {
				l.Run(w.n, w.limit, w.body)
			}
			m.Stop()
			return w.check(m.N)
		}))
	}
	return out
}

// all yields the studies of several parts, each made when it is its turn.
func all(yield func(experiment.Study) bool, parts ...iter.Seq[experiment.Study]) {
	for _, part := range parts {
		for st := range part {
			if !yield(st) {
				return
			}
		}
	}
}

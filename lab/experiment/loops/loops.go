// Package loops measures a known number of items: the cost of a loop beside the
// best hand-written one for few, tiny, unequal, waiting or nested items.
package loops

import (
	"context"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment loops.
var Experiment = experiment.New("loops", "loops over few, tiny, unequal, waiting and nested items, beside hand-written ones",
	sizes{divisor: 1}, sizes{divisor: 40}, run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	divisor int     // of the number of items
	ops     int     // operations per sample; 0: chosen by time
	p       float64 // processors
}

// n scales a number of items.
func (z sizes) n(full int) int { return max(1, full/z.divisor) }

// samples is less than usual: there are many models.
const samples = 12

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("loops", "loops over few, tiny, unequal, nested, waiting and failing items, and calls that give a result",
		"An op is a whole loop. Loops that need a limit have GOMAXPROCS; stint's limit is adaptive.",
		"Items are called functions, in hand-written loops too. Only plain-range, static-range and par.Range "+
			"call the body with a range of indexes, which is less work for tiny items.",
		"The results of all items are checked after each sample.")
	z.p = float64(b.Result.Processors)
	return b.RunSeq(ctx, func(yield func(experiment.Study) bool) {
		for _, r := range z.rows() {
			if !yield(r.study(z.ops)) {
				return
			}
		}
	})
}

// A row is a case and a claim about some of its models.
type row struct {
	name, doc, reference string

	models     func() []experiment.Model // called when its turn comes: the data may be large
	conclusion string
	ours       []string
	form       result.Form
	bar        float64
	options    func(*experiment.Case)
}

func (r row) study(ops int) experiment.Study {
	c := experiment.Case{Name: r.name, Doc: r.doc, Reference: r.reference, Ops: ops, Count: samples, Models: r.models()}
	if r.options != nil {
		r.options(&c)
	}
	var claims []result.Claim
	for _, model := range r.ours {
		claims = append(claims, result.Claim{Case: c.Name, Model: model, Unit: measure.Time, Form: r.form, Bar: r.bar})
		if r.form != result.Value {
			claims[len(claims)-1].Than = r.reference
		}
	}
	return experiment.One(c, experiment.Concludes("", r.conclusion, claims...)...)
}

func shown(c *experiment.Case) { c.Main = true }

func onOne(c *experiment.Case) { *c = c.OnOne() }

// fewOps is for models that report a part of their time.
func fewOps(c *experiment.Case) { c.Ops = 3 }

package experiment

import (
	"context"
	"iter"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A Study is cases that are measured together, and what is claimed of them.
type Study struct {
	Cases  []Case
	Claims []result.Claim
}

// One is a study of one case.
func One(c Case, claims ...result.Claim) Study { return Study{[]Case{c}, claims} }

// Names are those of a case on one processor and on all. On a bench with one
// processor there is no second.
type Names struct{ One, All string }

// Both are the names that there are.
func (n Names) Both() []string {
	if n.All == "" {
		return []string{n.One}
	}
	return []string{n.One, n.All}
}

// OnBoth is a study of one case on one processor and, if the bench has more, on
// all.
func (b *Bench) OnBoth(c Case, claims func(Names) []result.Claim) Study {
	one := c
	one.Name, one.Processors = c.Name+"/procs=1", 1
	if b.Result.Processors == 1 {
		return One(one, claims(Names{One: one.Name})...)
	}
	return Study{[]Case{one, c}, claims(Names{one.Name, c.Name})}
}

// Run measures studies, each when those before it are done, and ends the
// experiment as Conclude does.
func (b *Bench) Run(ctx context.Context, studies ...Study) (*result.Result, error) {
	for _, st := range studies {
		b.Claim(st.Claims...)
	}
	for _, st := range studies {
		if err := b.Measure(ctx, st.Cases...); err != nil {
			return b.Conclude(err)
		}
	}
	return b.Conclude(nil)
}

// RunSeq is Run for studies that are made when it is their turn, because they are
// large. What is claimed of those that it did not come to is not known.
func (b *Bench) RunSeq(ctx context.Context, studies iter.Seq[Study]) (*result.Result, error) {
	for st := range studies {
		b.Claim(st.Claims...)
		if err := b.Measure(ctx, st.Cases...); err != nil {
			return b.Conclude(err)
		}
	}
	return b.Conclude(nil)
}

// AtMost is the claim that a model takes at most bar times the time of another. It
// stands for a conclusion, or for itself if that is empty.
func AtMost(bar float64, kase, model, than, conclusion string) result.Claim {
	return result.Claim{Case: kase, Model: model, Unit: measure.Time, Form: result.Ratio, Than: than, Bar: bar, Conclusion: conclusion}
}

// Across is the claim that a model takes in one case at most bar times the time
// that it takes in the other.
func Across(bar float64, kase, other, model, conclusion string) result.Claim {
	c := AtMost(bar, kase, model, model, conclusion)
	c.InCase = other
	return c
}

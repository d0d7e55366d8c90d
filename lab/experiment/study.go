package experiment

import (
	"context"
	"iter"
	"slices"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A Study holds cases that are measured together, and claims about them.
type Study struct {
	Cases  []Case
	Claims []result.Claim
}

// One returns a study of one case.
func One(c Case, claims ...result.Claim) Study { return Study{[]Case{c}, claims} }

// Names are the names of a case on one processor and on all. All is empty on a
// bench with one processor.
type Names struct{ One, All string }

// Both returns the names that are set.
func (n Names) Both() []string {
	if n.All == "" {
		return []string{n.One}
	}
	return []string{n.One, n.All}
}

// Each returns the claims that f makes for each of the names that are set.
func (n Names) Each(f func(kase string) []result.Claim) []result.Claim {
	var out []result.Claim
	for _, kase := range n.Both() {
		out = append(out, f(kase)...)
	}
	return out
}

// OnBoth returns a study of a case on one processor and, if the bench has more,
// on all.
func (b *Bench) OnBoth(c Case, claims func(Names) []result.Claim) Study {
	one := c.OnOne()
	if b.Result.Processors == 1 {
		return One(one, claims(Names{One: one.Name})...)
	}
	return Study{[]Case{one, c}, claims(Names{one.Name, c.Name})}
}

// Run measures studies one after the other and ends the experiment as Conclude
// does.
func (b *Bench) Run(ctx context.Context, studies ...Study) (*result.Result, error) {
	return b.RunSeq(ctx, slices.Values(studies))
}

// RunSeq is Run for large studies, each created when its turn comes. After an
// error, the claims of studies that did not run are missing.
func (b *Bench) RunSeq(ctx context.Context, studies iter.Seq[Study]) (*result.Result, error) {
	for st := range studies {
		b.Claim(st.Claims...)
		if err := b.Measure(ctx, st.Cases...); err != nil {
			return b.Conclude(err)
		}
	}
	return b.Conclude(nil)
}

// AtMost claims that a model takes at most bar times the time of another. The
// conclusion may be empty.
func AtMost(bar float64, kase, model, than, conclusion string) result.Claim {
	return result.Claim{Case: kase, Model: model, Unit: measure.Time, Form: result.Ratio, Than: than, Bar: bar, Conclusion: conclusion}
}

// Concludes returns claims that support a conclusion of an article, or of ours if the
// article is empty.
func Concludes(a result.Article, conclusion string, claims ...result.Claim) []result.Claim {
	for i := range claims {
		claims[i].Article, claims[i].Conclusion = a, conclusion
	}
	return claims
}

// Across claims that a model takes at most bar times the time it takes in the
// other case.
func Across(bar float64, kase, other, model, conclusion string) result.Claim {
	c := AtMost(bar, kase, model, model, conclusion)
	c.InCase = other
	return c
}

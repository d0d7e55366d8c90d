package models

import (
	"context"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A Study is cases that are measured together, and what is claimed of them.
type Study struct {
	Cases  []experiment.Case
	Claims []result.Claim
}

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
func OnBoth(b *experiment.Bench, c experiment.Case, claims func(Names) []result.Claim) Study {
	one := c
	one.Name, one.Processors = c.Name+"/procs=1", 1
	if b.Result.Processors == 1 {
		return Study{[]experiment.Case{one}, claims(Names{One: one.Name})}
	}
	return Study{[]experiment.Case{one, c}, claims(Names{one.Name, c.Name})}
}

// Conclude measures studies, each when those before it are done, and ends the
// experiment.
func Conclude(ctx context.Context, b *experiment.Bench, studies ...Study) (*result.Result, error) {
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

// What is said of stint's calls without an option, in all experiments.
const (
	unhinted = "A call without an option is within 5 % of the best bounded model, of those that are told the numbers of the articles."
	notWorse = "Where there are so few items that a loop is best, a call without an option takes at most 400 ns more."
)

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

// Few are the claims about models of ours with so few items that a loop is over
// before any help is there: finding that out costs no more than 400 ns.
func Few(cases Names, models ...string) []result.Claim {
	var out []result.Claim
	for _, kase := range cases.Both() {
		for _, m := range models {
			out = append(out, result.Claim{Case: kase, Model: m, Unit: measure.Time, Form: result.Difference, Than: NameSequential, Bar: 400, Conclusion: notWorse})
		}
	}
	return out
}

// Unhinted are the claims about models of ours that were told nothing: in none
// of the cases is a model that keeps to a bound faster by more than a twentieth.
func Unhinted(cases Names, models ...string) []result.Claim {
	var out []result.Claim
	for _, kase := range cases.Both() {
		for _, m := range models {
			out = append(out, AtMost(1.05, kase, m, result.BestBounded, unhinted))
		}
	}
	return out
}

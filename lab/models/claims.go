package models

import (
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Claims about stint's calls without an option, in all experiments.
const (
	unhinted = "A call without an option is within 5 % of the best bounded model, including models tuned with the numbers of the articles."
	notWorse = "For so few items that a loop is best, a call without an option takes at most 400 ns more."
)

// SmallList returns the claims about our models for lists so short that a loop
// ends before a helper is ready: finding that out takes at most 400 ns.
func SmallList(cases experiment.Names, models ...string) []result.Claim {
	return cases.Each(func(kase string) (out []result.Claim) {
		for _, m := range models {
			out = append(out, result.Claim{Case: kase, Model: m, Unit: measure.Time, Form: result.Difference, Than: NameSequential, Bar: 400, Conclusion: notWorse})
		}
		return out
	})
}

// Unhinted returns the claims about our models without an option: no bounded
// model is more than 5 % faster.
func Unhinted(cases experiment.Names, models ...string) []result.Claim {
	return cases.Each(func(kase string) (out []result.Claim) {
		for _, m := range models {
			out = append(out, experiment.AtMost(1.05, kase, m, result.BestBounded, unhinted))
		}
		return out
	})
}

// OneCPU returns the claims that each model takes at most bar times as long on
// one processor as on all: more processors do not help it. There are none on a
// bench with one processor.
func OneCPU(bar float64, on experiment.Names, models ...string) (out []result.Claim) {
	if on.All == "" {
		return nil
	}
	for _, m := range models {
		out = append(out, experiment.Across(bar, on.One, on.All, m, ""))
	}
	return out
}

// Faster claims that a model takes less time than another.
func Faster(kase, model, than string) result.Claim {
	return experiment.AtMost(1, kase, model, than, "")
}

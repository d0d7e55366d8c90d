package models

import (
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Says returns the claims that support a conclusion of an article, or of ours if
// the article is empty.
func Says(a result.Article, conclusion string, claims ...[]result.Claim) []result.Claim {
	return experiment.Concludes(a, conclusion, slices.Concat(claims...)...)
}

// One claims that a model takes at most bar times the time of another on one
// processor.
func One(bar float64, on experiment.Names, model, than string) []result.Claim {
	return []result.Claim{experiment.AtMost(bar, on.One, model, than, "")}
}

// All claims the same on all processors, if there are several.
func All(bar float64, on experiment.Names, model, than string) []result.Claim {
	if on.All == "" {
		return nil
	}
	return []result.Claim{experiment.AtMost(bar, on.All, model, than, "")}
}

// Both claims the same on one processor and on all.
func Both(bar float64, on experiment.Names, model, than string) []result.Claim {
	return append(One(bar, on, model, than), All(bar, on, model, than)...)
}

// NoGain claims that each model takes at most bar times as long on one processor
// as on all: more processors do not help it.
func NoGain(bar float64, on experiment.Names, models ...string) (out []result.Claim) {
	for _, m := range models {
		if on.All != "" {
			out = append(out, experiment.Across(bar, on.One, on.All, m, ""))
		}
	}
	return out
}

// SmallList returns the claims about our models for lists so short that a loop
// ends before a helper is ready: finding that out takes at most 400 ns.
func SmallList(on experiment.Names, models ...string) []result.Claim {
	const notWorse = "For so few items that a loop is best, a call without an option takes at most 400 ns more."
	return on.Each(func(kase string) (out []result.Claim) {
		for _, m := range models {
			out = append(out, result.Claim{Case: kase, Model: m, Unit: measure.Time, Form: result.Difference, Than: NameSequential, Bar: 400, Conclusion: notWorse})
		}
		return out
	})
}

// Unhinted returns the claims about our models without an option: no bounded
// model is more than 5 % faster.
func Unhinted(on experiment.Names, models ...string) (out []result.Claim) {
	const unhinted = "A call without an option is within 5 % of the best bounded model, including models tuned with the numbers of the articles."
	for _, m := range models {
		out = append(out, Says("", unhinted, Both(1.05, on, m, result.BestBounded))...)
	}
	return out
}

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
	var out []result.Claim
	for _, kase := range cases.Both() {
		for _, m := range models {
			out = append(out, result.Claim{Case: kase, Model: m, Unit: measure.Time, Form: result.Difference, Than: NameSequential, Bar: 400, Conclusion: notWorse})
		}
	}
	return out
}

// Unhinted returns the claims about our models without an option: no bounded
// model is more than 5 % faster.
func Unhinted(cases experiment.Names, models ...string) []result.Claim {
	var out []result.Claim
	for _, kase := range cases.Both() {
		for _, m := range models {
			out = append(out, experiment.AtMost(1.05, kase, m, result.BestBounded, unhinted))
		}
	}
	return out
}

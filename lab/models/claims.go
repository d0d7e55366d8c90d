package models

import (
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// What is said of stint's calls without an option, in all experiments.
const (
	unhinted = "A call without an option is within 5 % of the best bounded model, of those that are told the numbers of the articles."
	notWorse = "Where there are so few items that a loop is best, a call without an option takes at most 400 ns more."
)

// Few are the claims about models of ours with so few items that a loop is over
// before any help is there: finding that out costs no more than 400 ns.
func Few(cases experiment.Names, models ...string) []result.Claim {
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
func Unhinted(cases experiment.Names, models ...string) []result.Claim {
	var out []result.Claim
	for _, kase := range cases.Both() {
		for _, m := range models {
			out = append(out, experiment.AtMost(1.05, kase, m, result.BestBounded, unhinted))
		}
	}
	return out
}

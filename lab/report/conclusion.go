package report

import (
	"fmt"
	"slices"
	"strings"
)

// A Conclusion is a sentence, of an article or of ours, with the verdicts on
// all the claims that stand for it.
type Conclusion struct {
	Text        string
	Experiments []string // that the claims are of
	Verdicts    []Verdict
}

// Conclusions groups verdicts by the sentence that they stand for, in the order
// in which the sentences come. Claims that stand for none are left out.
func Conclusions(results []*Result) []Conclusion {
	type found struct {
		Verdict
		experiment string
	}
	var all []found
	for _, r := range results {
		for _, v := range r.Verdicts {
			if v.Conclusion != "" {
				all = append(all, found{v, r.Experiment})
			}
		}
	}
	var out []Conclusion
	for _, same := range bunches(all, func(f found) string { return f.Conclusion }) {
		c := Conclusion{Text: same.key}
		for _, f := range same.of {
			c.Verdicts = append(c.Verdicts, f.Verdict)
			if !slices.Contains(c.Experiments, f.experiment) {
				c.Experiments = append(c.Experiments, f.experiment)
			}
		}
		out = append(out, c)
	}
	return out
}

// Tally is the answer, with how often each was given where they differ.
func (c Conclusion) Tally() string {
	count := tallied(c.Verdicts)
	together := string(answersOf(c.Verdicts).Together())
	var words []string
	for _, a := range []Answer{Yes, No, NotSure} {
		if n := count[a]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, a))
		}
	}
	if len(words) < 2 {
		return together
	}
	return together + ": " + strings.Join(words, ", ")
}

// answers are how many claims have which answer.
type answers struct{ Yes, No, NotSure int }

func answersOf(verdicts []Verdict) answers {
	count := tallied(verdicts)
	return answers{count[Yes], count[No], count[NotSure]}
}

// All is how many claims there are.
func (a answers) All() int { return a.Yes + a.No + a.NotSure }

// Together is what the claims say as one. A sentence holds if all of its claims
// do: one no refutes it, whatever is open beside it, and it holds in part if
// others have yes.
func (a answers) Together() Answer {
	switch {
	case a.No > 0 && a.Yes > 0:
		return inPart
	case a.No > 0:
		return No
	case a.NotSure > 0 || a.All() == 0:
		return NotSure
	}
	return Yes
}

// inPart is the answer of claims of which some have yes and some no.
const inPart Answer = "in part"

// told is how many figures of a conclusion are told one by one.
const told = 3

// figures are what a conclusion rests on: all of them if they are few, and if
// not the least and the greatest median of those that are alike.
func (c Conclusion) figures() string {
	if len(c.Verdicts) <= told {
		return strings.Join(each(c.Verdicts, Verdict.text), "; ")
	}
	var words []string
	for _, alike := range bunches(c.Verdicts, func(v Verdict) string { return string(v.Form) + string(v.Unit) }) {
		words = append(words, between(alike.of))
	}
	return strings.Join(words, "; ")
}

// between says where the medians of verdicts of one form and unit lie.
func between(verdicts []Verdict) string {
	var medians []float64
	for _, v := range verdicts {
		if v.Figures.N > 0 {
			medians = append(medians, v.Figures.Median)
		}
	}
	what, form := describe(verdicts[0].Unit), verdicts[0].Form
	if len(medians) == 0 {
		return what.name + " not measured"
	}
	format := form.format(what)
	text := format(slices.Min(medians)) + " to " + format(slices.Max(medians))
	switch form {
	case Speedup:
		return text + " x as fast"
	case Difference:
		return what.name + " " + text + " more"
	case Value:
		return what.name + " " + text
	}
	return what.name + " x " + text
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/result"
)

// answerText is the answer of a conclusion, with how often each was given where
// they differ.
func answerText(c result.Conclusion) string {
	a := result.AnswersOf(c.Verdicts)
	together := string(a.Together())
	var words []string
	for _, one := range []struct {
		answer result.Answer
		n      int
	}{{result.Yes, a.Yes}, {result.No, a.No}, {result.NotSure, a.NotSure}} {
		if one.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", one.n, one.answer))
		}
	}
	if len(words) < 2 {
		return together
	}
	return together + ": " + strings.Join(words, ", ")
}

// told is how many figures of a conclusion are told one by one.
const told = 3

// restsOn is what a conclusion rests on: all of them if they are few, and if
// not the least and the greatest median of those that are alike.
func restsOn(c result.Conclusion) string {
	if len(c.Verdicts) <= told {
		return strings.Join(each(c.Verdicts, fullText), "; ")
	}
	var words []string
	for _, alike := range bunches(c.Verdicts, func(v result.Verdict) string { return string(v.Form) + string(v.Unit) }) {
		words = append(words, between(alike.of))
	}
	return strings.Join(words, "; ")
}

// between says where the medians of verdicts of one form and unit lie.
func between(verdicts []result.Verdict) string {
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
	format := formatOf(form, what)
	text := format(slices.Min(medians)) + " to " + format(slices.Max(medians))
	switch form {
	case result.Speedup:
		return text + " x as fast"
	case result.Difference:
		return what.name + " " + text + " more"
	case result.Value:
		return what.name + " " + text
	}
	return what.name + " x " + text
}

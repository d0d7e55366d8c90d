package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/result"
)

// answerText returns the answer of a conclusion, with the counts if the answers
// differ.
func answerText(c result.Conclusion) string {
	a := result.AnswersOf(c.Verdicts)
	together := string(a.Combined())
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

// maxListed is how many figures of a conclusion are listed one by one.
const maxListed = 3

// restsOn returns the figures of a conclusion, or their ranges if there are
// many.
func restsOn(c result.Conclusion) string {
	if len(c.Verdicts) <= maxListed {
		return strings.Join(each(c.Verdicts, fullText), "; ")
	}
	var words []string
	for _, alike := range groupBy(c.Verdicts, func(v result.Verdict) string { return string(v.Form) + string(v.Unit) }) {
		words = append(words, between(alike.items))
	}
	return strings.Join(words, "; ")
}

// between returns the range of the medians of verdicts with the same form and
// unit.
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

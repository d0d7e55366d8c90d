package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/result"
)

var signs = map[result.Answer]string{result.Yes: "✓", result.No: "✗", result.InPart: "±", lower(features.Partly): "±"}

// sign returns the symbol of an answer.
func sign(a result.Answer) string { return cmp.Or(signs[a], "?") }

// verdictText returns the claim with its note and the best peer, without the
// case.
func verdictText(v result.Verdict) string {
	than := v.Than
	if v.InCase != "" {
		than += " in " + v.InCase
	}
	what := describe(v.Unit)
	text := v.Model + ": "
	switch v.Form {
	case result.Ratio:
		text += fmt.Sprintf("%s at most %.3g x %s", what.name, v.Bar, than)
	case result.Speedup:
		text += fmt.Sprintf("at least %.3g x as fast as %s", v.Bar, than)
	case result.Difference:
		text += fmt.Sprintf("%s at most %s more than %s", what.name, what.format(v.Bar), than)
	case result.Value:
		text += fmt.Sprintf("%s at most %s", what.name, what.format(v.Bar))
	}
	if v.Note != "" {
		text += " (" + v.Note + ")"
	}
	if v.Against != "" {
		text += " (it is " + v.Against + ")"
	}
	return text
}

// fullText returns the claim with its case and figures.
func fullText(v result.Verdict) string {
	return v.Case + ": " + verdictText(v) + ": " + short(v.Figures, formatOf(v))
}

// formatOf returns the format of a verdict's figures.
func formatOf(v result.Verdict) func(float64) string {
	if v.Form == result.Value || v.Form == result.Difference {
		return describe(v.Unit).format
	}
	return times
}

// lossText says by how much a peer is faster.
func lossText(l result.Loss) string {
	text := fmt.Sprintf("%s: %s takes the time of %s x %s", l.Case, l.Model, l.Peer, short(l.Ratio, times))
	if !l.Sure() {
		text += "; undecided"
	}
	return text
}

// claims returns verdicts as a table, the answer with its symbol first.
func claims(verdicts []result.Verdict) Grid {
	return Grid{Name: "Claims", Head: []string{"answer", "case", "claim", "figures"}, Rows: each(verdicts, func(v result.Verdict) []string {
		return []string{sign(v.Answer) + " " + string(v.Answer), v.Case, verdictText(v), short(v.Figures, formatOf(v))}
	})}
}

// answerText returns the answer of several verdicts, or the counts if they differ.
func answerText(a result.Answers) string {
	var words []string
	for i, n := range []int{a.Yes, a.No, a.NotSure} {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, []result.Answer{result.Yes, result.No, result.NotSure}[i]))
		}
	}
	if len(words) < 2 {
		return string(a.Combined())
	}
	return strings.Join(words, ", ")
}

// maxListed is how many figures of a conclusion are listed one by one.
const maxListed = 3

// why returns the figures of a conclusion. Of many it returns the ranges, and
// the first that decides an answer other than yes.
func why(verdicts []result.Verdict) string {
	if len(verdicts) <= maxListed {
		return strings.Join(each(verdicts, fullText), "; ")
	}
	words := each(groupBy(verdicts, func(v result.Verdict) string { return string(v.Form) + string(v.Unit) }), func(g grouped[result.Verdict]) string {
		return between(g.items)
	})
	for _, a := range []result.Answer{result.No, result.NotSure} {
		if i := slices.IndexFunc(verdicts, func(v result.Verdict) bool { return v.Answer == a }); i >= 0 {
			words = append(words, string(a)+", for example: "+fullText(verdicts[i]))
			break
		}
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
	what, format := describe(verdicts[0].Unit).name, formatOf(verdicts[0])
	if len(medians) == 0 {
		return what + " not measured"
	}
	bars := each(verdicts, func(v result.Verdict) float64 { return v.Bar })
	bar := format(slices.Min(bars))
	if most := format(slices.Max(bars)); most != bar {
		bar += " to " + most
	}
	text := fmt.Sprintf("%s to %s, claimed at most %s", format(slices.Min(medians)), format(slices.Max(medians)), bar)
	switch verdicts[0].Form {
	case result.Value:
		return what + " " + text
	case result.Difference:
		return what + " more by " + text
	case result.Speedup:
		return "faster by " + strings.Replace(text, "at most", "at least", 1)
	}
	return what + " x " + text
}

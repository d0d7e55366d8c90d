package report

import (
	"fmt"

	"github.com/stint-go/stint/lab/result"
)

// claimText says what is claimed, with its note and without the case.
func claimText(c result.Claim) string {
	if c.Note != "" {
		return bareText(c) + " (" + c.Note + ")"
	}
	return bareText(c)
}

// bareText is that without the note.
func bareText(c result.Claim) string {
	than := c.Than
	if c.InCase != "" {
		than += " in " + c.InCase
	}
	what := describe(c.Unit)
	text := ""
	switch c.Form {
	case result.Ratio:
		text = fmt.Sprintf("%s at most %.3g x %s", what.name, c.Bar, than)
	case result.Worst:
		text = fmt.Sprintf("%s at most %.3g x %s in each round", what.name, c.Bar, than)
	case result.Speedup:
		text = fmt.Sprintf("at least %.3g x as fast as %s", c.Bar, than)
	case result.Difference:
		text = fmt.Sprintf("%s at most %s more than %s", what.name, what.format(c.Bar), than)
	case result.Value:
		text = fmt.Sprintf("%s at most %s", what.name, what.format(c.Bar))
	}
	return c.Model + ": " + text
}

// verdictText is that of the claim, with the peer that was the best.
func verdictText(v result.Verdict) string { return claimText(v.Claim) + against(v) }

// against names the best peer, of a claim about that.
func against(v result.Verdict) string {
	if v.Against == "" {
		return ""
	}
	return " (it is " + v.Against + ")"
}

// fullText is the claim in its case and what the verdict rests on.
func fullText(v result.Verdict) string { return v.Case + ": " + verdictText(v) + ": " + figuresText(v) }

// figuresText is what a verdict rests on.
func figuresText(v result.Verdict) string {
	format := formatOf(v.Form, describe(v.Unit))
	text := interval(v.Figures, format)
	if v.Form == result.Worst && v.Figures.N > 0 {
		text = fmt.Sprintf("%s at worst, n = %d", format(v.Figures.Median), v.Figures.N)
	}
	if v.Further != "" {
		text += fmt.Sprintf("; stretch %s: %s", format(v.Stretch), v.Further)
	}
	return text
}

// formatOf is how the figures of a form are written.
func formatOf(f result.Form, of column) func(float64) string {
	if f == result.Value || f == result.Difference {
		return of.format
	}
	return times
}

// tallyText counts the answers in words.
func tallyText(r *result.Result) string {
	a := result.AnswersOf(r.Verdicts)
	return fmt.Sprintf("%d claims: %d yes, %d no, %d not sure", a.All(), a.Yes, a.No, a.NotSure)
}

// lossText says by how much a peer is faster.
func lossText(l result.Loss) string {
	text := fmt.Sprintf("%s: %s takes the time of %s x %s", l.Case, l.Model, l.Peer, interval(l.Ratio, times))
	if !l.Sure() {
		text += "; not told apart"
	}
	return text
}

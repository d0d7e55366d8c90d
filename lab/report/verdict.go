package report

import (
	"fmt"

	"github.com/stint-go/stint/lab/result"
)

// claimText returns the claim with its note, without the case.
func claimText(c result.Claim) string {
	if c.Note != "" {
		return bareText(c) + " (" + c.Note + ")"
	}
	return bareText(c)
}

// bareText returns the claim without note and case.
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

// verdictText returns the claim with the best peer.
func verdictText(v result.Verdict) string { return claimText(v.Claim) + against(v) }

// against names the best peer, if the claim is about it.
func against(v result.Verdict) string {
	if v.Against == "" {
		return ""
	}
	return " (it is " + v.Against + ")"
}

// fullText returns the claim with its case and figures.
func fullText(v result.Verdict) string { return v.Case + ": " + verdictText(v) + ": " + figuresText(v) }

// figuresText returns the figures of a verdict.
func figuresText(v result.Verdict) string {
	format := formatOf(v.Form, describe(v.Unit))
	text := interval(v.Figures, format)
	if v.Form == result.Worst && v.Figures.N > 0 {
		text = fmt.Sprintf("%s at worst, n = %d", format(v.Figures.Median), v.Figures.N)
	}
	if v.StretchAnswer != "" {
		text += fmt.Sprintf("; stretch %s: %s", format(v.Stretch), v.StretchAnswer)
	}
	return text
}

// formatOf returns the format of a form's figures.
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
		text += "; undecided"
	}
	return text
}

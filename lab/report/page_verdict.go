package report

import (
	"html/template"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/result"
)

// shares draws the counts of the answers.
func shares(a result.Answers) template.HTML {
	return template.HTML(chart.Shares{{Look: chart.Strong, Part: a.Yes}, {Look: chart.Accent, Part: a.No}, {Look: chart.Plain, Part: a.NotSure}}.SVG())
}

// sign returns the symbol of an answer.
func sign(a result.Answer) string {
	switch a {
	case result.Yes:
		return "✓"
	case result.No:
		return "✗"
	case result.InPart:
		return "±"
	}
	return "?"
}

// A pageConclusion is a conclusion on the page.
type pageConclusion struct {
	result.Conclusion
	Answers result.Answers
	Claims  sheet
}

func pageConclusions(results []*result.Result) []pageConclusion {
	return each(result.Conclusions(results), func(c result.Conclusion) pageConclusion {
		return pageConclusion{c, result.AnswersOf(c.Verdicts), claims(c.Verdicts)}
	})
}

// claims returns verdicts as text, the answer with its symbol first.
func claims(verdicts []result.Verdict) sheet {
	s := sheet{Name: "Claims", Named: 2, grid: grid{head: []string{"answer", "case", "claim", "figures"}}}
	for _, v := range verdicts {
		s.rows = append(s.rows, []string{sign(v.Answer) + " " + string(v.Answer), v.Case, verdictText(v), figuresText(v)})
	}
	return s
}

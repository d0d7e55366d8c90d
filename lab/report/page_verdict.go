package report

import (
	"html/template"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/result"
)

// shares draws how many claims have which answer.
func shares(a result.Answers) template.HTML {
	return template.HTML(chart.Shares{{Look: chart.Strong, Part: a.Yes}, {Look: chart.Accent, Part: a.No}, {Look: chart.Plain, Part: a.NotSure}}.SVG())
}

// sign is the picture of an answer.
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

// A finding is a conclusion as the page shows it.
type finding struct {
	result.Conclusion
	Answers result.Answers
	Claims  sheet
}

func findings(results []*result.Result) []finding {
	return each(result.Conclusions(results), func(c result.Conclusion) finding {
		return finding{c, result.AnswersOf(c.Verdicts), claims(c.Verdicts)}
	})
}

// claims are verdicts in words. The answer is first, with its sign.
func claims(verdicts []result.Verdict) sheet {
	s := sheet{Name: "Claims", Named: 2, grid: grid{head: []string{"answer", "case", "claim", "figures"}}}
	for _, v := range verdicts {
		s.rows = append(s.rows, []string{sign(v.Answer) + " " + string(v.Answer), v.Case, verdictText(v), figuresText(v)})
	}
	return s
}

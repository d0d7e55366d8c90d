package report

import (
	"html/template"

	"github.com/stint-go/stint/lab/chart"
)

// Shares draws how many claims have which answer.
func (a answers) Shares() template.HTML {
	return template.HTML(chart.Shares{{Look: chart.Strong, Part: a.Yes}, {Look: chart.Accent, Part: a.No}, {Look: chart.Plain, Part: a.NotSure}}.SVG())
}

// sign is the picture of an answer.
func sign(a Answer) string {
	switch a {
	case Yes:
		return "✓"
	case No:
		return "✗"
	case inPart:
		return "±"
	}
	return "?"
}

// A finding is a conclusion as the page shows it.
type finding struct {
	Conclusion
	Answers answers
	Claims  sheet
}

func findings(results []*Result) []finding {
	return each(Conclusions(results), func(c Conclusion) finding {
		return finding{c, answersOf(c.Verdicts), claims(c.Verdicts)}
	})
}

// claims are verdicts in words. The answer is first, with its sign.
func claims(verdicts []Verdict) sheet {
	s := sheet{Name: "Claims", Named: 2, grid: grid{head: []string{"answer", "case", "claim", "figures"}}}
	for _, v := range verdicts {
		s.rows = append(s.rows, []string{sign(v.Answer) + " " + string(v.Answer), v.Case, v.Text(), v.figures()})
	}
	return s
}

// Head is what the columns are.
func (g grid) Head() []string { return g.head }

// Rows are the rows.
func (g grid) Rows() [][]string { return g.rows }

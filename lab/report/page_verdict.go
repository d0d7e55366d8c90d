package report

import (
	"html/template"

	"github.com/stint-go/stint/lab/chart"
)

// answers are how many claims have which answer.
type answers struct{ Yes, No, NotSure int }

func answersOf(verdicts []Verdict) answers {
	count := tallied(verdicts)
	return answers{count[Yes], count[No], count[NotSure]}
}

// All is how many claims there are.
func (a answers) All() int { return a.Yes + a.No + a.NotSure }

// Shares draws them.
func (a answers) Shares() template.HTML {
	return template.HTML(chart.Shares{{Look: chart.Strong, Part: a.Yes}, {Look: chart.Accent, Part: a.No}, {Look: chart.Plain, Part: a.NotSure}}.SVG())
}

// Together is what the claims say as one: the answer of all, in part if some
// have yes and some no, and not sure otherwise.
func (a answers) Together() Answer {
	switch {
	case a.Yes > 0 && a.No > 0:
		return inPart
	case a.NotSure > 0 || a.All() == 0:
		return NotSure
	case a.No > 0:
		return No
	}
	return Yes
}

// inPart is the answer of claims that have different ones.
const inPart Answer = "in part"

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
	s := sheet{Name: "Claims", grid: grid{head: []string{"answer", "case", "claim", "figures"}}}
	for _, v := range verdicts {
		s.rows = append(s.rows, []string{sign(v.Answer) + " " + string(v.Answer), v.Case, v.Text(), v.figures()})
	}
	return s
}

// Head is what the columns are.
func (g grid) Head() []string { return g.head }

// Rows are the rows.
func (g grid) Rows() [][]string { return g.rows }

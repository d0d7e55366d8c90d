package report

import (
	"html/template"
	"slices"

	"github.com/stint-go/stint/lab/chart"
)

// tallied is how many claims have which answer.
type tallied struct{ Yes, No, NotSure int }

func tally(verdicts []Verdict) tallied {
	var t tallied
	for _, v := range verdicts {
		switch v.Answer {
		case Yes:
			t.Yes++
		case No:
			t.No++
		default:
			t.NotSure++
		}
	}
	return t
}

// All is how many claims there are.
func (t tallied) All() int { return t.Yes + t.No + t.NotSure }

// Shares draws them.
func (t tallied) Shares() template.HTML {
	return template.HTML(chart.Shares{{Look: chart.Strong, Part: t.Yes}, {Look: chart.Accent, Part: t.No}, {Look: chart.Plain, Part: t.NotSure}}.SVG())
}

// Answer is what the claims say together: one answer if all have it, "in part"
// if some have yes and some have no, or else the one that the sure ones have.
func (t tallied) Answer() Answer {
	switch {
	case t.Yes > 0 && t.No > 0:
		return inPart
	case t.NotSure > 0 || t.All() == 0:
		return NotSure
	case t.No > 0:
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

// A conclusion is a sentence with the claims that stand for it.
type conclusion struct {
	Text        string
	Experiments []string
	Tally       tallied
	Claims      table
}

// conclusions gathers the claims of all experiments by their sentences, in the
// order in which these come.
func conclusions(results []*Result) []conclusion {
	var out []conclusion
	verdicts := map[string][]Verdict{}
	for _, r := range results {
		for _, v := range r.Verdicts {
			if v.Conclusion == "" {
				continue
			}
			if verdicts[v.Conclusion] == nil {
				out = append(out, conclusion{Text: v.Conclusion})
			}
			verdicts[v.Conclusion] = append(verdicts[v.Conclusion], v)
			i := slices.IndexFunc(out, func(c conclusion) bool { return c.Text == v.Conclusion })
			if !slices.Contains(out[i].Experiments, r.Experiment) {
				out[i].Experiments = append(out[i].Experiments, r.Experiment)
			}
		}
	}
	for i := range out {
		out[i].Tally = tally(verdicts[out[i].Text])
		out[i].Claims = claims(verdicts[out[i].Text])
	}
	return out
}

// claims are verdicts as a table. The answer is first, with its sign.
func claims(verdicts []Verdict) table {
	t := table{Name: "Claims", grid: grid{head: []string{"answer", "case", "claim", "figures"}}}
	for _, v := range verdicts {
		t.rows = append(t.rows, []string{sign(v.Answer) + " " + string(v.Answer), v.Case, v.Text(), v.figures()})
	}
	return t
}

// Head is what the columns are.
func (g grid) Head() []string { return g.head }

// Rows are the rows.
func (g grid) Rows() [][]string { return g.rows }

package result

import "slices"

// A Conclusion is a sentence, of an article or ours, with the verdicts on all
// claims that support it.
type Conclusion struct {
	Article     Article // whose it is; empty: ours
	Text        string
	Experiments []string // of the claims
	Verdicts    []Verdict
}

// Conclusions groups verdicts by article and conclusion: first those of the articles, in
// their order, then ours, each in order of first appearance. Claims without one are left
// out.
func Conclusions(results []*Result) []Conclusion {
	var out []Conclusion
	for _, r := range results {
		for _, v := range r.Verdicts {
			if v.Conclusion == "" {
				continue
			}
			i := slices.IndexFunc(out, func(c Conclusion) bool { return c.Article == v.Article && c.Text == v.Conclusion })
			if i < 0 {
				i = len(out)
				out = append(out, Conclusion{Article: v.Article, Text: v.Conclusion})
			}
			c := &out[i]
			c.Verdicts = append(c.Verdicts, v)
			if !slices.Contains(c.Experiments, r.Experiment) {
				c.Experiments = append(c.Experiments, r.Experiment)
			}
		}
	}
	order := append(Articles(), "")
	slices.SortStableFunc(out, func(a, b Conclusion) int { return slices.Index(order, a.Article) - slices.Index(order, b.Article) })
	return out
}

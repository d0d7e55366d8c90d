package result

import "slices"

// A Conclusion is a sentence, of an article or ours, with the verdicts on all
// claims that support it.
type Conclusion struct {
	Text        string
	Experiments []string // of the claims
	Verdicts    []Verdict
}

// Conclusions groups verdicts by conclusion, in order of first appearance.
// Claims without one are left out.
func Conclusions(results []*Result) []Conclusion {
	var out []Conclusion
	index := map[string]int{}
	for _, r := range results {
		for _, v := range r.Verdicts {
			if v.Conclusion == "" {
				continue
			}
			i, ok := index[v.Conclusion]
			if !ok {
				i = len(out)
				index[v.Conclusion] = i
				out = append(out, Conclusion{Text: v.Conclusion})
			}
			out[i].add(v, r.Experiment)
		}
	}
	return out
}

// add adds a verdict of an experiment.
func (c *Conclusion) add(v Verdict, experiment string) {
	c.Verdicts = append(c.Verdicts, v)
	if !slices.Contains(c.Experiments, experiment) {
		c.Experiments = append(c.Experiments, experiment)
	}
}

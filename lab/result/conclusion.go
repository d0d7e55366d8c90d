package result

import "slices"

// A Conclusion is a sentence, of an article or of ours, with the verdicts on
// all the claims that stand for it.
type Conclusion struct {
	Text        string
	Experiments []string // that the claims are of
	Verdicts    []Verdict
}

// Conclusions groups verdicts by the sentence that they stand for, in the order
// in which the sentences come. Claims that stand for none are left out.
func Conclusions(results []*Result) []Conclusion {
	var out []Conclusion
	place := map[string]int{}
	for _, r := range results {
		for _, v := range r.Verdicts {
			if v.Conclusion == "" {
				continue
			}
			i, ok := place[v.Conclusion]
			if !ok {
				i = len(out)
				place[v.Conclusion] = i
				out = append(out, Conclusion{Text: v.Conclusion})
			}
			out[i].add(v, r.Experiment)
		}
	}
	return out
}

// add puts a verdict of an experiment to the others.
func (c *Conclusion) add(v Verdict, experiment string) {
	c.Verdicts = append(c.Verdicts, v)
	if !slices.Contains(c.Experiments, experiment) {
		c.Experiments = append(c.Experiments, experiment)
	}
}

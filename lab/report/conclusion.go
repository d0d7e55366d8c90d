package report

import (
	"fmt"
	"slices"
	"strings"
)

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
			c := &out[i]
			if !slices.Contains(c.Experiments, r.Experiment) {
				c.Experiments = append(c.Experiments, r.Experiment)
			}
			c.Verdicts = append(c.Verdicts, v)
		}
	}
	return out
}

// Tally is the answer, or how often each was given where they differ.
func (c Conclusion) Tally() string {
	count := tallied(c.Verdicts)
	var words []string
	for _, a := range []Answer{Yes, No, NotSure} {
		switch n := count[a]; {
		case n == 0:
		case n == len(c.Verdicts):
			return string(a)
		default:
			words = append(words, fmt.Sprintf("%d %s", n, a))
		}
	}
	return strings.Join(words, ", ")
}

// told is how many figures of a conclusion are told one by one.
const told = 3

// figures are what a conclusion rests on: all of them if they are few, and if
// not the least and the greatest median of those that are alike.
func (c Conclusion) figures() string {
	var words []string
	if len(c.Verdicts) <= told {
		for _, v := range c.Verdicts {
			words = append(words, fmt.Sprintf("%s: %s: %s", v.Case, v.Text(), v.figures()))
		}
		return strings.Join(words, "; ")
	}
	rest := c.Verdicts
	for len(rest) > 0 {
		var alike, others []Verdict
		for _, v := range rest {
			if v.Form == rest[0].Form && v.Unit == rest[0].Unit {
				alike = append(alike, v)
			} else {
				others = append(others, v)
			}
		}
		words = append(words, between(alike))
		rest = others
	}
	return strings.Join(words, "; ")
}

// between says where the medians of verdicts of one form and unit lie.
func between(verdicts []Verdict) string {
	var medians []float64
	for _, v := range verdicts {
		if v.Figures.N > 0 {
			medians = append(medians, v.Figures.Median)
		}
	}
	what, form := describe(verdicts[0].Unit), verdicts[0].Form
	if len(medians) == 0 {
		return what.name + " not measured"
	}
	format := form.format(what)
	text := format(slices.Min(medians)) + " to " + format(slices.Max(medians))
	switch form {
	case Speedup:
		return text + " x as fast"
	case Difference:
		return what.name + " " + text + " more"
	case Value:
		return what.name + " " + text
	}
	return what.name + " x " + text
}

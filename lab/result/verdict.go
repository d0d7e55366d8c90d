package result

import (
	"math"
	"slices"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
)

// A Claim is a bar that a model must not be above, or as a Speedup, below.
type Claim struct {
	Case    string       `json:"case"`
	Model   string       `json:"model"`
	Unit    measure.Unit `json:"unit"`
	Form    Form         `json:"form"`
	Than    string       `json:"than,omitempty"`      // the model it is compared with, BestPeer or BestBounded
	InCase  string       `json:"than_case,omitempty"` // that one's case, if it is another
	Bar     float64      `json:"bar"`
	Stretch float64      `json:"stretch,omitempty"` // a harder bar, for the record; 0: none
	Note    string       `json:"note,omitempty"`    // where the bar comes from, or what is missing

	// Conclusion is a sentence that the claim stands for, of the article that the
	// experiment is from, or of ours. Claims that stand for the same sentence have
	// the same one.
	Conclusion string `json:"conclusion,omitempty"`
}

// A Form says what of the figures is held against the bar.
type Form string

// The forms. Those that compare take the rounds as pairs.
const (
	Ratio      Form = "ratio"      // at most Bar times the other model
	Speedup    Form = "speedup"    // the other model at least Bar times this one
	Difference Form = "difference" // at most Bar more than the other model
	Value      Form = "value"      // at most Bar
	Worst      Form = "worst"      // at most Bar times the other model in each round
)

// Names that stand for the peer with the smallest median in the case, other than
// the model that the claim is about.
const (
	BestPeer    = "best peer"
	BestBounded = "best bounded peer" // of those that do not run everything at once
)

// An Answer is what the figures say about a bar.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"      // the whole interval keeps to the bar, or the worst of the rounds
	No      Answer = "no"       // none of it does
	NotSure Answer = "not sure" // the bar lies inside, or there are too few samples
	InPart  Answer = "in part"  // of several claims some have yes and some no
)

// A Verdict is a claim with its answers and the figures that they rest on.
type Verdict struct {
	Claim
	Against string         `json:"against,omitempty"` // which peer was the best, of a claim about that
	Answer  Answer         `json:"answer"`
	Further Answer         `json:"stretch_answer,omitempty"`
	Figures stats.Estimate `json:"figures"`
}

// judge measures a claim by the rows.
func (r *Result) judge(c Claim) Verdict {
	v := Verdict{Claim: c}
	row, than := r.Row(c.Case, c.Model), r.than(c)
	if than != nil && than.Model != c.Than {
		v.Against = than.Model
	}
	values, base := row.values(c.Unit), than.values(c.Unit)
	switch c.Form {
	case Ratio:
		v.Figures = stats.Median(stats.Ratios(values, base))
	case Speedup:
		v.Figures = stats.Median(stats.Ratios(base, values))
	case Difference:
		v.Figures = stats.Median(stats.Differences(values, base))
	case Value:
		v.Figures = stats.Median(values)
	case Worst:
		v.Figures = worst(stats.Ratios(values, base))
	}
	if math.IsNaN(v.Figures.Median) || math.IsInf(v.Figures.Median, 0) {
		v.Figures = stats.Estimate{} // a ratio to nothing
	}
	v.Answer = answer(v.Figures, c.Bar, c.Form)
	if c.Stretch != 0 {
		v.Further = answer(v.Figures, c.Stretch, c.Form)
	}
	return v
}

// than returns the row that a claim compares with, or nil.
func (r *Result) than(c Claim) *Row {
	kase := c.Case
	if c.InCase != "" {
		kase = c.InCase
	}
	may := map[string]func(Model) bool{BestPeer: Model.IsPeer, BestBounded: Model.isBounded}[c.Than]
	if may == nil {
		return r.Row(kase, c.Than)
	}
	return r.Best(kase, c.Unit, func(m Model) bool { return may(m) && (m.Name != c.Model || kase != c.Case) })
}

// worst is the largest value, as what was seen and not as an estimate.
func worst(values []float64) stats.Estimate {
	if len(values) == 0 {
		return stats.Estimate{}
	}
	return stats.Estimate{N: len(values), Median: slices.Max(values)}
}

// worstAnswer is what the worst of some rounds says about a bar.
func worstAnswer(worst stats.Estimate, bar float64) Answer {
	switch {
	case worst.N < fewest:
		return NotSure
	case worst.Median <= bar:
		return Yes
	}
	return No
}

func answer(e stats.Estimate, bar float64, f Form) Answer {
	if f == Worst {
		return worstAnswer(e, bar)
	}
	in := e.Interval
	if in == nil {
		return NotSure
	}
	lo, hi := in.Lo, in.Hi
	if f == Speedup { // more is better
		lo, hi, bar = -hi, -lo, -bar
	}
	switch {
	case hi <= bar:
		return Yes
	case lo > bar:
		return No
	}
	return NotSure
}

// Answers are how many claims have which answer.
type Answers struct{ Yes, No, NotSure int }

// AnswersOf counts those of verdicts.
func AnswersOf(verdicts []Verdict) Answers {
	var a Answers
	for _, v := range verdicts {
		switch v.Answer {
		case Yes:
			a.Yes++
		case No:
			a.No++
		case NotSure:
			a.NotSure++
		}
	}
	return a
}

// All is how many claims there are.
func (a Answers) All() int { return a.Yes + a.No + a.NotSure }

// Together is what the claims say as one. A sentence holds if all of its claims
// do: one no refutes it, whatever is open beside it, and it holds in part if
// others have yes.
func (a Answers) Together() Answer {
	switch {
	case a.No > 0 && a.Yes > 0:
		return InPart
	case a.No > 0:
		return No
	case a.NotSure > 0 || a.All() == 0:
		return NotSure
	}
	return Yes
}

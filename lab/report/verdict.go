package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
)

// A Claim is a bar that a model must not be above, or under At least, below.
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
	Yes     Answer = "yes"      // the whole interval keeps to the bar
	No      Answer = "no"       // none of it does
	NotSure Answer = "not sure" // the bar lies inside, or there is no interval
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
	row, than := r.row(c.Case, c.Model), r.than(c)
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
	may := map[string]func(Model) bool{BestPeer: peer, BestBounded: bounded}[c.Than]
	if may == nil {
		return r.row(kase, c.Than)
	}
	return r.best(kase, c.Unit, func(m Model) bool { return may(m) && (m.Name != c.Model || kase != c.Case) })
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

// Text says what is claimed, with its note and without the case.
func (c Claim) Text() string {
	if c.Note != "" {
		return c.bare() + " (" + c.Note + ")"
	}
	return c.bare()
}

// bare is Text without the note.
func (c Claim) bare() string {
	than := c.Than
	if c.InCase != "" {
		than += " in " + c.InCase
	}
	what := describe(c.Unit)
	text := ""
	switch c.Form {
	case Ratio:
		text = fmt.Sprintf("%s at most %.3g x %s", what.name, c.Bar, than)
	case Worst:
		text = fmt.Sprintf("%s at most %.3g x %s in each round", what.name, c.Bar, than)
	case Speedup:
		text = fmt.Sprintf("at least %.3g x as fast as %s", c.Bar, than)
	case Difference:
		text = fmt.Sprintf("%s at most %s more than %s", what.name, what.format(c.Bar), than)
	case Value:
		text = fmt.Sprintf("%s at most %s", what.name, what.format(c.Bar))
	}
	return c.Model + ": " + text
}

// Text is that of the claim, with the peer that was the best.
func (v Verdict) Text() string { return v.Claim.Text() + v.best() }

// best names the best peer, of a claim about that.
func (v Verdict) best() string {
	if v.Against == "" {
		return ""
	}
	return " (it is " + v.Against + ")"
}

// text is the claim in its case and what the verdict rests on.
func (v Verdict) text() string { return v.Case + ": " + v.Text() + ": " + v.figures() }

// figures writes what a verdict rests on.
func (v Verdict) figures() string {
	format := v.Form.format(describe(v.Unit))
	text := interval(v.Figures, format)
	if v.Form == Worst && v.Figures.N > 0 {
		text = fmt.Sprintf("%s at worst, n = %d", format(v.Figures.Median), v.Figures.N)
	}
	if v.Further != "" {
		text += fmt.Sprintf("; stretch %s: %s", format(v.Stretch), v.Further)
	}
	return text
}

// format is how the figures of a form are written.
func (f Form) format(of column) func(float64) string {
	if f == Value || f == Difference {
		return of.format
	}
	return times
}

// tallied counts the answers.
func tallied(verdicts []Verdict) map[Answer]int {
	count := map[Answer]int{}
	for _, v := range verdicts {
		count[v.Answer]++
	}
	return count
}

// tally counts the answers in words.
func (r *Result) tally() string {
	count := tallied(r.Verdicts)
	return fmt.Sprintf("%d claims: %d yes, %d no, %d not sure", len(r.Verdicts), count[Yes], count[No], count[NotSure])
}

package result

import (
	"cmp"
	"math"
	"slices"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
)

// A Claim is a bar that a model must stay below, or for Speedup reach.
type Claim struct {
	Case   string       `json:"case"`            // or what Cases are
	Cases  []string     `json:"cases,omitempty"` // of Ratio: it is the geometric mean of the ratios in these
	Model  string       `json:"model"`
	Unit   measure.Unit `json:"unit"`
	Form   Form         `json:"form"`
	Than   string       `json:"than,omitempty"`      // model to compare with, BestPeer, BestBounded or BestSwept
	InCase string       `json:"than_case,omitempty"` // case of Than, if it is another
	Bar    float64      `json:"bar"`
	Note   string       `json:"note,omitempty"` // origin of the bar

	// Conclusion is the sentence that the claim supports, of the experiment's
	// article or ours. Several claims may support the same sentence.
	Conclusion string  `json:"conclusion,omitempty"`
	Article    Article `json:"article,omitempty"` // whose conclusion it is; empty: ours
}

// A Form says which figure is compared with the bar.
type Form string

// The forms. Comparisons pair the values by round.
const (
	Ratio      Form = "ratio"      // at most Bar times the other model
	Speedup    Form = "speedup"    // the other model takes at least Bar times as long
	Difference Form = "difference" // at most Bar more than the other model
	Value      Form = "value"      // at most Bar
)

// Names for the peer with the smallest median in the case, other than the
// claim's own model.
const (
	BestPeer    = "best peer"
	BestBounded = "best bounded peer" // among peers with a limit
	BestSwept   = "best of the sweep" // among peers that differ in one number
)

// An Answer compares the figures with a bar.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"      // the whole interval meets the bar
	No      Answer = "no"       // no part of the interval does
	NotSure Answer = "not sure" // the bar is inside the interval, or there are too few samples
	InPart  Answer = "in part"  // some claims of several have yes, some no
)

// A Verdict is a claim with its answers and the figures behind them.
type Verdict struct {
	Claim
	Against string         `json:"against,omitempty"` // the best peer, if the claim is about it
	Answer  Answer         `json:"answer"`
	Figures stats.Estimate `json:"figures"`
}

// IsBest reports whether the claim compares with the best of some models.
func (c Claim) IsBest() bool { return eligible[c.Than] != nil }

// eligible are the models among which the best is sought.
var eligible = map[string]func(Model) bool{
	BestPeer:    Model.IsPeer,
	BestBounded: func(m Model) bool { return m.IsPeer() && !m.Unbounded },
	BestSwept:   func(m Model) bool { return m.IsPeer() && m.Sweep != "" },
}

// judge judges a claim.
func (r *Result) judge(c Claim) Verdict {
	v := Verdict{Claim: c}
	row, baseline := r.Row(c.Case, c.Model), r.baseline(c)
	if baseline != nil && baseline.Model != c.Than {
		v.Against = baseline.Model
	}
	values, base := row.values(c.Unit), baseline.values(c.Unit)
	switch c.Form {
	case Ratio:
		values = stats.Ratios(values, base)
		if len(c.Cases) > 0 {
			values = r.meanRatios(c)
		}
	case Speedup:
		values = stats.Ratios(base, values)
	case Difference:
		values = stats.Differences(values, base)
	}
	v.Figures = stats.Median(values)
	if math.IsNaN(v.Figures.Median) || math.IsInf(v.Figures.Median, 0) {
		v.Figures = stats.Estimate{} // division by zero
	}
	v.Answer = answer(v.Figures, c.Bar, c.Form)
	return v
}

// meanRatios returns the geometric means of the ratios in the cases of a claim, one for
// each round that all of them have, or none if a case lacks a row.
func (r *Result) meanRatios(c Claim) []float64 {
	var means []float64
	for i, kase := range c.Cases {
		c.Case = kase
		ratios := stats.Ratios(r.Row(kase, c.Model).values(c.Unit), r.baseline(c).values(c.Unit))
		if i == 0 {
			means = slices.Repeat([]float64{1}, len(ratios))
		}
		means = means[:min(len(means), len(ratios))]
		for round := range means {
			means[round] *= math.Pow(ratios[round], 1/float64(len(c.Cases)))
		}
	}
	return means
}

// baseline returns the row that a claim compares with, or nil.
func (r *Result) baseline(c Claim) *Row {
	kase := cmp.Or(c.InCase, c.Case)
	if !c.IsBest() {
		return r.Row(kase, c.Than)
	}
	return r.Best(kase, c.Unit, func(m Model) bool { return eligible[c.Than](m) && (m.Name != c.Model || kase != c.Case) })
}

// Conclude judges the claims and computes the warnings. It drops rows without
// samples, which an interrupt leaves behind.
func (r *Result) Conclude(claims []Claim) {
	r.Rows = slices.DeleteFunc(r.Rows, func(row Row) bool { return len(row.Samples) == 0 })
	r.Verdicts = nil
	for _, c := range claims {
		r.Verdicts = append(r.Verdicts, r.judge(c))
	}
	r.Warnings = r.warnings()
}

func answer(e stats.Estimate, bar float64, f Form) Answer {
	in := e.Interval
	if in == nil {
		return NotSure
	}
	lo, hi := in.Lo, in.Hi
	if f == Speedup { // larger is better
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

// Answers counts claims by answer.
type Answers struct{ Yes, No, NotSure int }

// AnswersOf counts the answers of verdicts.
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

// All returns the number of claims.
func (a Answers) All() int { return a.Yes + a.No + a.NotSure }

// Combined returns the answer of the claims together. A sentence holds if all
// its claims hold. A single no refutes it, or makes it hold in part if others
// are yes.
func (a Answers) Combined() Answer {
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

package result

import (
	"math"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
)

// A Row holds the samples of one model in one case, or in a summary their estimates.
type Row struct {
	Case    string           `json:"case"`
	Model   string           `json:"model"`
	Samples []measure.Sample `json:"samples,omitempty"` // one per round; none in a summary

	// Medians and Ratios replace the samples in a summary. The ratios are by model, and
	// paired by round, to the case's reference and, of our times, to its fastest peer.
	Medians map[measure.Unit]stats.Estimate            `json:"medians,omitempty"`
	Ratios  map[string]map[measure.Unit]stats.Estimate `json:"ratios,omitempty"`
}

// N returns the number of rounds.
func (r *Row) N() int {
	n := len(r.Samples)
	for _, e := range r.Medians {
		n = max(n, e.N)
	}
	return n
}

// measured returns the values of a unit, of the rounds that measured it.
func (r *Row) measured(u measure.Unit) []float64 {
	if r == nil {
		return nil
	}
	var out []float64
	for _, s := range r.Samples {
		if v, ok := s[u]; ok {
			out = append(out, v)
		}
	}
	return out
}

// values returns the values of a unit, one per round, to be paired with another
// row's. It returns none unless every round measured the unit.
func (r *Row) values(u measure.Unit) []float64 {
	if out := r.measured(u); r != nil && len(out) == len(r.Samples) {
		return out
	}
	return nil
}

// Median estimates the median of a unit.
func (r *Row) Median(u measure.Unit) stats.Estimate {
	if r != nil && r.Medians != nil {
		return r.Medians[u]
	}
	return stats.Median(r.measured(u))
}

// Ratio estimates the ratio of r's values to base's, paired by round. In a summary that
// does not have it, it is the quotient of the medians.
func (r *Row) Ratio(base *Row, u measure.Unit) stats.Estimate {
	if r == nil || base == nil || r.Medians == nil {
		return stats.Median(stats.Ratios(r.values(u), base.values(u)))
	}
	if e, ok := r.Ratios[base.Model][u]; ok && r.Case == base.Case {
		return e
	}
	e := r.Median(u)
	if r == base && e.Interval != nil {
		return stats.Estimate{N: e.N, Median: 1, Interval: &stats.Interval{Lo: 1, Hi: 1, Confidence: e.Interval.Confidence}}
	}
	return stats.Quotient(e, base.Median(u))
}

// Change compares the row with the same row of an earlier run. The medians are compared
// if one of them is of a summary.
func (r *Row) Change(old *Row, u measure.Unit) stats.Change {
	if r != nil && r.Medians != nil || old != nil && old.Medians != nil {
		return stats.CompareEstimates(old.Median(u), r.Median(u))
	}
	return stats.Compare(old.measured(u), r.measured(u))
}

// Best returns the row with the smallest median among the eligible models of a
// case, or nil.
func (r *Result) Best(kase string, u measure.Unit, eligible func(Model) bool) *Row {
	var best *Row
	least := 0.0
	for _, row := range r.In(kase) {
		e := row.Median(u)
		if eligible(r.Model(row.Model)) && e.N > 0 && (best == nil || e.Median < least) {
			best, least = row, e.Median
		}
	}
	return best
}

// A Loss is a row of ours whose case has a faster peer.
type Loss struct {
	Case, Model, Peer string
	Ratio             stats.Estimate // of the times, ours to the peer's
}

// Sure reports whether the whole interval shows that the peer is faster.
func (l Loss) Sure() bool { return l.Ratio.Interval != nil && l.Ratio.Interval.Lo > 1 }

// Losses returns the rows of ours with a larger median than the fastest peer's.
func (r *Result) Losses() []Loss {
	var out []Loss
	for _, c := range r.Cases {
		peer := r.Best(c.Name, measure.Time, Model.IsPeer)
		if peer == nil {
			continue
		}
		for _, row := range r.In(c.Name) {
			ratio := row.Ratio(peer, measure.Time)
			if r.Kind(row.Model) == Ours && ratio.N > 0 && ratio.Median > 1 {
				out = append(out, Loss{c.Name, row.Model, peer.Model, ratio})
			}
		}
	}
	return out
}

// Summarize returns a summary of r, which holds estimates instead of samples. A summary
// is its own.
func (r *Result) Summarize() *Result {
	if r.Summary {
		return r
	}
	out := *r
	out.Summary, out.Rows = true, nil
	for _, c := range r.Cases {
		reference, peer := r.Row(c.Name, c.Reference), r.Best(c.Name, measure.Time, Model.IsPeer)
		for _, row := range r.In(c.Name) {
			if r.Kind(row.Model) == Ours {
				out.Rows = append(out.Rows, row.summarize(reference, peer))
			} else {
				out.Rows = append(out.Rows, row.summarize(reference, nil))
			}
		}
	}
	return &out
}

// summarize returns the row's estimates, with its ratios to two others, which may be nil.
func (r *Row) summarize(reference, peer *Row) Row {
	out := Row{Case: r.Case, Model: r.Model, Medians: map[measure.Unit]stats.Estimate{}, Ratios: map[string]map[measure.Unit]stats.Estimate{}}
	ratio := func(base *Row, u measure.Unit) {
		if base == nil || base == r {
			return
		}
		if e := r.Ratio(base, u); e.N > 0 && !math.IsNaN(e.Median) && !math.IsInf(e.Median, 0) { // not a division by zero
			if out.Ratios[base.Model] == nil {
				out.Ratios[base.Model] = map[measure.Unit]stats.Estimate{}
			}
			out.Ratios[base.Model][u] = e
		}
	}
	for _, s := range r.Samples {
		for u := range s {
			if _, ok := out.Medians[u]; !ok {
				out.Medians[u] = r.Median(u)
				ratio(reference, u)
			}
		}
	}
	ratio(peer, measure.Time)
	return out
}

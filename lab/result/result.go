// Package result holds what an experiment found and judges it: claims get their
// verdicts, doubts become warnings. It writes all of that as JSON Lines, and reads
// them back. How it looks to a reader is the matter of package report.
package result

import (
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
)

// A Result is what one experiment found.
type Result struct {
	Experiment string          `json:"experiment"`
	Command    string          `json:"command"` // what to type for the same run
	Workload   string          `json:"workload"`
	Quick      bool            `json:"quick"`
	Unfinished string          `json:"unfinished,omitempty"` // why it ended early: cases may be missing
	Processors int             `json:"processors"`           // that the models were told to use
	Machine    measure.Machine `json:"machine"`
	Tools      []string        `json:"tools,omitempty"` // versions of what is compared with
	Notes      []string        `json:"notes,omitempty"` // how to read the figures
	Models     []Model         `json:"models"`
	Cases      []Case          `json:"cases"`

	Rows     []Row     `json:"-"`
	Verdicts []Verdict `json:"-"`
	Warnings []Warning `json:"-"`
}

// A Model is one way to do the work.
type Model struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Doc  string `json:"doc"` // the command, or what is used of a library

	// Unbounded models run everything at once: what they win in time they pay
	// in what they hold and what they ask of others.
	Unbounded bool `json:"unbounded,omitempty"`

	// Models of the same Sweep differ in one number, At: how many workers, say.
	// In a case they are points of a curve.
	Sweep string  `json:"sweep,omitempty"`
	At    float64 `json:"at,omitempty"`
}

// IsPeer reports whether m is one of the others.
func (m Model) IsPeer() bool { return m.Kind == Peer }

// IsChoice reports whether m is what one could use: ours or a peer, no floor.
func (m Model) IsChoice() bool { return m.Kind == Ours || m.IsPeer() }

// isBounded reports whether m is a peer that does not run everything at once.
func (m Model) isBounded() bool { return m.IsPeer() && !m.Unbounded }

// A Kind says whose a model is.
type Kind string

// The kinds.
const (
	Ours  Kind = "ours"
	Peer  Kind = "peer"  // a tool or a library, or what people write by hand
	Floor Kind = "floor" // not an alternative: what the others can at best come near to
)

// A Case is one setting in which models are compared.
type Case struct {
	Name       string `json:"case"`                 // key=value, as in the name of a benchmark
	Doc        string `json:"doc"`                  // what an op is
	Reference  string `json:"reference"`            // the model that the others are compared with
	Ops        int    `json:"ops"`                  // a sample
	Count      int    `json:"count"`                // samples that were asked for
	Processors int    `json:"processors,omitempty"` // other than the result's

	// Main cases are those that a summary shows. Where none is, it is the first.
	Main bool `json:"main,omitempty"`
}

// A Row holds the samples of one model in one case.
type Row struct {
	Case    string
	Model   string
	Samples []measure.Sample // one a round
}

// Measured returns the values of one unit, of the rounds in which it was
// measured.
func (r *Row) Measured(u measure.Unit) []float64 {
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

// values returns those of one unit, one a round, to be paired with another
// row's. It is empty unless the unit was measured in each.
func (r *Row) values(u measure.Unit) []float64 {
	if out := r.Measured(u); r != nil && len(out) == len(r.Samples) {
		return out
	}
	return nil
}

// Median estimates the median of one unit.
func (r *Row) Median(u measure.Unit) stats.Estimate { return stats.Median(r.Measured(u)) }

// Ratio estimates how much of base's values those of r are, the rounds taken
// as pairs.
func (r *Row) Ratio(base *Row, u measure.Unit) stats.Estimate {
	return stats.Median(stats.Ratios(r.values(u), base.values(u)))
}

// Row returns the row of a model in a case, or nil.
func (r *Result) Row(kase, model string) *Row {
	for i := range r.Rows {
		if r.Rows[i].Case == kase && r.Rows[i].Model == model {
			return &r.Rows[i]
		}
	}
	return nil
}

// In returns the rows of a case.
func (r *Result) In(kase string) []*Row {
	var out []*Row
	for i := range r.Rows {
		if r.Rows[i].Case == kase {
			out = append(out, &r.Rows[i])
		}
	}
	return out
}

// Model returns what is known of a model.
func (r *Result) Model(name string) Model {
	for _, m := range r.Models {
		if m.Name == name {
			return m
		}
	}
	return Model{}
}

// Kind returns the kind of a model.
func (r *Result) Kind(model string) Kind { return r.Model(model).Kind }

// Main returns the cases that a summary shows.
func (r *Result) Main() []Case {
	var out []Case
	for _, c := range r.Cases {
		if c.Main {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		out = r.Cases[:min(1, len(r.Cases))]
	}
	return out
}

// ProcessorsOf returns how many those of a case were told to use.
func (r *Result) ProcessorsOf(c Case) int {
	if c.Processors > 0 {
		return c.Processors
	}
	return r.Processors
}

// Best returns the row with the smallest median of a unit in a case, of the
// models that may be it, or nil.
func (r *Result) Best(kase string, u measure.Unit, may func(Model) bool) *Row {
	var best *Row
	least := 0.0
	for _, row := range r.In(kase) {
		e := row.Median(u)
		if may(r.Model(row.Model)) && e.N > 0 && (best == nil || e.Median < least) {
			best, least = row, e.Median
		}
	}
	return best
}

// Conclude judges the claims and looks for doubts. Rows without samples are
// dropped: those that an interrupt came before.
func (r *Result) Conclude(claims []Claim) {
	var rows []Row
	for _, row := range r.Rows {
		if len(row.Samples) > 0 {
			rows = append(rows, row)
		}
	}
	r.Rows, r.Verdicts, r.Warnings = rows, nil, nil
	for _, c := range claims {
		r.Verdicts = append(r.Verdicts, r.judge(c))
	}
	r.Warnings = r.doubts()
}

// A Loss is a row of ours with the fastest peer of its case, where that is
// faster.
type Loss struct {
	Case, Model, Peer string
	Ratio             stats.Estimate // of the times, ours over the peer's
}

// Sure reports whether the interval leaves no doubt that the peer is faster.
func (l Loss) Sure() bool { return l.Ratio.Interval != nil && l.Ratio.Interval.Lo > 1 }

// Losses returns the rows in which a peer's median is smaller than ours.
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

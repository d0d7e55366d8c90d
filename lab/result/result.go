// Package result holds the result of an experiment and judges it: claims get
// verdicts, and doubtful figures get warnings. It writes results as JSON Lines
// and reads them. Package report formats them for readers.
package result

import (
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
)

// A Result is the outcome of one experiment.
type Result struct {
	Experiment string          `json:"experiment"`
	Command    string          `json:"command"` // to repeat the run
	Workload   string          `json:"workload"`
	Quick      bool            `json:"quick"`
	Unfinished string          `json:"unfinished,omitempty"` // why it ended early: cases may be missing
	Processors int             `json:"processors"`           // used by the models
	Machine    measure.Machine `json:"machine"`
	Tools      []string        `json:"tools,omitempty"` // versions of the tools compared with
	Notes      []string        `json:"notes,omitempty"` // how to read the figures
	Models     []Model         `json:"models"`
	Cases      []Case          `json:"cases"`
	Traces     []Trace         `json:"traces,omitempty"`

	Rows     []Row     `json:"-"`
	Verdicts []Verdict `json:"-"`
	Warnings []Warning `json:"-"`
}

// A Model is one way to do the work.
type Model struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Doc  string `json:"doc"` // the command, or the parts of a library used

	// Unbounded models run all tasks at once: they save time at the cost of
	// memory, their own and that of the services they call.
	Unbounded bool `json:"unbounded,omitempty"`

	// Models of the same Sweep differ in one number, At, such as the number of
	// workers. In a case they are points of a curve.
	Sweep string  `json:"sweep,omitempty"`
	At    float64 `json:"at,omitempty"`
}

// IsPeer reports whether m is a peer.
func (m Model) IsPeer() bool { return m.Kind == Peer }

// IsCandidate reports whether m is an alternative, ours or a peer's, and not a
// floor.
func (m Model) IsCandidate() bool { return m.Kind == Ours || m.IsPeer() }

// isBounded reports whether m is a peer with a limit.
func (m Model) isBounded() bool { return m.IsPeer() && !m.Unbounded }

// isSwept reports whether m is a peer that differs from others in one number.
func (m Model) isSwept() bool { return m.IsPeer() && m.Sweep != "" }

// A Kind says who provides a model.
type Kind string

// Model returns a model of this kind.
func (k Kind) Model(name, doc string) Model { return Model{Name: name, Kind: k, Doc: doc} }

// The kinds.
const (
	Ours  Kind = "ours"
	Peer  Kind = "peer"  // a tool, a library, or common hand-written code
	Floor Kind = "floor" // a lower bound, not an alternative
)

// A Case is one setting in which models are compared.
type Case struct {
	Name       string `json:"case"`                 // key=value, as in the name of a benchmark
	Doc        string `json:"doc"`                  // what an operation is
	Reference  string `json:"reference"`            // the model that others are compared with
	Ops        int    `json:"ops"`                  // operations per sample
	Count      int    `json:"count"`                // samples requested
	Processors int    `json:"processors,omitempty"` // if it differs from the result's

	// Main cases are shown in summaries. If there is none, the first case is.
	Main bool `json:"main,omitempty"`

	// The article that has this case, the table of it, and its figures.
	Article Article  `json:"article,omitempty"`
	Table   string   `json:"table,omitempty"`
	Figures []Figure `json:"figures,omitempty"`
}

// A Row holds the samples of one model in one case.
type Row struct {
	Case    string
	Model   string
	Samples []measure.Sample // one per round
}

// Measured returns the values of a unit, of the rounds that measured it.
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

// values returns the values of a unit, one per round, to be paired with another
// row's. It returns none unless every round measured the unit.
func (r *Row) values(u measure.Unit) []float64 {
	if out := r.Measured(u); r != nil && len(out) == len(r.Samples) {
		return out
	}
	return nil
}

// Median estimates the median of a unit.
func (r *Row) Median(u measure.Unit) stats.Estimate { return stats.Median(r.Measured(u)) }

// Ratio estimates the ratio of r's values to base's, paired by round.
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

// Model returns the named model.
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

// Main returns the cases for a summary.
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

// ProcessorsOf returns the number of processors used in a case.
func (r *Result) ProcessorsOf(c Case) int {
	if c.Processors > 0 {
		return c.Processors
	}
	return r.Processors
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

// Conclude judges the claims and computes the warnings. It drops rows without
// samples, which an interrupt leaves behind.
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
	r.Warnings = r.warnings()
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

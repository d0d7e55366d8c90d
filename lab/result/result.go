// Package result holds the result of an experiment and judges it: claims get
// verdicts, and doubtful figures get warnings. It writes results, and summaries of
// them, as JSON Lines and reads them. Package report formats them for readers.
package result

import (
	"cmp"
	"slices"

	"github.com/stint-go/stint/lab/measure"
)

// A Result is the outcome of one experiment.
type Result struct {
	Experiment string          `json:"experiment"`
	Command    string          `json:"command"`          // to repeat the run
	Commit     string          `json:"commit,omitempty"` // of the program that was measured
	Workload   string          `json:"workload"`
	Quick      bool            `json:"quick"`
	Summary    bool            `json:"summary,omitempty"`    // rows have no samples
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
func (m Model) IsCandidate() bool { return m.Kind == Ours || m.Kind == Peer }

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

// A Trace shows how a model changed its limit, in one run of a case.
type Trace struct {
	Case   string  `json:"case"`
	Model  string  `json:"model"`
	Points []Point `json:"points"` // in order of time
}

// A Point is a change of a limit.
type Point struct {
	At         float64 `json:"at"`                   // seconds from the start
	Limit      int     `json:"limit"`                // from then on
	Throughput float64 `json:"throughput,omitempty"` // operations per second before; 0: not measured
}

// Row returns the row of a model in a case, or nil.
func (r *Result) Row(kase, model string) *Row {
	i := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Case == kase && row.Model == model })
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
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
	out := slices.DeleteFunc(slices.Clone(r.Cases), func(c Case) bool { return !c.Main })
	if len(out) == 0 {
		out = r.Cases[:min(1, len(r.Cases))]
	}
	return out
}

// ProcessorsOf returns the number of processors used in a case.
func (r *Result) ProcessorsOf(c Case) int { return cmp.Or(c.Processors, r.Processors) }

// Package report holds what an experiment found, draws the conclusions, and
// writes both as a table, in the Go benchmark format and as JSON Lines.
package report

import (
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
)

// A Result is what one experiment found.
type Result struct {
	Experiment string          `json:"experiment"`
	Command    string          `json:"command"` // what to type for the same run
	Workload   string          `json:"workload"`
	Quick      bool            `json:"quick"`
	Count      int             `json:"count"`      // runs of each model that were asked for
	Processors int             `json:"processors"` // that the models were told to use
	Machine    measure.Machine `json:"machine"`
	Tools      []string        `json:"tools,omitempty"` // versions of what is compared with
	Models     []Model         `json:"models"`

	Rows     []Row     `json:"-"`
	Verdicts []Verdict `json:"-"`
	Warnings []Warning `json:"-"`
}

// A Model is one way to do the work.
type Model struct {
	Name    string `json:"name"`
	Command string `json:"command"`
}

// A Row holds the runs of one model on one case of the workload.
type Row struct {
	Case    string          `json:"case"`    // key=value, as in the name of a benchmark
	Model   string          `json:"model"`   // a name of Result.Models
	Against string          `json:"against"` // the model that it is compared with, perhaps itself
	Bytes   int64           `json:"bytes"`   // read by one run
	Samples []measure.Usage `json:"-"`       // one a round

	Speedup stats.Estimate `json:"speedup"` // against Against, the rounds taken as pairs
}

// walls returns the wall times in seconds, in the order of the rounds.
func (r *Row) walls() []float64 {
	out := make([]float64, len(r.Samples))
	for i, s := range r.Samples {
		out[i] = s.Wall.Seconds()
	}
	return out
}

// summary is a Row in figures.
type summary struct {
	N       int           `json:"n"`
	Median  time.Duration `json:"median_ns"`
	Min     time.Duration `json:"min_ns"`
	Max     time.Duration `json:"max_ns"`
	CPU     time.Duration `json:"cpu_ns"` // median
	Peak    int64         `json:"peak_rss,omitempty"`
	Hidden  bool          `json:"peak_is_bound,omitempty"` // Peak is only known to be at most that
	MBps    float64       `json:"mb_per_s"`
	seconds float64
}

// summarize puts the samples of a row, of which there is at least one, into
// figures. MB are millions of bytes, as in the benchmark format.
func (r *Row) summarize() summary {
	s := summary{N: len(r.Samples), Min: r.Samples[0].Wall}
	var cpu []float64
	for _, u := range r.Samples {
		s.Min, s.Max = min(s.Min, u.Wall), max(s.Max, u.Wall)
		cpu = append(cpu, u.CPU.Seconds())
		if u.PeakRSS >= s.Peak {
			s.Peak, s.Hidden = u.PeakRSS, u.Hidden()
		}
	}
	s.seconds = stats.Median(r.walls()).Median
	s.Median = time.Duration(s.seconds * float64(time.Second))
	s.CPU = time.Duration(stats.Median(cpu).Median * float64(time.Second))
	s.MBps = float64(r.Bytes) / 1e6 / s.seconds
	return s
}

// row returns the row of a model in a case, or nil.
func (r *Result) row(kase, model string) *Row {
	for i := range r.Rows {
		if r.Rows[i].Case == kase && r.Rows[i].Model == model {
			return &r.Rows[i]
		}
	}
	return nil
}

// Conclude computes the speedups, judges the claims and looks for doubts. Rows
// without samples are dropped: those that an interrupt came before.
func (r *Result) Conclude(claims []Claim) {
	var rows []Row
	for _, row := range r.Rows {
		if len(row.Samples) > 0 {
			rows = append(rows, row)
		}
	}
	r.Rows, r.Verdicts, r.Warnings = rows, nil, nil
	for i := range r.Rows {
		row := &r.Rows[i]
		if base := r.row(row.Case, row.Against); base != nil {
			row.Speedup = stats.Median(stats.Ratios(base.walls(), row.walls()))
		}
	}
	for _, c := range claims {
		var speedup stats.Estimate
		if row := r.row(c.Case, c.Model); row != nil {
			speedup = row.Speedup
		}
		r.Verdicts = append(r.Verdicts, c.judge(speedup))
	}
	r.Warnings = r.doubts()
}

package report

import "fmt"

// A Warning is a reason to doubt the figures. It is no error: they are shown
// all the same.
type Warning struct {
	Kind string `json:"kind"` // one word that stays the same
	Text string `json:"text"`
}

// Kinds of warnings.
const (
	Interrupted = "interrupted" // fewer rounds than were asked for
	Quick       = "quick"       // less work than the claims are about
	Samples     = "samples"     // too few for an interval
	Spread      = "spread"      // the runs of a model differ by more than the models do
	Busy        = "busy"        // other programs used the machine
	Processors  = "processors"  // fewer than the claims are about
)

// Above these, another program has taken a visible part of the time.
const (
	busyLoad   = 0.25 // load average, for each processor
	busyOthers = 0.1  // processors used by others during the runs
)

// doubts looks for all of them: first at the run as a whole, then at its rows.
func (r *Result) doubts() []Warning {
	var out []Warning
	add := func(kind, format string, args ...any) {
		out = append(out, Warning{kind, fmt.Sprintf(format, args...)})
	}
	n := r.Count
	for _, row := range r.Rows {
		n = min(n, len(row.Samples))
	}
	m := r.Machine
	if n < r.Count {
		add(Interrupted, "%d of %d rounds were complete", n, r.Count)
	}
	if r.Quick {
		add(Quick, "a tenth of the work; the claims are about all of it")
	}
	if m.Processors < r.Processors {
		add(Processors, "this program may use %d, the models were to use %d", m.Processors, r.Processors)
	}
	if m.Load != nil && *m.Load > busyLoad*float64(m.Processors) {
		add(Busy, "load average %.2f on %d processors before the run", *m.Load, m.Processors)
	}
	if m.Others != nil && *m.Others > busyOthers {
		add(Busy, "other programs used %.2f of %d processors during the runs", *m.Others, m.Processors)
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Model != row.Against {
			row.doubts(r.row(row.Case, row.Against), add)
		}
	}
	return out
}

// doubts adds those about a row and the one that it is compared with, if any.
func (r *Row) doubts(base *Row, add func(kind, format string, args ...any)) {
	if r.Speedup.Interval == nil {
		add(Samples, "%s %s: n = %d is too few for an interval, 6 are enough", r.Case, r.Model, r.Speedup.N)
	}
	if base != nil && blurred(base.summarize(), r.summarize()) {
		add(Spread, "%s %s: single runs vary by more than the difference from %s", r.Case, r.Model, r.Against)
	}
}

// blurred reports whether the slowest and the fastest run of one of two models
// are further apart than the medians of the two.
func blurred(a, b summary) bool {
	return max(a.Max-a.Min, b.Max-b.Min) > (a.Median - b.Median).Abs()
}

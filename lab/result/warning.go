package result

import (
	"fmt"

	"github.com/stint-go/stint/lab/measure"
)

// A Warning is a reason to doubt the figures, which are shown all the same.
type Warning struct {
	Kind string `json:"kind"` // one fixed word
	Text string `json:"text"`
}

// Kinds of warnings.
const (
	Interrupted = "interrupted" // fewer cases or rounds than requested
	Quick       = "quick"       // less work than the claims are about
	Samples     = "samples"     // too few for an interval
	Spread      = "spread"      // interval too wide to distinguish rows
	Busy        = "busy"        // other programs used the machine
	Processors  = "processors"  // fewer processors than the claims are about
)

// busyOthers is how many processors other programs may use until they take a visible part
// of the time.
const busyOthers = 0.1

// equalWithin is how far from 1 the interval of a ratio may reach for two rows
// to count as equal. Claims of equality allow the same 5 %.
const equalWithin = 0.05

// minSamples give an interval; see package stats.
const minSamples = 6

// warnings returns the warnings about the run and about its rows.
func (r *Result) warnings() []Warning {
	var out []Warning
	add := func(kind, format string, args ...any) {
		out = append(out, Warning{kind, fmt.Sprintf(format, args...)})
	}
	m := r.Machine
	if r.Unfinished != "" {
		add(Interrupted, "the experiment ended early and is incomplete: %s", r.Unfinished)
	}
	if r.Quick {
		add(Quick, "less work than the claims are about")
	}
	if m.Processors < r.Processors {
		add(Processors, "this program may use %d, the models used %d", m.Processors, r.Processors)
	}
	if m.Others != nil && *m.Others > busyOthers {
		add(Busy, "other programs used %.2f of %d processors during the runs", *m.Others, m.Processors)
	}
	// One warning of each kind about rows, with the first row.
	about := func(kind, format string, doubtful func(Case, *Row) bool, args ...any) {
		var names []string
		for _, c := range r.Cases {
			for _, row := range r.In(c.Name) {
				if doubtful(c, row) {
					names = append(names, c.Name+" "+row.Model)
				}
			}
		}
		if len(names) > 0 {
			more := ""
			if len(names) > 1 {
				more = fmt.Sprintf(" and %d more of %d rows", len(names)-1, len(r.Rows))
			}
			add(kind, "%s%s: %s", names[0], more, fmt.Sprintf(format, args...))
		}
	}
	about(Interrupted, "not all rounds were complete", func(c Case, row *Row) bool { return len(row.Samples) < c.Count })
	about(Samples, "too few for an interval, %d are enough", func(c Case, row *Row) bool {
		return row.Model != c.Reference && len(row.Samples) < minSamples
	}, minSamples)
	about(Spread, "not distinguishable from the reference, nor within %.0f %% of it", func(c Case, row *Row) bool {
		in := row.Ratio(r.Row(c.Name, c.Reference), measure.Time).Interval
		return in != nil && in.Lo <= 1 && in.Hi >= 1 && (in.Lo < 1-equalWithin || in.Hi > 1+equalWithin)
	}, 100*equalWithin)
	return out
}

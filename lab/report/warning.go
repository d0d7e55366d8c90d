package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
)

// A Warning is a reason to doubt the figures. It is no error: they are shown
// all the same.
type Warning struct {
	Kind string `json:"kind"` // one word that stays the same
	Text string `json:"text"`
}

func (w Warning) text() string { return w.Kind + ": " + w.Text }

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

// fewest samples give an interval: see package stats.
const fewest = 6

// doubts looks for all of them: first at the run as a whole, then at its rows.
func (r *Result) doubts() []Warning {
	var out []Warning
	add := func(kind, format string, args ...any) {
		out = append(out, Warning{kind, fmt.Sprintf(format, args...)})
	}
	m := r.Machine
	if done, asked := r.rounds(); done < asked {
		add(Interrupted, "%d of %d rounds were complete", done, asked)
	}
	if r.Quick {
		add(Quick, "less work than the claims are about")
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
	r.rowDoubts(add)
	return out
}

// rounds returns how many rounds of the case that has the largest part missing
// are complete, and how many were asked for.
func (r *Result) rounds() (done, asked int) {
	for _, c := range r.Cases {
		for _, row := range r.in(c.Name) {
			if asked == 0 || len(row.Samples)*asked < done*c.Count {
				done, asked = len(row.Samples), c.Count
			}
		}
	}
	return done, asked
}

// rowDoubts adds those about rows: one warning of a kind, with the first row.
func (r *Result) rowDoubts(add func(kind, format string, args ...any)) {
	var few, blurred []string
	for _, c := range r.Cases {
		base := r.row(c.Name, c.Reference)
		for _, row := range r.in(c.Name) {
			if row == base {
				continue
			}
			if len(row.Samples) < fewest {
				few = append(few, c.Name+" "+row.Model)
			}
			if base != nil && blur(base.values(measure.Time), row.values(measure.Time)) {
				blurred = append(blurred, c.Name+" "+row.Model)
			}
		}
	}
	if len(few) > 0 {
		add(Samples, "%s: too few for an interval, %d are enough", several(few), fewest)
	}
	if len(blurred) > 0 {
		add(Spread, "%s: single runs vary by more than the difference from the reference", several(blurred))
	}
}

// several names the first of some rows and counts the others.
func several(rows []string) string {
	if len(rows) == 1 {
		return rows[0]
	}
	return fmt.Sprintf("%s and %d more rows", rows[0], len(rows)-1)
}

// blur reports whether the slowest and the fastest run of one of two models are
// further apart than the medians of the two.
func blur(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	widest := max(slices.Max(a)-slices.Min(a), slices.Max(b)-slices.Min(b))
	return widest > math.Abs(stats.Median(a).Median-stats.Median(b).Median)
}

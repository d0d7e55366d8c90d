package result

import (
	"fmt"
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

// Kinds of warnings.
const (
	Interrupted = "interrupted" // fewer rounds than were asked for
	Quick       = "quick"       // less work than the claims are about
	Samples     = "samples"     // too few for an interval
	Spread      = "spread"      // too wide an interval to tell rows apart
	Timer       = "timer"       // too short a sample for the clock
	Busy        = "busy"        // other programs used the machine
	Processors  = "processors"  // fewer than the claims are about
)

// Above these, another program has taken a visible part of the time.
const (
	busyLoad   = 0.25 // load average, for each processor
	busyOthers = 0.1  // processors used by others during the runs
)

// even is how far from 1 the interval of a ratio may reach and still say that two
// rows are equal: the claims that say so allow a twentieth too.
const even = 0.05

// fewestSteps of the clock make a sample. It is off by up to a step, and that
// must be small beside a twentieth.
const fewestSteps = 100

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
	if r.Unfinished != "" {
		add(Interrupted, "the experiment ended early, what it had not come to is missing: %s", r.Unfinished)
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
		for _, row := range r.In(c.Name) {
			if asked == 0 || len(row.Samples)*asked < done*c.Count {
				done, asked = len(row.Samples), c.Count
			}
		}
	}
	return done, asked
}

// rowDoubts adds those about rows: one warning of a kind, with the first row.
func (r *Result) rowDoubts(add func(kind, format string, args ...any)) {
	var few, blurred, hasty []string
	rows := 0
	for _, c := range r.Cases {
		base := r.Row(c.Name, c.Reference)
		for _, row := range r.In(c.Name) {
			rows++
			name := c.Name + " " + row.Model
			if r.hasty(c, row) {
				hasty = append(hasty, name)
			}
			if row == base {
				continue
			}
			if len(row.Samples) < fewest {
				few = append(few, name)
			}
			if blurs(row.Ratio(base, measure.Time).Interval) {
				blurred = append(blurred, name)
			}
		}
	}
	of := func(names []string) string { return several(names, rows) }
	if len(few) > 0 {
		add(Samples, "%s: too few for an interval, %d are enough", of(few), fewest)
	}
	if len(blurred) > 0 {
		add(Spread, "%s: cannot be told from the reference, nor said to be within %.0f %% of it", of(blurred), 100*even)
	}
	if len(hasty) > 0 {
		add(Timer, "%s: samples of less than %d steps of the clock, which are %d ns", of(hasty), fewestSteps, r.Machine.Timer)
	}
}

// several names the first of some rows and counts the others.
func several(names []string, of int) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more of %d rows", names[0], len(names)-1, of)
}

// blurs reports whether the interval of a ratio leaves open both that it is 1
// and that it is not.
func blurs(in *stats.Interval) bool {
	return in != nil && in.Lo <= 1 && in.Hi >= 1 && (in.Lo < 1-even || in.Hi > 1+even)
}

// hasty reports whether a sample of a row is too short for the clock.
func (r *Result) hasty(c Case, row *Row) bool {
	times := row.Measured(measure.Time)
	return len(times) > 0 && slices.Min(times)*float64(c.Ops) < fewestSteps*float64(r.Machine.Timer)
}

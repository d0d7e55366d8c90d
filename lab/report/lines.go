package report

import (
	"encoding/json"
	"io"

	"github.com/stint-go/stint/lab/measure"
)

// The lines. Members of what is embedded stand beside the type.
type (
	resultLine struct {
		Type string `json:"type"`
		*Result
	}
	runLine struct {
		Type  string `json:"type"`
		Case  string `json:"case"`
		Model string `json:"model"`
		Round int    `json:"round"`
		measure.Usage
	}
	rowLine struct {
		Type string `json:"type"`
		*Row
		summary
	}
	verdictLine struct {
		Type string `json:"type"`
		Verdict
	}
	warningLine struct {
		Type string `json:"type"`
		Warning
	}
)

// Lines writes r as JSON Lines. The member "type" says what a line is: one
// "experiment", then "run" for each run of each row, "row", "verdict" and
// "warning".
func Lines(w io.Writer, r *Result) error {
	lines := []any{resultLine{"experiment", r}}
	for i := range r.Rows {
		row := &r.Rows[i]
		for round, u := range row.Samples {
			lines = append(lines, runLine{"run", row.Case, row.Model, round + 1, u})
		}
	}
	for i := range r.Rows {
		lines = append(lines, rowLine{"row", &r.Rows[i], r.Rows[i].summarize()})
	}
	for _, v := range r.Verdicts {
		lines = append(lines, verdictLine{"verdict", v})
	}
	for _, warning := range r.Warnings {
		lines = append(lines, warningLine{"warning", warning})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, line := range lines {
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

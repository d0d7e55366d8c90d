package report

import (
	"bufio"
	"encoding/json"
	"fmt"
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
		Type   string         `json:"type"`
		Case   string         `json:"case"`
		Model  string         `json:"model"`
		Round  int            `json:"round"`
		Values measure.Sample `json:"values"`
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
// "experiment", then "run" for each run of each row, "verdict" and "warning".
func Lines(w io.Writer, r *Result) error {
	lines := []any{resultLine{"experiment", r}}
	for _, row := range r.Rows {
		for round, s := range row.Samples {
			lines = append(lines, runLine{"run", row.Case, row.Model, round + 1, s})
		}
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

// Read reads what Lines wrote. Of verdicts it takes the claims and judges them
// again; warnings too are looked for again.
func Read(rd io.Reader) (*Result, error) {
	r := &Result{}
	var claims []Claim
	in := bufio.NewScanner(rd)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		if err := r.line(in.Bytes(), &claims); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if r.Experiment == "" && in.Err() == nil {
		return nil, fmt.Errorf("no experiment in it")
	}
	r.Conclude(claims)
	return r, in.Err()
}

// line takes in one line of a file.
func (r *Result) line(text []byte, claims *[]Claim) error {
	var kind struct{ Type string }
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	switch kind.Type {
	case "experiment":
		return json.Unmarshal(text, r)
	case "run":
		var l runLine
		err := json.Unmarshal(text, &l)
		r.add(l)
		return err
	case "verdict":
		var c Claim
		err := json.Unmarshal(text, &c)
		*claims = append(*claims, c)
		return err
	case "warning":
		return nil
	}
	return fmt.Errorf("type %q is not known", kind.Type)
}

// add puts a run into its row.
func (r *Result) add(l runLine) {
	row := r.row(l.Case, l.Model)
	if row == nil {
		r.Rows = append(r.Rows, Row{Case: l.Case, Model: l.Model})
		row = &r.Rows[len(r.Rows)-1]
	}
	row.Samples = append(row.Samples, l.Values)
}

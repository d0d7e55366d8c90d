package result

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/stint-go/stint/lab/measure"
)

// The lines of a file. Embedded fields appear beside the type.
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
	endLine struct {
		Type string `json:"type"`
		Runs int    `json:"runs"`
	}
)

// maxLine bounds the length of a line. The first grows with the number of
// cases.
const maxLine = 64 << 20

// Lines writes r as JSON Lines. The member "type" of a line is "experiment" for
// the first, then "run", one for each run of each row, "verdict" and "warning",
// and "end" for the last, without which a file is incomplete.
func Lines(w io.Writer, r *Result) error {
	lines, runs := []any{resultLine{"experiment", r}}, 0
	for _, row := range r.Rows {
		for round, s := range row.Samples {
			lines = append(lines, runLine{"run", row.Case, row.Model, round + 1, s})
			runs++
		}
	}
	for _, v := range r.Verdicts {
		lines = append(lines, verdictLine{"verdict", v})
	}
	for _, warning := range r.Warnings {
		lines = append(lines, warningLine{"warning", warning})
	}
	lines = append(lines, endLine{"end", runs})
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, line := range lines {
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// Read reads the output of Lines and returns an error if it is incomplete.
// Verdicts and warnings are computed again from the claims and samples.
func Read(rd io.Reader) (*Result, error) {
	f := &file{Result: &Result{}}
	in := bufio.NewScanner(rd)
	in.Buffer(nil, maxLine)
	for n := 1; in.Scan(); n++ {
		if err := f.line(in.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch {
	case in.Err() != nil:
		return nil, in.Err()
	case f.Experiment == "":
		return nil, errors.New("no experiment in it")
	case !f.ended:
		return nil, errors.New("it is cut off: the last line is not of type \"end\"")
	}
	f.Conclude(f.claims)
	return f.Result, nil
}

// A file is the part of a file read so far.
type file struct {
	*Result
	claims []Claim
	runs   int
	ended  bool
}

// line reads one line.
func (f *file) line(text []byte) error {
	var kind struct{ Type string }
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	switch {
	case f.ended:
		return errors.New("it follows the end")
	case (kind.Type == "experiment") == (f.Experiment != ""):
		return fmt.Errorf("type %q, want \"experiment\" once and first", kind.Type)
	}
	switch kind.Type {
	case "experiment":
		return json.Unmarshal(text, f.Result)
	case "run":
		var l runLine
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		return f.add(l)
	case "verdict":
		var c Claim
		err := json.Unmarshal(text, &c)
		f.claims = append(f.claims, c)
		return err
	case "warning":
		return nil
	case "end":
		var l endLine
		err := json.Unmarshal(text, &l)
		if err == nil && l.Runs != f.runs {
			err = fmt.Errorf("%d runs were written, %d are present", l.Runs, f.runs)
		}
		f.ended = true
		return err
	}
	return fmt.Errorf("unknown type %q", kind.Type)
}

// add adds a run to its row.
func (f *file) add(l runLine) error {
	named := slices.ContainsFunc(f.Cases, func(c Case) bool { return c.Name == l.Case })
	if !named || f.Model(l.Model).Name == "" {
		return fmt.Errorf("%s %s: no such case or model in the experiment", l.Case, l.Model)
	}
	row := f.Row(l.Case, l.Model)
	if row == nil {
		f.Rows = append(f.Rows, Row{Case: l.Case, Model: l.Model})
		row = &f.Rows[len(f.Rows)-1]
	}
	if want := len(row.Samples) + 1; l.Round != want {
		return fmt.Errorf("%s %s: round %d, want %d", l.Case, l.Model, l.Round, want)
	}
	if t, ok := l.Values[measure.Time]; ok && t <= 0 {
		return fmt.Errorf("%s %s: a time of %v ns", l.Case, l.Model, t)
	}
	row.Samples = append(row.Samples, l.Values)
	f.runs++
	return nil
}

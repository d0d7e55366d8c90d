package result

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/stint-go/stint/lab/measure"
)

// A line of a file. The embedded fields of one type appear beside "type".
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
	rowLine struct {
		Type string `json:"type"`
		Row
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

// Lines writes r as JSON Lines. The member "type" of a line is "experiment" for
// the first, then "run", one for each run of each row, or "row", one for each row of a
// summary, then "verdict" and "warning", and "end" for the last, without which a file is
// incomplete. It counts the runs, or rows.
func Lines(w io.Writer, r *Result) error {
	lines := []any{resultLine{"experiment", r}}
	for _, row := range r.Rows {
		for round, s := range row.Samples {
			lines = append(lines, runLine{"run", row.Case, row.Model, round + 1, s})
		}
		if r.Summary {
			lines = append(lines, rowLine{"row", row})
		}
	}
	runs := len(lines) - 1
	for _, v := range r.Verdicts {
		lines = append(lines, verdictLine{"verdict", v})
	}
	for _, warning := range r.Warnings {
		lines = append(lines, warningLine{"warning", warning})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, line := range append(lines, endLine{"end", runs}) {
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// Read reads the output of Lines and returns an error if it is incomplete.
// Verdicts and warnings are computed again from the claims and samples, except those of a
// summary, which has none.
func Read(rd io.Reader) (*Result, error) {
	f := &file{Result: &Result{}}
	in := bufio.NewScanner(rd)
	in.Buffer(nil, 64<<20) // the first line grows with the number of cases
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
	if !f.Summary {
		f.Conclude(f.claims)
	}
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
	case kind.Type == "verdict" && !f.Summary:
		kind.Type = "claim"
	}
	switch kind.Type {
	case "experiment":
		return json.Unmarshal(text, f.Result)
	case "run":
		var l runLine
		err := json.Unmarshal(text, &l)
		return cmp.Or(err, f.add(Row{Case: l.Case, Model: l.Model, Samples: []measure.Sample{l.Values}}))
	case "row":
		var row Row
		err := json.Unmarshal(text, &row)
		return cmp.Or(err, f.add(row))
	case "claim":
		return appendTo(&f.claims, text)
	case "verdict":
		return appendTo(&f.Verdicts, text)
	case "warning":
		return appendTo(&f.Warnings, text)
	case "end":
		f.ended = true
		var l endLine
		err := json.Unmarshal(text, &l)
		if err == nil && l.Runs != f.runs {
			err = fmt.Errorf("%d runs were written, %d are present", l.Runs, f.runs)
		}
		return err
	}
	return fmt.Errorf("unknown type %q", kind.Type)
}

// appendTo appends the value of a line to a list.
func appendTo[T any](list *[]T, text []byte) error {
	var v T
	err := json.Unmarshal(text, &v)
	*list = append(*list, v)
	return err
}

// add adds a run, or a row of a summary.
func (f *file) add(row Row) error {
	f.runs++
	if !slices.ContainsFunc(f.Cases, func(c Case) bool { return c.Name == row.Case }) || f.Model(row.Model).Name == "" {
		return fmt.Errorf("%s %s: no such case or model in the experiment", row.Case, row.Model)
	}
	if known := f.Row(row.Case, row.Model); known != nil {
		known.Samples = append(known.Samples, row.Samples...)
	} else {
		f.Rows = append(f.Rows, row)
	}
	return nil
}

// extension is the extension of result files.
const extension = ".jsonl"

// Save writes EXPERIMENT.jsonl into dir, replacing an earlier one. It creates
// dir if necessary. All reports are made from this file.
func Save(dir string, r *Result) error {
	var b bytes.Buffer
	if err := Lines(&b, r); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	name := filepath.Join(dir, r.Experiment+extension)
	if err := os.WriteFile(name+".new", b.Bytes(), 0o666); err != nil {
		return err
	}
	return os.Rename(name+".new", name) // so that no reader sees half a file
}

// Whole reports whether a directory has a result of the experiment that did not
// end early.
func Whole(dir, experiment string) bool {
	r, err := readFile(filepath.Join(dir, experiment+extension))
	return err == nil && r.Unfinished == ""
}

// Load reads the results that Save wrote into a directory, or one of its files:
// first the experiments named in order, then others by name.
func Load(path string, order []string) ([]*Result, error) {
	names := []string{path}
	entries, err := os.ReadDir(path) // not Glob, which would read some names as patterns
	if err == nil {
		names = nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == extension {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no results in it", path)
	}
	rank := map[string]int{}
	for i, name := range order {
		rank[name] = i - len(order)
	}
	var results []*Result
	for _, name := range names {
		r, err := readFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if slices.ContainsFunc(results, func(other *Result) bool { return other.Experiment == r.Experiment }) {
			return nil, fmt.Errorf("%s: %s is in another file too", name, r.Experiment)
		}
		results = append(results, r)
	}
	slices.SortStableFunc(results, func(a, b *Result) int { return rank[a.Experiment] - rank[b.Experiment] })
	return results, nil
}

func readFile(name string) (*Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f)
}

package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// A line of a file has one of these.
type line struct {
	Result  *Result  `json:"result,omitempty"`
	Lines   int      `json:"lines,omitempty"` // of the first line: how many follow
	Row     *Row     `json:"row,omitempty"`
	Verdict *Verdict `json:"verdict,omitempty"`
	Warning *Warning `json:"warning,omitempty"`
}

// Lines writes r as JSON Lines: first what is not a row, then a line a row, with all its
// samples or, in a summary, estimates, then a line a verdict and a warning.
func Lines(w io.Writer, r *Result) error {
	var lines []line
	for i := range r.Rows {
		lines = append(lines, line{Row: &r.Rows[i]})
	}
	for i := range r.Verdicts {
		lines = append(lines, line{Verdict: &r.Verdicts[i]})
	}
	for i := range r.Warnings {
		lines = append(lines, line{Warning: &r.Warnings[i]})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	err := e.Encode(line{Result: r, Lines: len(lines)})
	for _, l := range lines {
		err = cmp.Or(err, e.Encode(l))
	}
	return err
}

// Read reads the output of Lines and returns an error if it is incomplete. Verdicts and
// warnings are computed again from the claims and samples, except those of a summary.
func Read(rd io.Reader) (*Result, error) {
	d := json.NewDecoder(rd)
	var first line
	if err := d.Decode(&first); err != nil || first.Result == nil {
		return nil, cmp.Or(err, errors.New("the first line is of no result"))
	}
	r := first.Result
	for n := range first.Lines {
		var l line
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("line %d of %d: %w", n+2, first.Lines+1, err)
		}
		switch {
		case l.Row != nil:
			r.Rows = append(r.Rows, *l.Row)
		case l.Verdict != nil:
			r.Verdicts = append(r.Verdicts, *l.Verdict)
		case l.Warning != nil:
			r.Warnings = append(r.Warnings, *l.Warning)
		}
	}
	if d.More() {
		return nil, fmt.Errorf("more than %d lines", first.Lines+1)
	}
	if !r.Summary {
		var claims []Claim
		for _, v := range r.Verdicts {
			claims = append(claims, v.Claim)
		}
		r.Conclude(claims)
	}
	return r, nil
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

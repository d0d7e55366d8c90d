// Package report is what readers see of results: a table, a page of HTML, Markdown,
// CSV, the Go benchmark format, two runs side by side. It also knows the files of a
// directory with results.
package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/result"
)

// Files writes EXPERIMENT.jsonl into a directory, which it makes if need be. An
// earlier one is replaced. All else that is written of a result is made from it.
func Files(dir string, r *result.Result) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := result.Lines(&b, r); err != nil {
		return err
	}
	name := filepath.Join(dir, r.Experiment+lines)
	if err := os.WriteFile(name+".new", b.Bytes(), 0o666); err != nil {
		return err
	}
	return os.Rename(name+".new", name) // never half of it
}

// Whole reports whether a directory has a result of an experiment that did not end
// early.
func Whole(dir, experiment string) bool {
	r, err := readFile(filepath.Join(dir, experiment+lines))
	return err == nil && r.Unfinished == ""
}

// lines is the end of the names of the files that hold results.
const lines = ".jsonl"

// A format is a way to write results into a file.
type format struct {
	file  string
	write func(io.Writer, []*result.Result) error
}

// formats are those of a report in a directory.
func formats(dir string) ([]format, error) {
	table, err := features.All()
	if err != nil {
		return nil, err
	}
	root, err := above(dir)
	if err != nil {
		return nil, err
	}
	return []format{
		{"report.html", func(w io.Writer, results []*result.Result) error { return HTML(w, results, table) }},
		{"report.md", func(w io.Writer, results []*result.Result) error { return Markdown(w, results, table, root) }},
		{"report.csv", CSV},
		{"report.txt", Benchmark},
	}, nil
}

// above is the way from a directory to this process's, which is the repository
// with "go run ./lab": empty, or with a slash at its end.
func above(dir string) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	switch way, err := filepath.Rel(dir, here); {
	case err != nil: // on another volume
		return filepath.ToSlash(here) + "/", nil
	case way == ".":
		return "", nil
	default:
		return filepath.ToSlash(way) + "/", nil
	}
}

// Write writes results in each of the formats into a directory, which it makes
// if need be, and returns the names of the files. Earlier ones are replaced.
func Write(dir string, results []*result.Result) ([]string, error) {
	all, err := formats(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	var written []string
	for _, f := range all {
		var b bytes.Buffer
		if err := f.write(&b, results); err != nil {
			return written, err
		}
		name := filepath.Join(dir, f.file)
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			return written, err
		}
		written = append(written, name)
	}
	return written, nil
}

// Results reads what Files wrote into a directory, or one of its files: the
// experiments named in order first, then others by name.
func Results(path string, order []string) ([]*result.Result, error) {
	names, err := resultFiles(path)
	if err != nil {
		return nil, err
	}
	var results []*result.Result
	for _, name := range names {
		r, err := readFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if slices.ContainsFunc(results, func(other *result.Result) bool { return other.Experiment == r.Experiment }) {
			return nil, fmt.Errorf("%s: %s is in another file too", name, r.Experiment)
		}
		results = append(results, r)
	}
	rank := func(r *result.Result) int {
		if i := slices.Index(order, r.Experiment); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(results, func(a, b *result.Result) int { return cmp.Compare(rank(a), rank(b)) })
	return results, nil
}

// resultFiles returns the files with results in a directory, by name, or the
// one file that path names.
func resultFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // not Glob, to which some names are patterns
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == lines {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no results in it", path)
	}
	return names, nil
}

func readFile(name string) (*result.Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return result.Read(f)
}

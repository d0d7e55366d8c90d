package result

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Save writes EXPERIMENT.jsonl into dir, replacing an earlier one. It creates
// dir if necessary. All reports are made from this file.
func Save(dir string, r *Result) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := Lines(&b, r); err != nil {
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

// extension is the extension of result files.
const extension = ".jsonl"

// Load reads the results that Save wrote into a directory, or one of its files:
// first the experiments named in order, then others by name.
func Load(path string, order []string) ([]*Result, error) {
	names, err := resultFiles(path)
	if err != nil {
		return nil, err
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
	rank := func(r *Result) int {
		if i := slices.Index(order, r.Experiment); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(results, func(a, b *Result) int { return cmp.Compare(rank(a), rank(b)) })
	return results, nil
}

// resultFiles returns the result files of a directory by name, or path itself
// if it is a file.
func resultFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // not Glob, which would read some names as patterns
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == extension {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no results in it", path)
	}
	return names, nil
}

func readFile(name string) (*Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f)
}

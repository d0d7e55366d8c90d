package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Files writes EXPERIMENT.txt, in the benchmark format, and EXPERIMENT.jsonl
// into a directory, which it makes if need be. Earlier ones are replaced.
func Files(dir string, r *Result) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for ext, write := range map[string]func(io.Writer, *Result) error{".txt": Benchmark, ".jsonl": Lines} {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, r.Experiment+ext), b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Results reads what Files wrote into a directory: the experiments named in
// order first, then others by name.
func Results(dir string, order []string) ([]*Result, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no results in it", dir)
	}
	var results []*Result
	for _, name := range names { // sorted by Glob
		r, err := readFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
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

func readFile(name string) (*Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f)
}

package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
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

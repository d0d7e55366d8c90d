// Package report formats results for readers: as a terminal table, an HTML
// page, Markdown, the Go benchmark format, and a comparison of two runs.
// Package result holds the results and their files.
package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/result"
)

// Write writes results in each format into dir, creating it if necessary and
// replacing earlier files, and returns the names of the files.
func Write(dir string, results []*result.Result) ([]string, error) {
	table, err := features.All()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	var written []string
	for _, f := range []struct {
		file  string
		write func(io.Writer) error
	}{
		{"report.html", func(w io.Writer) error { return writePage(w, results, table) }},
		{"report.md", func(w io.Writer) error { return writeText(w, "report", results, table, "") }},
		{"report.txt", func(w io.Writer) error { return writeBenchmark(w, results) }},
	} {
		var b bytes.Buffer
		name := filepath.Join(dir, f.file)
		if err := f.write(&b); err != nil {
			return written, err
		}
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			return written, err
		}
		written = append(written, name)
	}
	return written, nil
}

// Package report formats results for readers: as a terminal table, an HTML
// page, Markdown, CSV, the Go benchmark format, and a comparison of two runs.
// Package result holds the results and their files.
package report

import (
	"bytes"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"

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
		{"report.csv", func(w io.Writer) error { return writeCSV(w, results) }},
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

// writeCSV writes results for spreadsheets: a line per row and unit. Ends of a
// missing interval are empty.
func writeCSV(w io.Writer, results []*result.Result) error {
	lines := [][]string{{"experiment", "case", "model", "unit", "n", "median", "lo", "hi"}}
	plain := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, r := range results {
		for _, row := range r.Rows {
			for _, col := range measured([]*result.Row{&row}) {
				e := row.Median(col.unit)
				line := []string{r.Experiment, row.Case, row.Model, string(col.unit), strconv.Itoa(e.N), plain(e.Median), "", ""}
				if e.Interval != nil {
					line[6], line[7] = plain(e.Interval.Lo), plain(e.Interval.Hi)
				}
				lines = append(lines, line)
			}
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

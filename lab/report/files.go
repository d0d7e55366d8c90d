// Package report formats results for readers: as a terminal table, an HTML
// page, Markdown, CSV, the Go benchmark format, and a comparison of two runs.
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

// A format writes results into a file.
type format struct {
	file  string
	write func(io.Writer, []*result.Result) error
}

// formats returns the formats of a report in dir.
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
		{"report.html", func(w io.Writer, results []*result.Result) error { return writePage(w, results, table) }},
		{"report.md", func(w io.Writer, results []*result.Result) error { return writeMarkdown(w, results, table, root) }},
		{"report.csv", writeCSV},
		{"report.txt", writeBenchmark},
	}, nil
}

// above returns the relative path from dir to the working directory, which is
// the repository with "go run ./lab": empty, or ending in a slash.
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

// Write writes results in each format into dir, creating it if necessary and
// replacing earlier files, and returns the names of the files.
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

package report

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// csvHead holds the column names.
var csvHead = []string{
	"experiment", "case", "model", "kind", "unit", "n", "median", "lo", "hi", "confidence",
	"reference", "ratio", "ratio_lo", "ratio_hi", "processors", "ops", "quick",
}

// writeCSV writes results for spreadsheets: a line per row and unit with the
// median, its interval, and the ratio to the case's reference. Unknown values
// are empty.
func writeCSV(w io.Writer, results []*result.Result) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHead); err != nil {
		return err
	}
	for _, r := range results {
		for _, c := range r.Cases {
			for _, row := range r.In(c.Name) {
				if err := out.WriteAll(records(r, c, row)); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// records returns the lines of a row, one per unit.
func records(r *result.Result, c result.Case, row *result.Row) [][]string {
	var out [][]string
	base := r.Row(c.Name, c.Reference)
	for _, col := range columns {
		e := row.Median(col.unit)
		if e.N == 0 {
			continue
		}
		line := []string{r.Experiment, c.Name, row.Model, string(r.Kind(row.Model)), string(col.unit), strconv.Itoa(e.N)}
		line = append(line, cells(e)...)
		confidence := ""
		if e.Interval != nil {
			confidence = plain(e.Interval.Confidence)
		}
		line = append(line, confidence, c.Reference)
		ratio := row.Ratio(base, col.unit)
		if row == base {
			ratio.Interval = nil // it is always 1
		}
		line = append(line, cells(ratio)...)
		out = append(out, append(line, strconv.Itoa(r.ProcessorsOf(c)), strconv.Itoa(c.Ops), strconv.FormatBool(r.Quick)))
	}
	return out
}

// cells returns an estimate and the ends of its interval.
func cells(e stats.Estimate) []string {
	switch {
	case e.N == 0:
		return []string{"", "", ""}
	case e.Interval == nil:
		return []string{plain(e.Median), "", ""}
	}
	return []string{plain(e.Median), plain(e.Interval.Lo), plain(e.Interval.Hi)}
}

// plain formats a number for programs, or "" if there is none.
func plain(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) { // division by zero
		return ""
	}
	return strconv.FormatFloat(v, 'g', 10, 64)
}

package report

import (
	"fmt"
	"strings"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// A grid is a table of text.
type grid struct {
	head []string
	rows [][]string
}

// Head returns the column names, for the template.
func (g grid) Head() []string { return g.head }

// Rows returns the rows, for the template.
func (g grid) Rows() [][]string { return g.rows }

// newGrid returns the table of a case, with the measured columns and a star at
// the best row.
func newGrid(r *result.Result, c result.Case) grid {
	g := grid{head: []string{"model", "n"}}
	rows := r.In(c.Name)
	var units []column
	for _, col := range columns {
		for _, row := range rows {
			if len(row.Measured(col.unit)) > 0 {
				units = append(units, col)
				break
			}
		}
	}
	for _, col := range units {
		g.head = append(g.head, col.name)
		if col.unit == measure.Time {
			g.head = append(g.head, "interval", "x "+c.Reference, "interval")
		}
	}
	for _, row := range rows {
		g.rows = append(g.rows, words(r, c, row, units))
	}
	return g
}

// words returns one row of a grid.
func words(r *result.Result, c result.Case, row *result.Row, units []column) []string {
	star := ""
	if best := r.Best(c.Name, measure.Time, result.Model.IsCandidate); best == row {
		star = "* "
	}
	out := []string{star + row.Model, fmt.Sprint(len(row.Samples))}
	for _, col := range units {
		e := row.Median(col.unit)
		out = append(out, median(e, col.format))
		if col.unit != measure.Time {
			continue
		}
		ratio := row.Ratio(r.Row(c.Name, c.Reference), col.unit)
		if row.Model == c.Reference {
			ratio.Interval = nil // it is always 1
		}
		out = append(out, bounds(e, col.format), median(ratio, times), bounds(ratio, times))
	}
	return out
}

func median(e stats.Estimate, format func(float64) string) string {
	if e.N == 0 {
		return ""
	}
	return format(e.Median)
}

// bounds returns the interval of an estimate, or "".
func bounds(e stats.Estimate, format func(float64) string) string {
	if e.Interval == nil {
		return ""
	}
	return format(e.Interval.Lo) + ".." + format(e.Interval.Hi)
}

// about describes a case in one line.
func about(r *result.Result, c result.Case) string {
	words := []string{c.Doc}
	if c.Ops > 1 {
		words = append(words, fmt.Sprintf("%d ops a sample", c.Ops))
	}
	if p := r.ProcessorsOf(c); p != r.Processors {
		words = append(words, fmt.Sprintf("GOMAXPROCS %d", p))
	}
	return strings.Join(words, "; ")
}

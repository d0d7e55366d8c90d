// Package report writes what results say: BENCHMARKS.md, a page that needs no network, and the README's table and picture.
package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/claims"
	"github.com/stint-go/stint/lab/features"
)

// A Report reads the results of a machine.
type Report struct {
	dir   fs.FS
	Name  string // of the directory: "lab/results/2-core"
	page  bool   // with curves instead of tables of them
	cache map[string]claims.Results
}

// New returns a report of the results in a directory with this name.
func New(dir fs.FS, name string) *Report {
	return &Report{dir: dir, Name: name, cache: map[string]claims.Results{}}
}

// read returns the results of a directory of benchmarks: none if it was not measured.
func (r *Report) read(in, filter string) (claims.Results, error) {
	id := in + "|" + filter
	if got, ok := r.cache[id]; ok {
		return got, nil
	}
	got, err := claims.Here(r.dir, in, filter)
	if errors.Is(err, fs.ErrNotExist) {
		got, err = claims.Results{CPUs: 1}, nil
	}
	r.cache[id] = got
	return got, err
}

// Markdown returns the sections of BENCHMARKS.md.
func (r *Report) Markdown() (string, error) {
	var contents, body strings.Builder
	for _, a := range claims.Articles {
		counts, err := r.section(&body, a)
		if err != nil {
			return "", fmt.Errorf("%s: %w", a.Title, err)
		}
		fmt.Fprintf(&contents, "- [%s](#%s): %s\n", a.Title, Slug(a.Title), counts)
	}
	contents.WriteString("- [Where others are faster](#where-others-are-faster)\n- [Features](#features)\n")
	won, err1 := r.others()
	table, err2 := featureTable(nil)
	machine, err3 := r.machine()
	return machine + "\n\n" + contents.String() + "\n" + body.String() + won +
		"## Features\n" + table, cmp.Or(err1, err2, err3)
}

// machine describes where and how the results were made.
func (r *Report) machine() (string, error) {
	names, err := fs.Glob(r.dir, "*.txt")
	if err != nil || len(names) == 0 {
		return fmt.Sprintf("Results in `%s`: nothing was measured.", r.Name), err
	}
	got, err := claims.Read("", r.dir, names...)
	text := fmt.Sprintf("Results in `%s`: %s, CPUs: %d", r.Name, got.Machine, got.CPUs)
	if others := got.All("others-%"); len(others) > 0 {
		slices.Sort(others)
		text += fmt.Sprintf("; other programs used %.0f %% of the CPU time at the median, and more than %.0f %% in one of twenty measurements",
			others[len(others)/2], others[len(others)*19/20])
	}
	return text + ".", err
}

// section writes an article, and returns how many of its conclusions hold.
func (r *Report) section(w *strings.Builder, a claims.Article) (string, error) {
	fmt.Fprintf(w, "## %s\n\n", a.Title)
	grid := [][]string{{"", "the article's conclusion", "the article", "here", "bar"}}
	if a.Author == "" {
		grid[0][1] = "conclusion"
	} else {
		fmt.Fprintf(w, "%s\n", a.Source())
	}
	count := map[claims.Verdict]int{}
	var beside [][]string
	for _, c := range a.Claims {
		row, verdict, _, err := r.row(a, c)
		if err != nil {
			return "", err
		}
		if c.Ours {
			row[1] = "Beside the article. " + row[1]
			beside = append(beside, row)
			continue
		}
		count[verdict]++
		grid = append(grid, row)
	}
	grid = append(grid, beside...)
	for i := range grid {
		if a.Author == "" {
			grid[i] = slices.Delete(grid[i], 2, 3)
		}
	}
	writeGrid(w, grid)
	for _, t := range a.Tables {
		if t.Main || r.page {
			if err := r.table(w, a, t); err != nil {
				return "", err
			}
		}
	}
	for i, c := range a.Curves {
		if c.Main || r.page {
			if err := r.curve(w, a, c, fmt.Sprintf("%s-%d", Slug(a.Title), i)); err != nil {
				return "", err
			}
		}
	}
	if a.In == "survey" { // which has a table of features
		table, err := featureTable(features.Table.Survey)
		if err != nil {
			return "", err
		}
		w.WriteString(table)
	}
	if a.Write != "" {
		fmt.Fprintf(w, "\n**With stint:** %s\n", a.Write)
	}
	w.WriteString("\n")
	return fmt.Sprintf("%d hold, %d do not, %d undecided", count[claims.Holds], count[claims.Not], count[claims.Undecided]), nil
}

// row returns the cells of a conclusion, and what the gate has against it.
func (r *Report) row(a claims.Article, c claims.Claim) (cells []string, v claims.Verdict, fault string, err error) {
	in, filter := cmp.Or(c.In, a.In), cmp.Or(c.Filter, a.Filter)
	here, err1 := r.read(in, filter)
	theirs, err2 := a.Theirs(c.There)
	if err := cmp.Or(err1, err2); err != nil {
		return nil, "", "", err
	}
	answer, says, bar := c.Judge(here), c.Says, c.Bar.Text
	verdict := "**" + string(answer.Verdict) + "**"
	switch {
	case c.Test != "":
		bar = "a test"
	case answer.Verdict == claims.Undecided:
		verdict = string(claims.Undecided)
		if here.CPUs < c.Needs() {
			verdict += fmt.Sprintf(": it takes %d CPUs", c.Needs())
		} else if answer.Measured < answer.Of {
			fault = "not all of it was measured"
		}
	case answer.Verdict == claims.Not:
		fault = "it does not hold, and has no cause that an experiment shows"
		if c.Cause == nil {
			break
		}
		shown, err := r.read(cmp.Or(c.Cause.Shown.In, in), cmp.Or(c.Cause.Shown.Filter, filter))
		if err != nil {
			return nil, "", "", err
		}
		if why := c.Cause.Shown.Judge(shown); why.Verdict == claims.Holds {
			fault = ""
			says += fmt.Sprintf(" *%s* %s.", c.Cause.Says, upper(a.Told(c.Cause.Shown, why, shown)))
		}
	}
	there := ""
	if c.Test == "" {
		there = a.Said(c, answer, theirs)
	}
	return []string{verdict, strings.TrimSpace(says + " " + c.Note), there, a.Told(c, answer, here), bar}, answer.Verdict, fault, nil
}

// upper returns a text that begins with a capital letter, unless that is a name in Go.
func upper(s string) string {
	if first, _, _ := strings.Cut(s, " "); s == "" || strings.ContainsAny(first, "`._=") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Faults returns the conclusions that do not hold and have no cause that holds and, of results that should be complete,
// those that were not measured.
func (r *Report) Faults(complete bool) (out []string) {
	for _, a := range claims.Articles {
		for _, c := range a.Claims {
			_, verdict, fault, err := r.row(a, c)
			if err != nil {
				fault = err.Error()
			}
			if err != nil || fault != "" && (complete || verdict == claims.Not) {
				out = append(out, fmt.Sprintf("%s: %s: %s", a.Title, c.Says, fault))
			}
		}
	}
	return out
}

// usual are the columns of a table that names none.
var usual = []claims.Column{{Title: "1 CPU"}, {Title: "all CPUs", All: true}, {Title: "allocated", All: true, Unit: "B/op"},
	{Title: "peak memory", All: true, Unit: "peak-B/op"}}

// table writes a table, without the columns that are empty and the rows that are.
func (r *Report) table(w *strings.Builder, a claims.Article, t claims.Table) error {
	here, err1 := r.read(cmp.Or(t.In, a.In), cmp.Or(t.Filter, a.Filter))
	theirs, err2 := a.Theirs("")
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	rows := t.Rows
	if len(rows) == 0 {
		rows = here.Names(t.Prefix + "*")
	}
	said := func(name string) bool { return len(theirs.Names(name)) > 0 }
	if !r.page && slices.ContainsFunc(rows, said) { // the author's rows and two of ours
		left := 2
		rows = slices.DeleteFunc(slices.Clone(rows), func(name string) bool {
			if !said(name) && ours(name) {
				left--
			}
			return !said(name) && (!ours(name) || left < 0)
		})
	}
	grid := [][]string{{t.Title}}
	for _, name := range rows {
		grid = append(grid, []string{a.Word(name)})
	}
	columns := t.Columns
	if columns == nil {
		columns = usual
	}
	for _, col := range columns {
		from := here
		if col.Theirs || col.There != "" {
			var err error
			if from, err = a.Theirs(col.There); err != nil {
				return err
			}
		}
		cells, some := []string{col.Title}, false
		for _, name := range rows {
			unit := cmp.Or(col.Unit, claims.Time)
			cell := claims.Median(from.Median(name, col.All, unit), unit)
			cells, some = append(cells, cell), some || cell != ""
		}
		for i := range cells {
			if some {
				grid[i] = append(grid[i], cells[i])
			}
		}
	}
	writeGrid(w, slices.DeleteFunc(grid, func(row []string) bool { return strings.Join(row[1:], "") == "" }))
	return nil
}

// writeGrid writes a table, its first row as the head, if there is another and more than names.
func writeGrid(w *strings.Builder, grid [][]string) {
	if len(grid) < 2 || len(grid[0]) < 2 {
		return // nothing was measured
	}
	w.WriteString("\n")
	for i, row := range grid {
		for _, cell := range row {
			fmt.Fprintf(w, "| %s ", strings.ReplaceAll(cell, "|", `\|`))
		}
		w.WriteString("|\n")
		if i == 0 {
			w.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
}

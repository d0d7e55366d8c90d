// Package report writes what results say: BENCHMARKS.md, a page that needs no network, and the README's table and picture.
package report

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/claims"
	"github.com/stint-go/stint/lab/features"
)

// A Report is of the results of a machine.
type Report struct {
	name     string // of their directory: "lab/results/2-core"
	results  claims.Results
	features features.Table
	page     bool // with all tables, and curves
}

// New reads the results in a directory.
func New(dir string) (*Report, error) {
	_, err := os.Stat(dir)
	results, err2 := claims.Read(os.DirFS(dir), "*.txt")
	table, err3 := features.All()
	return &Report{name: filepath.ToSlash(filepath.Clean(dir)), results: results, features: table}, cmp.Or(err, err2, err3)
}

// read returns the results of a directory of benchmarks, the article's if in is empty. There are none if it was not
// measured.
func (r *Report) read(a claims.Article, in, filter string) claims.Results {
	dir := "github.com/stint-go/stint/lab/" + cmp.Or(in, a.In)
	return r.results.Matching(fmt.Sprintf("pkg:%q %s", dir, cmp.Or(filter, a.Filter)))
}

func (r *Report) machine() string {
	return fmt.Sprintf("Results in `%s`: %s.", r.name, r.results.Machine())
}

// File returns a file by its name: a page, the README's picture, or a document in which the laboratory's parts are replaced.
func (r *Report) File(name string) (string, error) {
	switch {
	case strings.HasSuffix(name, ".html"):
		return r.html()
	case strings.HasSuffix(name, ".svg"):
		return r.picture(strings.HasSuffix(name, "-dark.svg"))
	}
	return r.replaced(name)
}

// Markdown returns the sections of BENCHMARKS.md.
func (r *Report) Markdown() string {
	var contents, body strings.Builder
	for _, a := range claims.Articles {
		fmt.Fprintf(&contents, "- [%s](#%s): %s\n", a.Title, slug(a.Title), r.section(&body, a))
	}
	contents.WriteString("- [Where others are faster](#where-others-are-faster), and [features](#features)\n")
	return fmt.Sprintf("%s\n\n%s\n%s## Where others are faster\n%s\n## Features\n%s",
		r.machine(), contents.String(), body.String(), r.others(), featureTable(r.features))
}

// section writes an article, and returns how many of its conclusions hold.
func (r *Report) section(w *strings.Builder, a claims.Article) string {
	fmt.Fprintf(w, "## %s\n", a.Title)
	if a.Author != "" {
		fmt.Fprintf(w, "\n%s.\n", a.Author)
	}
	g := grid{{"", "conclusion", "the article", "here", "bar"}}
	count, ours := map[claims.Verdict]int{}, ""
	for _, c := range a.Claims {
		cells, verdict := r.row(a, c)
		if c.Ours {
			cells[1] = "Beside the article. " + cells[1]
			ours = "; others are ours"
		} else {
			count[verdict]++
		}
		g = append(g, cells)
	}
	w.WriteString(g.String())
	for _, t := range a.Tables {
		if t.Main || r.page {
			w.WriteString(r.table(a, t).String())
		}
	}
	for _, c := range a.Curves {
		if c.Main || r.page {
			w.WriteString(r.curve(a, c))
		}
	}
	if a.In == "survey" { // which has a table of features
		w.WriteString(featureTable(r.features.Survey()))
	}
	if a.Write != "" {
		fmt.Fprintf(w, "\n**With stint:** %s\n", a.Write)
	}
	w.WriteString("\n")
	return fmt.Sprintf("%d hold, %d not, %d undecided%s", count[claims.Holds], count[claims.Not], count[claims.Undecided], ours)
}

func (r *Report) row(a claims.Article, c claims.Claim) ([]string, claims.Verdict) {
	here := r.read(a, c.In, c.Filter)
	answer, says, bar := c.Judge(here), c.Says, c.Bar.Text
	verdict := "**" + string(answer.Verdict) + "**"
	switch {
	case c.Test != "":
		bar = "a test"
	case answer.Verdict == claims.Undecided:
		verdict = string(claims.Undecided)
		if here.CPUs < c.CPUs {
			verdict += fmt.Sprintf(": it takes %d CPUs", c.CPUs)
		}
	case answer.Verdict == claims.Not && c.Cause != nil:
		shown := c.Cause.Shown
		there := r.read(a, cmp.Or(shown.In, c.In), cmp.Or(shown.Filter, c.Filter))
		if why := shown.Judge(there); why.Verdict == claims.Holds {
			says += fmt.Sprintf(" *%s* Here %s.", c.Cause.Says, a.Told(shown, why, there))
		}
	}
	said := a.Said(c, answer, a.Theirs(c.There))
	return []string{verdict, strings.TrimSpace(says + " " + c.Note), said, a.Told(c, answer, here), bar}, answer.Verdict
}

func (r *Report) table(a claims.Article, t claims.Table) grid {
	here, theirs := r.read(a, t.In, t.Filter), a.Theirs("")
	rows := t.Rows
	if rows == nil {
		rows = here.Names(t.Prefix + "*")
	}
	said := func(name string) bool { return len(theirs.Names(name)) > 0 }
	if !r.page && slices.ContainsFunc(rows, said) { // the author's rows and one of ours
		left := 1
		rows = slices.DeleteFunc(slices.Clone(rows), func(name string) bool {
			ours := isOurs.MatchString(name)
			if ours && !said(name) {
				left--
			}
			return !said(name) && (!ours || left < 0)
		})
	}
	g := grid{{t.Title}}
	for _, name := range rows {
		g = append(g, []string{a.Word(name)})
	}
	for _, col := range t.Columns {
		from, unit := here, cmp.Or(col.Unit, claims.Time)
		if col.There != "" {
			from = a.Theirs(col.There)
		}
		g[0] = append(g[0], col.Title)
		for i, name := range rows {
			g[i+1] = append(g[i+1], claims.Median(from.Median(name, col.All, unit), unit))
		}
	}
	return g
}

// A grid is a table. Its first row is the head, and its first column has names.
type grid [][]string

// String returns the table without the rows and columns that are empty, or "" if nothing is left.
func (g grid) String() string {
	rows := slices.DeleteFunc(slices.Clone(g), func(row []string) bool { return strings.Join(row[1:], "") == "" })
	if len(rows) < 2 {
		return ""
	}
	out := "\n"
	for n, row := range rows {
		cells := 0
		for i, cell := range row {
			if i == 0 || slices.ContainsFunc(rows[1:], func(row []string) bool { return row[i] != "" }) {
				out += "| " + strings.ReplaceAll(cell, "|", `\|`) + " "
				cells++
			}
		}
		out += "|\n"
		if n == 0 {
			out += strings.Repeat("| --- ", cells) + "|\n"
		}
	}
	return out
}

package report

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A Grid is a table of text with a name.
type Grid struct {
	Name, Note string
	Head       []string
	Rows       [][]string
}

// newGrid returns the table of a case, with the measured columns, the article's
// figures, and a star at the best row. Intervals are of times and their ratios.
func newGrid(r *result.Result, c result.Case) Grid {
	g := Grid{Name: c.Name, Note: about(r, c), Head: []string{"model", "n"}}
	rows := r.In(c.Name)
	units := measured(rows)
	for _, col := range units {
		g.Head = append(g.Head, col.name)
		if col.unit == measure.Time {
			g.Head = append(g.Head, "x "+c.Reference)
		}
	}
	if len(c.Figures) > 0 {
		g.Head = append(g.Head, "the article")
	}
	best := r.Best(c.Name, measure.Time, result.Model.IsCandidate)
	for _, row := range rows {
		cells := []string{row.Model, fmt.Sprint(row.N())}
		if row == best {
			cells[0] = "* " + row.Model
		}
		for _, col := range units {
			switch e := row.Median(col.unit); {
			case e.N == 0:
				cells = append(cells, "")
			case col.unit != measure.Time:
				cells = append(cells, col.format(e.Median))
			default:
				cells = append(cells, short(e, col.format), "1")
				if ratio := row.Ratio(r.Row(c.Name, c.Reference), col.unit); row.Model != c.Reference {
					cells[len(cells)-1] = strings.TrimPrefix(short(ratio, times), unmeasured)
				}
			}
		}
		if len(c.Figures) > 0 {
			cells = append(cells, authors([]result.Case{c}, row.Model))
		}
		g.Rows = append(g.Rows, cells)
	}
	return g
}

// authors returns the article's figures for a model in some cases.
func authors(cases []result.Case, model string) string {
	var texts []string
	for _, c := range cases {
		for _, f := range c.Figures {
			if f.Model == model {
				texts = append(texts, f.Text)
			}
		}
	}
	return strings.Join(unique(texts), "; ")
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
	if c.Table != "" {
		words = append(words, "the article's table: "+c.Table)
	}
	return strings.Join(words, "; ")
}

// pipes returns a grid as a Markdown table.
func (g Grid) pipes() string {
	rule := each(g.Head, func(string) string { return "---" })
	var b strings.Builder
	for _, row := range append([][]string{g.Head, rule}, g.Rows...) {
		for _, cell := range row {
			if best, ok := strings.CutPrefix(cell, "* "); ok {
				cell = strong(best)
			}
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// columns returns a grid as a Markdown table in columns, to be read as text too.
func (g Grid) columns() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 0, ' ', 0)
	_, _ = strings.NewReplacer(" | ", " \t| ", "|\n", "\t|\n").WriteString(t, g.pipes())
	_ = t.Flush()
	return b.String()
}

func strong(text string) string { return "**" + text + "**" }

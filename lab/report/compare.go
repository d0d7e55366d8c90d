package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// A Comparison compares the rows that two runs share.
type Comparison struct {
	A, B    []*result.Result
	Unit    string   // as tables name it
	Models  []string // none: all
	Changed bool     // only rows that differ
}

// changeText returns the change of a row: medians with the widths of their
// intervals, the percentage, or ~ if the runs do not differ, the p value if there
// was a test, and the numbers of samples.
func changeText(c stats.Change, format func(float64) string) []string {
	p := strings.TrimSuffix(fmt.Sprintf("%.3f", c.P), "NaN")
	return []string{format(c.Old.Median), c.Old.Spread(), format(c.New.Median), c.New.Spread(), c.Delta(), p, fmt.Sprintf("%d+%d", c.Old.N, c.New.N)}
}

// Table writes the comparison: a Markdown table per experiment with the
// medians, the widths of their intervals, the changes and their p values, after
// other differences and before the rows of one run only.
func (c *Comparison) Table(w io.Writer) error {
	i := slices.IndexFunc(columns, func(col column) bool { return col.name == c.Unit || string(col.unit) == c.Unit })
	var models []string
	for _, r := range slices.Concat(c.A, c.B) {
		models = append(models, each(r.Models, func(m result.Model) string { return m.Name })...)
	}
	for _, name := range c.Models {
		if !slices.Contains(models, name) {
			return fmt.Errorf("no model %q: there are %s", name, strings.Join(unique(models), ", "))
		}
	}
	if i < 0 {
		return fmt.Errorf("no unit %q: there are %s", c.Unit, strings.Join(each(columns, func(col column) string { return col.name }), ", "))
	}
	var b bytes.Buffer
	found := false
	for _, p := range c.pairs() {
		found = c.write(&b, p, columns[i]) || found
	}
	if !found {
		return fmt.Errorf("neither run has %s", columns[i].name)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// A pair is an experiment in two runs, with an empty result if a run does not
// have it.
type pair struct{ a, b *result.Result }

// pairs returns the experiments of A, then those only in B.
func (c *Comparison) pairs() []pair {
	names := unique(each(slices.Concat(c.A, c.B), func(r *result.Result) string { return r.Experiment }))
	return each(names, func(name string) pair { return pair{named(c.A, name), named(c.B, name)} })
}

// write writes the table of one experiment, and reports whether a run has the
// unit.
func (c *Comparison) write(b *bytes.Buffer, p pair, col column) bool {
	g := Grid{Head: []string{"case", "model", "A", "±", "B", "±", "delta", "p", "n"}}
	rows, differ, ratios := 0, 0, 0.0 // ratios: the sum of their logarithms
	var only [2][]result.Row
	var doubts []string
	for _, same := range groupBy(slices.Concat(p.a.Rows, p.b.Rows), func(row result.Row) string { return row.Case + " " + row.Model }) {
		row := same.items[0]
		d := p.b.Row(row.Case, row.Model).Change(p.a.Row(row.Case, row.Model), col.unit)
		switch {
		case len(c.Models) > 0 && !slices.Contains(c.Models, row.Model) || d.Old.N+d.New.N == 0:
		case d.New.N == 0:
			only[0] = append(only[0], row)
		case d.Old.N == 0:
			only[1] = append(only[1], row)
		default:
			rows++
			ratios += math.Log(d.New.Median / d.Old.Median)
			doubts = append(doubts, each(d.Warnings, error.Error)...)
			if d.Differ() {
				differ++
			}
			if d.Differ() || !c.Changed {
				g.Rows = append(g.Rows, append([]string{row.Case, row.Model}, changeText(d, col.format)...))
			}
		}
	}
	name := cmp.Or(p.a.Experiment, p.b.Experiment)
	list(b, name+": other differences", p.differences())
	if rows > 0 {
		fmt.Fprintf(b, "%s: %s\n\n%s\n", name, col.name, g.columns())
		fmt.Fprintf(b, "%d of %d rows differ; by chance one in %.0f would, and more if the machine's speed changed.", differ, rows, 1/stats.Alpha)
		if mean := math.Exp(ratios / float64(rows)); !math.IsNaN(mean) && !math.IsInf(mean, 0) && mean > 0 {
			fmt.Fprintf(b, " The geometric mean of B / A is %s.", times(mean))
		}
		fmt.Fprint(b, "\n\n")
		list(b, "rows that cannot be compared", unique(doubts))
	}
	for i, rows := range only {
		list(b, name+": only in "+string("AB"[i]), each(groupBy(rows, func(row result.Row) string { return row.Case }), func(g grouped[result.Row]) string {
			return g.key + ": " + strings.Join(each(g.items, func(row result.Row) string { return row.Model }), ", ")
		}))
	}
	return rows+len(only[0])+len(only[1]) > 0
}

// differences lists the differences between two runs of an experiment besides
// the figures.
func (p pair) differences() []string {
	var out []string
	add := func(what string, a, b any) {
		if a != b && p.a.Experiment == p.b.Experiment {
			out = append(out, fmt.Sprintf("%s: A: %v; B: %v", what, a, b))
		}
	}
	add("machine", p.a.Machine.Name(), p.b.Machine.Name())
	add("command", p.a.Command, p.b.Command)
	add("commit", p.a.Commit, p.b.Commit)
	add("workload", p.a.Workload, p.b.Workload)
	add("GOMAXPROCS", p.a.Processors, p.b.Processors)
	return out
}

// list writes a list with a heading, unless it is empty.
func list(b *bytes.Buffer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(b, title)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", line)
	}
	fmt.Fprintln(b)
}

package report

import (
	"bytes"
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

// A delta is a row of two runs. a or b is empty if a run does not have it.
type delta struct {
	kase, model string
	a, b        []float64
}

// both reports whether both runs have the row.
func (d delta) both() bool { return len(d.a) > 0 && len(d.b) > 0 }

// Table writes the comparison: a table per experiment with the medians, the
// widths of their intervals, the changes and their p values. Other differences
// between the runs come first, rows of one run only come last.
func (c *Comparison) Table(w io.Writer) error {
	col, err := columnOf(c.Unit)
	if err != nil {
		return err
	}
	if err := c.checkModels(); err != nil {
		return err
	}
	var b bytes.Buffer
	list(&b, "warnings", c.warnings())
	found := false
	for _, p := range c.pairs() {
		deltas := c.deltas(p, col)
		found = found || len(deltas) > 0
		c.write(&b, p.name, col, deltas)
	}
	if !found {
		return fmt.Errorf("neither run has %s", col.name)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// columnOf returns the column of a unit, named as in tables or in the benchmark
// format.
func columnOf(name string) (column, error) {
	for _, col := range columns {
		if col.name == name || string(col.unit) == name {
			return col, nil
		}
	}
	return column{}, fmt.Errorf("no unit %q: there are %s", name, strings.Join(each(columns, func(col column) string { return col.name }), ", "))
}

// checkModels returns an error if neither run has one of the requested models.
func (c *Comparison) checkModels() error {
	var names []string
	for _, r := range slices.Concat(c.A, c.B) {
		names = append(names, each(r.Models, func(m result.Model) string { return m.Name })...)
	}
	for _, name := range c.Models {
		if !slices.Contains(names, name) {
			slices.Sort(names)
			return fmt.Errorf("no model %q: there are %s", name, strings.Join(slices.Compact(names), ", "))
		}
	}
	return nil
}

// A pair is an experiment in two runs, with an empty result if a run does not
// have it.
type pair struct {
	name string
	a, b *result.Result
}

// pairs returns the experiments of A, then those only in B.
func (c *Comparison) pairs() []pair {
	named := func(name string) func(*result.Result) bool {
		return func(r *result.Result) bool { return r.Experiment == name }
	}
	var out []pair
	for _, a := range c.A {
		p := pair{a.Experiment, a, &result.Result{}}
		if i := slices.IndexFunc(c.B, named(p.name)); i >= 0 {
			p.b = c.B[i]
		}
		out = append(out, p)
	}
	for _, b := range c.B {
		if !slices.ContainsFunc(c.A, named(b.Experiment)) {
			out = append(out, pair{b.Experiment, &result.Result{}, b})
		}
	}
	return out
}

// deltas returns the rows of an experiment by case: those of the first run,
// then those only in the second.
func (c *Comparison) deltas(p pair, col column) []delta {
	var out []delta
	for _, kase := range p.cases() {
		for _, model := range p.models(kase) {
			d := delta{kase, model, p.a.Row(kase, model).Measured(col.unit), p.b.Row(kase, model).Measured(col.unit)}
			wanted := len(c.Models) == 0 || slices.Contains(c.Models, model)
			if wanted && len(d.a)+len(d.b) > 0 {
				out = append(out, d)
			}
		}
	}
	return out
}

func (p pair) cases() []string {
	return unique(each(slices.Concat(p.a.Cases, p.b.Cases), func(c result.Case) string { return c.Name }))
}

func (p pair) models(kase string) []string {
	return unique(each(slices.Concat(p.a.In(kase), p.b.In(kase)), func(row *result.Row) string { return row.Model }))
}


// write writes the table of one experiment.
func (c *Comparison) write(b *bytes.Buffer, name string, col column, deltas []delta) {
	g := Grid{Head: []string{"case", "model", "A", "±", "B", "±", "delta", "p", "n"}}
	rows, differ := 0, 0
	var logs [2]float64 // sums of logarithms, for the geometric mean
	var doubts []string
	for _, d := range deltas {
		if !d.both() {
			continue
		}
		change := stats.Compare(d.a, d.b)
		rows++
		doubts = append(doubts, each(change.Warnings, error.Error)...)
		logs[0] += math.Log(change.Old.Median)
		logs[1] += math.Log(change.New.Median)
		if change.Differ() {
			differ++
		} else if c.Changed {
			continue
		}
		g.Rows = append(g.Rows, d.words(change, col))
	}
	if rows > 0 {
		fmt.Fprintf(b, "%s: %s\n", name, col.name)
		g.Rows = append(g.Rows, mean(rows, logs, col))
		g.align(b)
		fmt.Fprintf(b, "%d of %d rows differ; by chance one in %.0f would, and more if the machine's speed changed\n", differ, rows, 1/stats.Alpha)
		for _, same := range groupBy(doubts, func(doubt string) string { return doubt }) {
			fmt.Fprintf(b, "%d rows cannot be compared: %s\n", len(same.items), same.key)
		}
		fmt.Fprintln(b)
	}
	inA := slices.ContainsFunc(deltas, func(d delta) bool { return len(d.a) > 0 })
	inB := slices.ContainsFunc(deltas, func(d delta) bool { return len(d.b) > 0 })
	if rows == 0 && inA && inB {
		fmt.Fprintf(b, "%s: no row is in both runs\n\n", name)
	}
	onlyIn(b, name, "only in A", deltas, func(d delta) bool { return len(d.b) == 0 })
	onlyIn(b, name, "only in B", deltas, func(d delta) bool { return len(d.a) == 0 })
}

// words returns one row of the table.
func (d delta) words(change stats.Change, col column) []string {
	n := fmt.Sprint(change.Old.N)
	if change.New.N != change.Old.N {
		n += fmt.Sprintf("+%d", change.New.N)
	}
	return []string{
		d.kase, d.model,
		col.format(change.Old.Median), change.Old.Spread(), col.format(change.New.Median), change.New.Spread(),
		change.Delta(), fmt.Sprintf("%.3f", change.P), n,
	}
}

// mean returns the row of geometric means, which need positive medians.
func mean(rows int, logs [2]float64, col column) []string {
	out := []string{"geometric mean", fmt.Sprintf("%d rows", rows), "", "", "", "", "?", "", ""}
	a, b := math.Exp(logs[0]/float64(rows)), math.Exp(logs[1]/float64(rows))
	if a > 0 && b > 0 && !math.IsNaN(a+b) {
		out[2], out[4], out[6] = col.format(a), col.format(b), fmt.Sprintf("%+.2f%%", 100*(b/a-1))
	}
	return out
}

// onlyIn lists the rows of one run only, one line per case.
func onlyIn(b *bytes.Buffer, name, title string, deltas []delta, may func(delta) bool) {
	deltas = slices.DeleteFunc(slices.Clone(deltas), func(d delta) bool { return !may(d) })
	list(b, name+": "+title, each(groupBy(deltas, func(d delta) string { return d.kase }), func(c grouped[delta]) string {
		return c.key + ": " + strings.Join(each(c.items, func(d delta) string { return d.model }), ", ")
	}))
}

// warnings lists what differs between the runs besides the figures.
func (c *Comparison) warnings() []string {
	type warning struct{ experiment, text string }
	var all []warning
	for _, p := range c.pairs() {
		if len(p.a.Cases) > 0 && len(p.b.Cases) > 0 {
			all = append(all, each(p.differences(), func(text string) warning { return warning{p.name, text} })...)
		}
	}
	return each(groupBy(all, func(w warning) string { return w.text }), func(b grouped[warning]) string {
		return strings.Join(each(b.items, func(w warning) string { return w.experiment }), ", ") + ": " + b.key
	})
}

// differences lists the differences between two runs of an experiment.
func (p pair) differences() []string {
	var out []string
	add := func(what string, a, b any) {
		if a != b {
			out = append(out, fmt.Sprintf("%s: A: %v; B: %v", what, a, b))
		}
	}
	add("machine", p.a.Machine.Name(), p.b.Machine.Name())
	add("command", p.a.Command, p.b.Command)
	add("workload", p.a.Workload, p.b.Workload)
	add("quick", p.a.Quick, p.b.Quick)
	add("GOMAXPROCS", p.a.Processors, p.b.Processors)
	var sizes, processors []string
	for _, a := range p.a.Cases {
		i := slices.IndexFunc(p.b.Cases, func(b result.Case) bool { return b.Name == a.Name })
		if i < 0 {
			continue
		}
		b := p.b.Cases[i]
		if opsDiffer(a.Ops, b.Ops) {
			sizes = append(sizes, fmt.Sprintf("%s: ops a sample: A: %d; B: %d", a.Name, a.Ops, b.Ops))
		}
		if a.Processors != b.Processors {
			processors = append(processors, fmt.Sprintf("%s: GOMAXPROCS: A: %d; B: %d", a.Name, p.a.ProcessorsOf(a), p.b.ProcessorsOf(b)))
		}
	}
	for _, s := range [][]string{sizes, processors} {
		switch {
		case len(s) == 1:
			out = append(out, s[0])
		case len(s) > 1:
			out = append(out, fmt.Sprintf("%s; and %d more cases", s[0], len(s)-1))
		}
	}
	return out
}

// opsDiffer reports whether two numbers of operations differ by more than
// noise: most are chosen by time.
func opsDiffer(a, b int) bool { return max(a, b) > 2*min(a, b) }

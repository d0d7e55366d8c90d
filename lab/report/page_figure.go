package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// A drawer draws the figures of a result.
type drawer struct {
	*result.Result
	drawn int // drawings that have a name by now
	found families
	seen  seen
}

// frame gives a drawing its name in the page.
func (d *drawer) frame(title, desc string) chart.Frame {
	d.drawn++
	return chart.Frame{ID: fmt.Sprintf("chart-%s-%d", d.Experiment, d.drawn), Title: d.Experiment + ": " + title, Desc: desc}
}

// figures are one for each case that is by itself and one for each family, in
// the order of the cases.
func (d *drawer) figures() []figure {
	var out []figure
	families := d.families()
	for _, c := range d.Cases {
		f := families.of(c)
		switch {
		case len(d.In(c.Name)) == 0: // an interrupt came before
		case f == nil:
			out = append(out, d.single(c))
		case f.cases[0].Name == c.Name:
			out = append(out, d.curve(f))
		}
	}
	return out
}

// single is the figure of one case.
func (d *drawer) single(c result.Case) figure {
	return figure{Name: c.Name, Note: about(d.Result, c), SVG: d.drawings(c), Tables: []sheet{d.sheet(c)}}
}

// pictured are the units of which there are bars. Where no time was measured, all
// units are drawn that were.
var pictured = []measure.Unit{measure.Time, measure.HalfWithin, measure.MostWithin, measure.IdleCPU, measure.PeakMemory, measure.PeakRSS}

// drawings are those of one case: a curve if models differ in a number, and bars
// of what was measured.
func (d *drawer) drawings(c result.Case) []template.HTML {
	var out []template.HTML
	svg := func(s string) { out = append(out, template.HTML(s)) }
	rows := d.In(c.Name)
	units := pictured
	if len(having(rows, measure.Time)) == 0 {
		units = each(columns, func(col column) measure.Unit { return col.unit })
	}
	swept := d.sweeps(c)
	if len(swept.Lines) > 0 {
		svg(swept.SVG())
	}
	for _, u := range units {
		known := having(rows, u)
		switch {
		case len(known) == 0:
		case u != measure.Time && (len(known) > 1 || len(out) == 0):
			svg(d.bars(c, u, known).SVG())
		case u == measure.Time && (len(swept.Lines) == 0 || d.besides(rows) > fewLevels):
			svg(d.bars(c, u, rows).SVG())
		}
	}
	return out
}

// having are the rows in which a unit was measured.
func having(rows []*result.Row, u measure.Unit) []*result.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(row *result.Row) bool { return len(row.Measured(u)) == 0 })
}

// besides is how many rows are of models that are in no sweep.
func (d *drawer) besides(rows []*result.Row) int {
	n := 0
	for _, row := range rows {
		if d.Model(row.Model).Sweep == "" {
			n++
		}
	}
	return n
}

// sheet is the table of a case. No two of its columns have the same name: who
// hears them does not see what they stand beside.
func (d *drawer) sheet(c result.Case) sheet {
	g := newGrid(d.Result, c)
	for i, name := range g.head {
		if of, ok := strings.CutPrefix(name, "x "); ok {
			g.head[i] = "× " + of
		}
		if name == "interval" {
			g.head[i] = "interval of " + g.head[i-1]
		}
	}
	for _, row := range g.rows {
		if best, ok := strings.CutPrefix(row[0], "* "); ok {
			row[0] = "★ " + best
		}
	}
	return sheet{Name: c.Name, Note: about(d.Result, c), grid: g}
}

// bars are the medians of one unit, the smallest first, and at last what was not
// measured.
func (d *drawer) bars(c result.Case, u measure.Unit, rows []*result.Row) chart.Bars {
	col := describe(u)
	out := chart.Bars{Axis: chart.Axis{Label: col.name, Format: tick(col.format)}}
	reference := d.Row(c.Name, c.Reference)
	if reference != nil && len(reference.Measured(u)) > 0 {
		out.Beside = "× " + c.Reference
	}
	best := d.Best(c.Name, u, result.Model.IsChoice)
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *result.Row) int {
		x, y := a.Median(u), b.Median(u)
		if x.N == 0 || y.N == 0 {
			return cmp.Compare(y.N, x.N)
		}
		return cmp.Compare(x.Median, y.Median)
	})
	for _, row := range rows {
		e := row.Median(u)
		bar := chart.Bar{Name: row.Model, Look: looks[d.Kind(row.Model)], Value: value(e), Text: median(e, col.format), Best: row == best}
		if ratio := row.Ratio(reference, u); out.Beside != "" && finite(ratio.Median) { // not of nothing
			bar.Note = median(ratio, times)
		}
		d.seen.bar(bar.Look)
		out.Bars = append(out.Bars, bar)
	}
	least := "nothing was measured of ours and of peers"
	if best != nil {
		least = fmt.Sprintf("the least is %s of %s", median(best.Median(u), col.format), best.Model)
	}
	out.Frame = d.frame(c.Name+", "+col.name, fmt.Sprintf("Bars of %d models; %s.", len(rows), least))
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// looks are those of kinds, as the legend has them.
var looks = map[result.Kind]chart.Look{result.Ours: chart.Strong, result.Peer: chart.Plain, result.Floor: chart.Dashed}

// fewLevels is how many models without a number are drawn beside a curve. If
// there are more, bars show them all.
const fewLevels = 5

// sweeps draws the times of the models of a case that differ in a number.
func (d *drawer) sweeps(c result.Case) chart.Curves {
	lines := map[string]*chart.Line{}
	var order, numbers []string
	var rest []*result.Row
	ours := 0
	for _, row := range d.In(c.Name) {
		m := d.Model(row.Model)
		if m.Sweep == "" {
			rest = append(rest, row)
			continue
		}
		name := stem(m)
		if lines[name] == nil {
			order = append(order, name)
			if !slices.Contains(numbers, m.Sweep) {
				numbers = append(numbers, m.Sweep)
			}
			lines[name] = &chart.Line{Name: name, Look: d.lineLook(m, &ours)}
		}
		e := row.Median(measure.Time)
		if e.N == 0 {
			continue
		}
		lines[name].Points = append(lines[name].Points, chart.Point{X: m.At, Y: value(e), Words: fmt.Sprintf("%s: %s", row.Model, short(e, duration))})
	}
	var out chart.Curves
	for _, name := range order {
		if len(lines[name].Points) >= fewestPoints {
			out.Lines = append(out.Lines, *lines[name])
		}
	}
	if len(out.Lines) == 0 {
		return out
	}
	out.X = chart.Axis{Label: "N: " + strings.Join(numbers, ", "), Format: count}
	out.Y = chart.Axis{Label: "time/op", Format: tick(duration)}
	out.Levels = d.levels(c, having(rest, measure.Time), &ours)
	d.seen.curves(out)
	out.Frame = d.frame(c.Name+", time/op by "+out.X.Label, fmt.Sprintf("Curves of %s; dashes across are models without that number.", strings.Join(order, " and ")))
	return out
}

// stem is the name that models of a sweep have in common, with an N where they
// have their number.
func stem(m result.Model) string {
	if s, ok := strings.CutSuffix(m.Name, fmt.Sprint(m.At)); ok && s != "" {
		return s + "N"
	}
	return m.Sweep
}

// levels are the models that are compared with a sweep: all of them if they are
// few, and if not the fastest of ours and of the peers, the reference and floors.
func (d *drawer) levels(c result.Case, rest []*result.Row, ours *int) []chart.Level {
	fastest := map[result.Kind]*result.Row{}
	for _, row := range rest {
		k := d.Kind(row.Model)
		if fastest[k] == nil || row.Median(measure.Time).Median < fastest[k].Median(measure.Time).Median {
			fastest[k] = row
		}
	}
	var out []chart.Level
	for _, row := range rest {
		m := d.Model(row.Model)
		if len(rest) > fewLevels && m.Kind != result.Floor && row != fastest[m.Kind] && row.Model != c.Reference {
			continue
		}
		out = append(out, chart.Level{Name: row.Model, Look: d.lineLook(m, ours), Y: value(row.Median(measure.Time))})
	}
	return out
}

// lineLook is the look of the next line: ours differ from each other, as there
// are looks for them.
func (d *drawer) lineLook(m result.Model, ours *int) chart.Look {
	if m.Kind != result.Ours {
		return looks[m.Kind]
	}
	look := []chart.Look{chart.Strong, chart.Second, chart.Third}[min(*ours, 2)]
	*ours++
	return look
}

// value is an estimate to be drawn.
func value(e stats.Estimate) chart.Value {
	switch {
	case e.N == 0:
		return chart.At(math.NaN())
	case e.Interval == nil:
		return chart.At(e.Median)
	}
	return chart.Value{Mid: e.Median, Lo: e.Interval.Lo, Hi: e.Interval.Hi}
}

// tick writes round values: without the zeros at the end of their digits.
func tick(format func(float64) string) func(float64) string {
	return func(v float64) string {
		if v == 0 {
			return "0"
		}
		number, unit, _ := strings.Cut(format(v), " ")
		if strings.Contains(number, ".") {
			number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
		}
		return strings.TrimSpace(number + " " + unit)
	}
}

// count writes a number in as few letters as there are.
func count(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size && math.Mod(v, u.size/10) == 0 {
			return fmt.Sprint(v/u.size) + u.name
		}
	}
	return fmt.Sprint(v)
}
